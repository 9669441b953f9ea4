"""Files that hold memories are their owner's alone, whatever the umask says; and the room that is left for them."""

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

from hindwise.errors import InvalidInput


def make_private(path: Path) -> None:
    """Make an empty file that nobody else reads or writes; one that exists stays as it is. SQLite gives its log the same mode.

    Where it cannot be made nothing is said: whoever opens it says why.
    """
    with contextlib.suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def make_directory(path: Path) -> Path:
    """Make the data directory, for its owner alone; return it. It holds keys and private memories, also where it was made by hand.

    Raises InvalidInput with the command to run where it cannot be written.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        _shut(path, 0o700)
        for file in path.glob("*.db*"):  # ledger, index and their logs; maybe copied here from a backup
            _shut(file, 0o600)
        descriptor, probe = tempfile.mkstemp(prefix=".writable-", dir=path)
        os.close(descriptor)
        Path(probe).unlink()
    except (FileExistsError, NotADirectoryError) as error:
        raise InvalidInput(f"the data directory {path} is a file, or lies in one: choose another with --data or HINDWISE_DATA") from error
    except OSError as error:
        where = " (on the host: the directory that is mounted there)" if _in_container() else ""
        raise InvalidInput(
            f"the data directory {path} cannot be written ({error.strerror}): choose another with --data or HINDWISE_DATA, "
            f"or run: chown -R {os.getuid()}:{os.getgid()} {path}{where}"
        ) from error
    return path


def _shut(path: Path, mode: int) -> None:
    # Somebody else's that lets us write, as a volume of a cluster may be, stays as open as its owner has it: `doctor` says so.
    with contextlib.suppress(PermissionError, FileNotFoundError):
        if path.stat().st_mode & 0o077:
            path.chmod(mode)


def _in_container() -> bool:
    return "HINDWISE_IMAGE" in os.environ  # set in deploy/Dockerfile


NO_ROOM_BYTES = 8 * 1024 * 1024
"""With less a write may fail at any moment: a log of SQLite takes half of it."""


def is_full(path: Path) -> bool:
    """Whether the disk under `path` has no room left for what is kept there. False where that cannot be told."""
    try:
        return shutil.disk_usage(path).free < NO_ROOM_BYTES
    except OSError:
        return False
