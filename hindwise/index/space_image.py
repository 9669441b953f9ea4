"""One space in memory: ids, kinds, lengths, postings and the matrix of vectors, brought up to date in small steps.

Rows are only appended; a deleted one is marked dead and its place is won back when a quarter of the rows is dead. New documents get
postings of their own, which are merged with their neighbours' as these grow, so that one more document costs little.
Not safe for several threads: `space_cache` holds a lock per space.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hindwise.embed.precision import HALF, of_length_one
from hindwise.index.terms import Frequencies, Postings, Rows, lengths

_MERGE_RATIO = 4
"""Neighbouring postings are merged until each covers four times the documents of the next: few to ask, few to rebuild."""
_BYTES_PER_ROW = 250
"""What the Python objects of one row take, roughly."""


K1 = 1.2
B = 0.75


class Row(NamedTuple):
    """One document as it comes from the file."""

    key: int
    memory_id: str
    kind: str
    terms: bytes
    vector: bytes | None


class SpaceImage:
    """The documents of one space as of one change of it."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.ids: list[str] = []
        self.alive = np.zeros(0, dtype=bool)
        self.keys = np.zeros(0, dtype=np.int64)
        self.lengths = np.zeros(0, dtype=np.float64)
        self.kinds = np.zeros(0, dtype=np.int16)
        self.has_vector = np.zeros(0, dtype=bool)
        self.all_vectors = True
        """Whether every living row has a vector: then no mask is needed."""
        self.docs = 0
        """Living documents."""
        self.mean_length = 1.0
        """Mean number of tokens of the living documents; 1.0 where there are none."""
        self._norms: npt.NDArray[np.float64] | None = None
        self._kind_codes: dict[str, int] = {}
        self._packed: list[bytes] = []
        self._packed_bytes = 0
        self._postings: list[tuple[int, Postings]] = []
        """(first row, postings), ascending; each reaches to the next one's first row."""
        self._vectors = np.zeros((dim, 0), dtype=np.float32)
        """[dim, rows and spare ones]: the product with a question runs along the rows, in half the time of one along each vector."""

    @property
    def matrix(self) -> npt.NDArray[np.float32]:
        """float32 [rows, dim]; zeros where a row has no vector."""
        return self._vectors[:, : len(self.ids)].T

    @property
    def norms(self) -> npt.NDArray[np.float64]:
        """What a row's length adds below the fraction of BM25."""
        if self._norms is None:
            self._norms = K1 * (1 - B + B * self.lengths / self.mean_length)
        return self._norms

    @property
    def last_key(self) -> int:
        """The highest key ever taken in, dead or alive; -1 before the first."""
        return int(self.keys[-1]) if len(self.keys) else -1

    @property
    def nbytes(self) -> int:
        """Bytes held, nearly."""
        inverted = sum(postings.nbytes for _, postings in self._postings)
        return self._vectors.nbytes + inverted + self._packed_bytes + _BYTES_PER_ROW * len(self.ids)

    def postings(self, terms: Sequence[int]) -> list[tuple[Rows, Frequencies]]:
        """Return, for each term, the living rows that hold it, ascending, and how often each does."""
        wanted = np.array(terms, dtype=np.uint64)
        found = [_joined(parts) for parts in zip(*(postings.of(wanted) for _, postings in self._postings), strict=True)]
        if self.docs < len(self.ids):
            living = [self.alive[rows] for rows, _ in found]
            found = [(rows[kept], tf[kept]) for (rows, tf), kept in zip(found, living, strict=True)]
        return found

    def allowed(self, kinds: frozenset[str]) -> npt.NDArray[np.bool_] | None:
        """Return a mask of the living rows of these kinds; no kinds = all. None where that is every row."""
        if not kinds:
            return self.alive if self.docs < len(self.ids) else None
        codes = [code for kind, code in self._kind_codes.items() if kind in kinds]
        mask: npt.NDArray[np.bool_] = self.alive & np.isin(self.kinds, codes)
        return mask

    def append(self, rows: Sequence[Row]) -> None:
        """Take in documents, in ascending order of key, all above `last_key`."""
        if not rows:
            return
        self._take_vectors(rows)
        packed = [row.terms for row in rows]
        self.ids += [row.memory_id for row in rows]
        self._packed += packed
        self._packed_bytes += sum(map(len, packed))
        self.keys = np.append(self.keys, np.array([row.key for row in rows], dtype=np.int64))
        self.alive = np.append(self.alive, np.ones(len(rows), dtype=bool))
        self.lengths = np.append(self.lengths, lengths(packed))
        codes = [self._kind_codes.setdefault(row.kind, len(self._kind_codes)) for row in rows]
        self.kinds = np.append(self.kinds, np.array(codes, dtype=np.int16))
        self.has_vector = np.append(self.has_vector, np.array([row.vector is not None for row in rows], dtype=bool))
        self._count()
        self._invert_from(len(self.ids) - len(rows))

    def remove(self, keys: Sequence[int]) -> None:
        """Mark the rows of these keys dead; unknown keys are fine."""
        if not keys:
            return
        wanted = np.array(keys, dtype=np.int64)
        at = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        self.alive[at[self.keys[at] == wanted]] = False
        self._settle()

    def keep_only(self, keys: npt.NDArray[np.int64]) -> None:
        """Mark every row dead whose key is not among `keys`."""
        self.alive &= np.isin(self.keys, keys)
        self._settle()

    def _settle(self) -> None:
        self._count()
        if len(self.ids) - self.docs > max(64, len(self.ids) // 4):
            self._compact()

    def _count(self) -> None:
        self.docs = int(self.alive.sum())
        self.all_vectors = bool(self.has_vector[self.alive].all())
        self.mean_length = float(self.lengths[self.alive].sum()) / max(self.docs, 1) or 1.0
        self._norms = None

    def _invert_from(self, first: int) -> None:
        """Add postings for the rows from `first` on, together with those of earlier ones that are not much larger."""
        while self._postings and first - self._postings[-1][0] < _MERGE_RATIO * (len(self.ids) - first):
            first, _ = self._postings.pop()
        self._postings.append((first, Postings(self._packed[first:], first)))

    def _take_vectors(self, rows: Sequence[Row]) -> None:
        used, needed = len(self.ids), len(self.ids) + len(rows)
        if needed > self._vectors.shape[1]:
            spare = needed // 8 if used else 0
            grown = np.zeros((self.dim, needed + spare), dtype=np.float32)
            grown[:, :used] = self._vectors[:, :used]
            self._vectors = grown
        at = [used + i for i, row in enumerate(rows) if row.vector is not None]
        if at and self.dim:
            stored = np.frombuffer(b"".join(row.vector for row in rows if row.vector is not None), dtype=HALF)
            self._vectors[:, at] = of_length_one(stored.reshape(len(at), self.dim).astype(np.float32)).T

    def _compact(self) -> None:
        keep = np.flatnonzero(self.alive)
        self._vectors = self._vectors.take(keep, axis=1)
        self.ids = [self.ids[i] for i in keep]
        self._packed = [self._packed[i] for i in keep]
        self.keys, self.lengths, self.kinds = self.keys[keep], self.lengths[keep], self.kinds[keep]
        self.has_vector, self.alive = self.has_vector[keep], self.alive[keep]
        self._packed_bytes = sum(map(len, self._packed))
        self._postings = [(0, Postings(self._packed, 0))]


def _joined(parts: Sequence[tuple[Rows, Frequencies]]) -> tuple[Rows, Frequencies]:
    """One term's postings in order of row; mostly one part has them all."""
    filled = [part for part in parts if len(part[0])]
    if len(filled) < 2:
        return filled[0] if filled else parts[0]
    return np.concatenate([rows for rows, _ in filled]), np.concatenate([tf for _, tf in filled])
