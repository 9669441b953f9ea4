"""The embedded index: one SQLite file per generation, exact search in numpy, no server.

Several processes may write and read the same file. A write is one short `BEGIN IMMEDIATE` transaction and is seen by the next question
of any process, because each question reads the space's change counter from the file first. Everything runs on threads of its own, so
that the event loop never waits for the disk.
"""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypeVar

import numpy as np

from hindwise.embed.precision import HALF
from hindwise.errors import IndexUnavailable
from hindwise.index import embedded_schema as schema
from hindwise.index.base import Candidate, Filters, IndexItem, Vector, check_vector
from hindwise.index.embedded_damage import FileState
from hindwise.index.scoring import best
from hindwise.index.space_cache import SpaceCache
from hindwise.index.terms import pack
from hindwise.text.tokens import TOKENIZER_VERSION

FILE_NAME = "index-{generation}.db"

MAX_K = 200
_READERS = 2
_READ_TIMEOUT_S = 15.0
_WRITE_TIMEOUT_S = 60.0
_ITEMS_PER_WRITE = 500
"""Larger batches are several transactions, so that another process gets its turn; each is whole in itself."""

_ALL_CHANGES = 2**62

T = TypeVar("T")


def open_embedded(path: Path, *, dim: int, cache_mb: int, tokenizer: int = TOKENIZER_VERSION) -> "EmbeddedIndex":
    """Open or make the index file at `path` for vectors of `dim` numbers (0 = words only), caching about `cache_mb` MB.

    Blocks for some milliseconds: call it while starting, or on a thread. Raises DimensionMismatch when the file holds vectors of
    another length, IndexUnavailable when it cannot be opened.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = schema.connect(path, may_create=True)
        try:
            schema.create(connection, dim=dim, tokenizer=tokenizer)
        finally:
            connection.close()
        return EmbeddedIndex(path, dim=dim, cache_mb=cache_mb)
    except (sqlite3.Error, OSError) as error:
        raise IndexUnavailable(
            f"the index file cannot be opened ({error}): check the data directory, or restart: it is then built again from the ledger"
        ) from error


class EmbeddedIndex:
    """Implements `Index` on one file. Open it with `open_embedded`."""

    def __init__(self, path: Path, *, dim: int, cache_mb: int) -> None:
        self._path = path
        self._file = FileState(path)
        self._dim = dim
        self._cache = SpaceCache(dim, cache_mb * 1024 * 1024)
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="index-read")
        # One writer per process: threads would only wait for each other's file lock, by polling.
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="index-write")
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._connections_lock = threading.Lock()
        self._closed = False

    async def upsert(self, items: Sequence[IndexItem]) -> None:
        """Write the items, replacing earlier ones of the same space and id; see `Index.upsert`."""
        if not items:
            return
        for item in items:
            check_vector(item.vector, self._dim)
        # Of an id given twice the last one counts.
        latest = list({(item.space, item.memory_id): item for item in items}.values())
        await self._write(lambda connection: self._upsert(connection, latest))

    async def candidates(
        self, space: str, tokens: Sequence[str], vector: Vector | None, filters: Filters, *, k: int = 50
    ) -> list[Candidate]:
        """Return the union of both pools of one space, ordered by id; see `Index.candidates`. k is kept within 1..200."""
        return await self._read(self._search(space, tokens, vector, filters, k, at_once=False))

    def candidates_here(
        self, space: str, tokens: Sequence[str], vector: Vector | None, filters: Filters, *, k: int = 50
    ) -> list[Candidate]:
        """Answer on the caller's thread, if the space is in memory; see `InProcessIndex.candidates_here`."""
        if self._closed:
            raise IndexUnavailable("the index is closed")
        try:
            return self._on_thread(self._search(space, tokens, vector, filters, k, at_once=True))
        except sqlite3.Error as error:
            raise self._file.told(error) from error

    def _search(
        self, space: str, tokens: Sequence[str], vector: Vector | None, filters: Filters, k: int, *, at_once: bool
    ) -> Callable[[sqlite3.Connection], list[Candidate]]:
        check_vector(vector, self._dim)
        wanted = None if vector is None else np.ascontiguousarray(vector, dtype=np.float32)
        words = list(tokens)
        bounded = max(1, min(k, MAX_K))

        def search(connection: sqlite3.Connection) -> list[Candidate]:
            with self._cache.image(connection, space, at_once=at_once) as image:
                return [] if image is None else best(image, words, wanted, filters.kinds, bounded, covered=not at_once)

        return search

    async def delete(self, space: str, memory_ids: Sequence[str]) -> None:
        """Remove the ids from the space; unknown ones are fine."""
        if memory_ids:
            ids = list(dict.fromkeys(memory_ids))
            await self._write(lambda connection: _delete(connection, space, ids))

    async def drop(self, space: str) -> None:
        """Remove all of one space, and of no other; the file keeps no bytes of it."""
        await self._write(lambda connection: self._drop(connection, space))

    async def empty_log(self) -> bool:
        """Move the write-ahead log into the file and cut it; see `LoggedIndex.empty_log`."""
        return await self._write(_empty_log)

    async def ids(self, space: str) -> set[str]:
        """All ids of a space."""

        def read(connection: sqlite3.Connection) -> set[str]:
            return {memory_id for (memory_id,) in connection.execute(schema.SELECT_IDS, (space,))}

        return await self._read(read)

    async def forget(self, names: Sequence[str]) -> None:
        """Let go the images of spaces that the file does not hold any more; see `RememberingIndex.forget`. No number is given twice."""
        held = self._cache.held()

        def there(connection: sqlite3.Connection) -> set[int]:
            return {number for number in held if connection.execute(schema.SELECT_THERE, (number,)).fetchone()}

        if held:
            for number in held - await self._read(there):
                self._cache.forget(number)

    async def is_empty(self) -> bool:
        """Whether no space holds anything."""
        return await self._read(lambda connection: connection.execute(schema.ANY_DOC).fetchone() is None)

    async def damage(self) -> str:
        """What is wrong with the file for good; see `FileIndex.damage`."""
        return await asyncio.to_thread(self._file.look)

    async def health(self) -> None:
        """Return when the file answers. Raises IndexDamaged, IndexUnavailable."""

        def read(connection: sqlite3.Connection) -> None:
            if why := self._file.look():
                raise self._file.lost(why)
            connection.execute(schema.SELECT_META, ("dim",)).fetchone()

        await self._read(read)

    async def close(self) -> None:
        """Wait for what runs, close the connections and free the cache. Idempotent."""
        if self._closed:
            return
        self._closed = True
        await asyncio.to_thread(self._shut_down)

    def _upsert(self, connection: sqlite3.Connection, items: list[IndexItem]) -> None:
        waiting = iter(items)
        while chunk := list(islice(waiting, _ITEMS_PER_WRITE)):
            rows = [(item, pack(item.tokens), None if item.vector is None else item.vector.astype(HALF).tobytes()) for item in chunk]
            _transaction(connection, partial(_replace, connection, rows))

    def _drop(self, connection: sqlite3.Connection, space: str) -> None:
        def work() -> int | None:
            found = connection.execute(schema.SELECT_SPACE, (space,)).fetchone()
            if found is None:
                return None
            space_no = int(found[0])
            connection.execute(schema.DELETE_RANGE, (schema.first_key(space_no), schema.last_key(space_no)))
            connection.execute(schema.FORGET_GONE, (space_no, _ALL_CHANGES))
            connection.execute(schema.DROP_SPACE, (space_no,))
            return space_no

        space_no = _transaction(connection, work)
        if space_no is not None:
            self._cache.forget(space_no)
            _empty_log(connection)

    async def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await self._run(self._readers, work, _READ_TIMEOUT_S)

    async def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await self._run(self._writer, work, _WRITE_TIMEOUT_S)

    async def _run(self, pool: ThreadPoolExecutor, work: Callable[[sqlite3.Connection], T], timeout_s: float) -> T:
        if self._closed:
            raise IndexUnavailable("the index is closed")
        try:
            # Not cancelled on the thread: a transaction that began either ends or is rolled back by itself.
            async with asyncio.timeout(timeout_s):
                return await asyncio.get_running_loop().run_in_executor(pool, self._on_thread, work)
        except TimeoutError as error:
            raise IndexUnavailable(f"the index did not answer within {timeout_s:g} s") from error
        except sqlite3.Error as error:
            raise self._file.told(error) from error

    def _on_thread(self, work: Callable[[sqlite3.Connection], T]) -> T:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = schema.connect(self._path, may_create=False)
            with self._connections_lock:
                self._connections.append(connection)
            self._local.connection = connection
        return work(connection)

    def _shut_down(self) -> None:
        self._readers.shutdown(wait=True)
        self._writer.shutdown(wait=True)
        with self._connections_lock:
            for connection in self._connections:
                connection.close()
            self._connections.clear()
        self._cache.clear()


def _transaction(connection: sqlite3.Connection, work: Callable[[], T]) -> T:
    connection.execute("BEGIN IMMEDIATE")
    try:
        result = work()
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):  # the first error is the one to tell
            connection.execute("ROLLBACK")
        raise
    return result


def _replace(connection: sqlite3.Connection, rows: Iterable[tuple[IndexItem, bytes, bytes | None]]) -> None:
    spaces: dict[str, list[tuple[IndexItem, bytes, bytes | None]]] = {}
    for row in rows:
        spaces.setdefault(row[0].space, []).append(row)
    for space, of_space in spaces.items():
        found = connection.execute(schema.SELECT_SPACE, (space,)).fetchone()
        space_no, docs, changes, next_seq = found or connection.execute(schema.ADD_SPACE, (space,)).fetchone()
        gone = _remove(connection, space_no, changes, [item.memory_id for item, _, _ in of_space])
        connection.executemany(
            schema.ADD_DOC,
            [
                (schema.first_key(space_no, next_seq + at), space_no, item.memory_id, item.kind, item.recorded_at_ms, terms, vector)
                for at, (item, terms, vector) in enumerate(of_space)
            ],
        )
        connection.execute(schema.UPDATE_SPACE, (docs - gone + len(of_space), next_seq + len(of_space), space_no))


def _remove(connection: sqlite3.Connection, space_no: int, changes: int, memory_ids: list[str]) -> int:
    """Delete rows, list their keys as gone with the change that is being made, and return how many there were."""
    keys = [key for memory_id in memory_ids for (key,) in connection.execute(schema.DELETE_DOC, (space_no, memory_id)).fetchall()]
    if keys:
        connection.executemany(schema.ADD_GONE, [(space_no, changes + 1, key) for key in keys])
        connection.execute(schema.FORGET_GONE, (space_no, changes - schema.GONE_KEPT))
    return len(keys)


def _delete(connection: sqlite3.Connection, space: str, memory_ids: list[str]) -> None:
    def work() -> None:
        found = connection.execute(schema.SELECT_SPACE, (space,)).fetchone()
        if found is not None:
            space_no, docs, changes, next_seq = found
            if gone := _remove(connection, space_no, changes, memory_ids):
                connection.execute(schema.UPDATE_SPACE, (docs - gone, next_seq, space_no))

    _transaction(connection, work)


def _empty_log(connection: sqlite3.Connection) -> bool:
    """Move the write-ahead log into the file and cut it, so that it keeps no deleted bytes. False where a reader at work prevents it."""
    connection.execute("PRAGMA busy_timeout=200")
    try:
        return bool(connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0)
    finally:
        connection.execute(f"PRAGMA busy_timeout={int(schema.BUSY_TIMEOUT_S * 1000)}")
