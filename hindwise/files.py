"""Files that hold memories are their owner's alone, whatever the umask says."""

import contextlib
import os
from pathlib import Path


def make_private(path: Path) -> None:
    """Make an empty file that nobody else reads or writes; one that exists stays as it is. SQLite gives its log the same mode.

    Where it cannot be made nothing is said: whoever opens it says why.
    """
    with contextlib.suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
