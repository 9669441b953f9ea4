"""Whether the file of an embedded index is lost: what SQLite said of it, and what the file system says.

The file itself is never opened here: closing it again would take away the locks that this process's SQLite holds on it.
"""

import os
import sqlite3
from pathlib import Path
from typing import Final

from hindwise.errors import IndexDamaged, IndexUnavailable

_LOST: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def is_damage(error: BaseException | None) -> bool:
    """Whether SQLite says, in this error or in one that it came upon meanwhile, that the file is no whole database."""
    while error is not None:
        if isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", 0) & 0xFF in _LOST:
            return True
        error = error.__context__
    return False


class FileState:
    """What is known of one file, which is there. Any thread may tell or ask."""

    def __init__(self, path: Path) -> None:
        """Raises OSError."""
        self._path = path
        self._is = path.stat()
        self._longest = self._is.st_size
        self._told = ""

    def told(self, error: sqlite3.Error) -> IndexUnavailable:
        """Take down what SQLite said, and return what to raise."""
        if is_damage(error):
            self._told = f"{self._path.name} is damaged ({error})"
        if why := self.look():
            return self.lost(why)
        return IndexUnavailable(f"the index file does not answer ({error}); if this stays, look at the disk of the data directory")

    def look(self) -> str:
        """What is wrong with the file for good; "" for nothing that is known. Blocks as long as the file system takes for one look."""
        try:
            found = self._path.stat()
        except FileNotFoundError:
            # SQLite goes on with a file that was deleted under it; what it then writes is lost.
            return f"{self._path.name} is gone"
        except OSError:
            return self._told  # a disk that does not answer may do so later
        if not os.path.samestat(found, self._is):
            return f"{self._path.name} is another file than the one that was opened"
        if found.st_size < self._longest:  # no database of ours shrinks
            return f"{self._path.name} was cut to {found.st_size} bytes"
        self._longest = found.st_size
        return self._told

    @staticmethod
    def lost(why: str) -> IndexDamaged:
        """What to raise for a lost file."""
        return IndexDamaged(
            f"the index file {why}: one that serves is made again from the ledger, "
            "any other goes with `hindwise reindex --cancel` or `hindwise reindex --drop-old`"
        )
