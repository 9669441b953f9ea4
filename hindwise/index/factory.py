"""Which index stands behind a generation, by its kind: the one place that knows all implementations."""

import asyncio
import fcntl
import sqlite3
from pathlib import Path

import structlog

from hindwise.errors import IndexUnavailable, InvalidInput
from hindwise.index.base import Index
from hindwise.index.embedded import open_embedded
from hindwise.settings import Settings

_log = structlog.get_logger(__name__)


async def open_index(settings: Settings, kind: str, generation: int, dim: int, secret: bytes) -> Index:
    """Open the index of one generation; any number of generations may be open side by side.

    kind: "embedded"; generation: its number in the ledger; dim: length of its vectors, 0 = words alone; secret: keys the names
    that stand for spaces outside this machine. Raises IndexUnavailable, InvalidInput for an unknown kind.
    """
    if kind == "embedded":
        path = settings.data / f"index-{generation}.db"
        return await asyncio.to_thread(open_embedded_file, path, dim=dim, cache_mb=settings.index_cache_mb)
    raise InvalidInput(f"an index of kind {kind!r} is not known here: use embedded")


def open_embedded_file(path: Path, *, dim: int, cache_mb: int) -> Index:
    """Open the index file; one that is no readable database is removed first, since all of it is made again from the ledger.

    Blocks for some milliseconds. Raises what `open_embedded` raises for any other reason.
    """
    try:
        return open_embedded(path, dim=dim, cache_mb=cache_mb)
    except IndexUnavailable as error:
        if not _is_damaged(error):
            raise
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of several processes starting at once one removes it, the others find the new file
        try:
            return open_embedded(path, dim=dim, cache_mb=cache_mb)
        except IndexUnavailable as error:
            if not _is_damaged(error):
                raise
            _log.warning("index_damaged", file=path.name, next="made again from the ledger")
            for file in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
                file.unlink(missing_ok=True)
            return open_embedded(path, dim=dim, cache_mb=cache_mb)


def _is_damaged(error: IndexUnavailable) -> bool:
    code = getattr(error.__cause__, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
