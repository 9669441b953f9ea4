"""One `hindwise up` for each data directory: a lock that the system frees when its holder dies, however it dies."""

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from hindwise.errors import NotAllowed


def _holder(text: str) -> str:
    try:
        told = json.loads(text)
        return f"pid {told['pid']}, since {told['since']}"
    except (ValueError, KeyError, TypeError):
        return "its pid is not known"


@contextlib.contextmanager
def hold(data: Path) -> Iterator[None]:
    """Hold the directory's lock. Raises NotAllowed, which says who holds it."""
    # Opened for appending: a refused second comer must not empty what the holder wrote.
    with (data / "up.lock").open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            file.seek(0)
            raise NotAllowed(
                f"another `hindwise up` serves {data} ({_holder(file.read())}): use it (`hindwise status`), stop it, "
                "or choose another directory with --data"
            ) from error
        file.truncate(0)
        file.write(json.dumps({"pid": os.getpid(), "since": datetime.now(UTC).isoformat(timespec="seconds")}))
        file.flush()
        yield
