"""Images of spaces, each as fresh as the file at the moment it is used; the least recently asked is given up where bytes run short."""

import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from hindwise.errors import IndexUnavailable
from hindwise.index import embedded_schema as schema
from hindwise.index.space_image import Row, SpaceImage

_LOCK_TIMEOUT_S = 10.0
"""How long a question waits for another one about the same space."""

_AT_ONCE_S = 0.1
_SOON_LOADED = 1_000
"""Documents that are read and inverted within some ten milliseconds."""


class _Entry:
    """One space's place in the cache. The image is built once, by whoever comes first."""

    def __init__(self, dim: int) -> None:
        self.lock = threading.Lock()
        self.image = SpaceImage(dim)
        self.changes = -1
        self.nbytes = 0


class SpaceCache:
    """Space number → image. Thread-safe; one question at a time per space."""

    def __init__(self, dim: int, max_bytes: int) -> None:
        self._dim = dim
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._entries: OrderedDict[int, _Entry] = OrderedDict()

    @contextmanager
    def image(self, connection: sqlite3.Connection, space: str, *, at_once: bool = False) -> Iterator[SpaceImage | None]:
        """Give the space's image as it stands in the file now, for the time of the block; None for an unknown space.

        Raises IndexUnavailable when other questions about the same space do not end; at_once: also where much must be loaded first.
        """
        found = connection.execute(schema.SELECT_SPACE, (space,)).fetchone()
        if found is None:
            yield None
            return
        space_no = int(found[0])
        entry = self._entry(space_no)
        if not entry.lock.acquire(timeout=_AT_ONCE_S if at_once else _LOCK_TIMEOUT_S):
            raise IndexUnavailable("the index is busy with other questions about the same space")
        try:
            if at_once and entry.changes < 0 and int(found[1]) > _SOON_LOADED:
                raise IndexUnavailable("the space is not in memory yet")
            fresh = self._refresh(connection, space, space_no, entry, changes=int(found[2]))
            yield entry.image if fresh else None
        finally:
            entry.lock.release()

    def held(self) -> set[int]:
        """Numbers of the spaces that have an image."""
        with self._lock:
            return set(self._entries)

    def forget(self, space_no: int) -> None:
        """Give up a dropped space's image."""
        with self._lock:
            self._entries.pop(space_no, None)

    def clear(self) -> None:
        """Give up everything."""
        with self._lock:
            self._entries.clear()

    @property
    def nbytes(self) -> int:
        """Bytes that all images take."""
        with self._lock:
            return sum(entry.nbytes for entry in self._entries.values())

    def _entry(self, space_no: int) -> _Entry:
        with self._lock:
            entry = self._entries.setdefault(space_no, _Entry(self._dim))
            self._entries.move_to_end(space_no)
            return entry

    def _refresh(self, connection: sqlite3.Connection, space: str, space_no: int, entry: _Entry, *, changes: int) -> bool:
        """Bring the image up to the file. False when the space was dropped meanwhile."""
        # The counter was read before the lock was held; the image may be newer already, and is never taken back.
        if entry.changes >= changes:
            return True
        connection.execute("BEGIN")
        try:
            now = connection.execute(schema.SELECT_SPACE, (space,)).fetchone()
            if now is None or int(now[0]) != space_no:
                return False
            _catch_up(connection, entry.image, space_no, since=entry.changes, docs=int(now[1]))
            entry.changes = int(now[2])
        except BaseException:
            # Half a refresh would look like a whole one to the next question.
            entry.image, entry.changes = SpaceImage(self._dim), -1
            raise
        finally:
            connection.execute("COMMIT")
        entry.nbytes = entry.image.nbytes
        self._make_room(space_no)
        return True

    def _make_room(self, keep: int) -> None:
        with self._lock:
            total = sum(entry.nbytes for entry in self._entries.values())
            for space_no in list(self._entries):
                if total <= self._max_bytes:
                    return
                if space_no != keep:
                    total -= self._entries.pop(space_no).nbytes


def _catch_up(connection: sqlite3.Connection, image: SpaceImage, space_no: int, *, since: int, docs: int) -> None:
    """Take in what is above the last key and let go what is listed as gone; where the count still differs, compare all keys."""
    if image.docs:
        image.remove([key for (key,) in connection.execute(schema.SELECT_GONE, (space_no, since))])
    start = max(schema.first_key(space_no), image.last_key + 1)
    image.append([Row(*row) for row in connection.execute(schema.SELECT_DOCS, (start, schema.last_key(space_no)))])
    if image.docs != docs:
        keys = np.array([key for (key,) in connection.execute(schema.SELECT_KEYS, (space_no,))], dtype=np.int64)
        image.keep_only(keys)
