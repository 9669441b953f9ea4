"""The children's logs: appended by the children themselves, bounded by the supervisor, so that nothing stands between them."""

import os
import shutil
from pathlib import Path

MAX_BYTES = 10 * 1024 * 1024
"""Of a log, and again of the one older copy beside it."""


def open_for_child(path: Path) -> int:
    """Return a descriptor for a child's output; the caller closes its copy."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    # O_APPEND: after a truncation the child goes on at the new end, not at its old offset.
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def rotate(path: Path, max_bytes: int = MAX_BYTES) -> bool:
    """Move a grown log's content to `….1` and empty it, keeping the child's descriptor valid; whether it did.

    Lines written between copy and truncation are lost: a fair price for children that log without a middleman.
    """
    if not path.exists() or path.stat().st_size <= max_bytes:
        return False
    older = path.with_name(path.name + ".1")
    with path.open("rb") as source, older.open("wb") as target:
        older.chmod(0o600)
        source.seek(-max_bytes, os.SEEK_END)
        shutil.copyfileobj(source, target)
    os.truncate(path, 0)
    return True


def tail(path: Path, lines: int = 20, max_bytes: int = 16_000) -> str:
    """Return the last lines of a log; empty when there is none."""
    if not path.exists():
        return ""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - max_bytes))
        text = file.read().decode("utf-8", "replace")
    return "\n".join(text.splitlines()[-lines:])
