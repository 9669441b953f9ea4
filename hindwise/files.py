"""Files that hold memories are their owner's alone, whatever the umask says; and the room that is left for them."""

import contextlib
import os
import shutil
from pathlib import Path


def make_private(path: Path) -> None:
    """Make an empty file that nobody else reads or writes; one that exists stays as it is. SQLite gives its log the same mode.

    Where it cannot be made nothing is said: whoever opens it says why.
    """
    with contextlib.suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


NO_ROOM_BYTES = 8 * 1024 * 1024
"""With less a write may fail at any moment: a log of SQLite takes half of it."""


def is_full(path: Path) -> bool:
    """Whether the disk under `path` has no room left for what is kept there. False where that cannot be told."""
    try:
        return shutil.disk_usage(path).free < NO_ROOM_BYTES
    except OSError:
        return False
