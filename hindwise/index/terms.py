"""Terms as numbers: a document's words packed into bytes, and a space's documents inverted into postings.

A term is named by 64 bits of its BLAKE2 hash. Among a million different words two share a name with a chance of one in thirty
million; the price would be one wrong candidate, which the ledger's text then shows for what it is.
"""

from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from hindwise.text.remembered import remembered

PACKED = np.dtype([("term", "<u8"), ("tf", "<u2")])
_MAX_TF = 65_535

Rows = npt.NDArray[np.int32]
Frequencies = npt.NDArray[np.float32]


@remembered(65_536)
def term_hash(term: str) -> int:
    """Return the 64-bit name of a term, the same on every machine."""
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def pack(tokens: Sequence[str]) -> bytes:
    """Return a document's terms with their frequencies, ten bytes each."""
    counted = Counter(map(term_hash, tokens))
    return np.array([(term, min(tf, _MAX_TF)) for term, tf in counted.items()], dtype=PACKED).tobytes()


class Postings:
    """Term → (rows ascending, frequencies), as three flat arrays. Immutable."""

    def __init__(self, packed: Sequence[bytes], first_row: int) -> None:
        """Invert documents that occupy the rows from `first_row` on."""
        flat = np.frombuffer(b"".join(packed), dtype=PACKED)
        counts = np.fromiter((len(blob) // PACKED.itemsize for blob in packed), dtype=np.int64, count=len(packed))
        rows = np.repeat(np.arange(first_row, first_row + len(packed), dtype=np.int32), counts)
        # Stable, so that the rows of one term stay ascending.
        order = np.argsort(flat["term"], kind="stable")
        self._rows: Rows = rows[order]
        self._tf: Frequencies = flat["tf"][order].astype(np.float32)
        self._terms, starts = np.unique(flat["term"][order], return_index=True)
        self._starts = np.append(starts, len(order)).astype(np.int64)

    def of(self, terms: npt.NDArray[np.uint64]) -> list[tuple[Rows, Frequencies]]:
        """Return, for each term, the rows that hold it, and how often; empty arrays for an unknown one."""
        if not len(self._terms):
            return [(self._rows, self._tf)] * len(terms)
        at = self._terms.searchsorted(terms)
        known = self._terms.take(at, mode="clip") == terms
        # An unknown term gets the empty range from its place to its place.
        starts = self._starts[at].tolist()
        ends = self._starts[at + known].tolist()
        return [(self._rows[start:end], self._tf[start:end]) for start, end in zip(starts, ends, strict=True)]

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._rows.nbytes + self._tf.nbytes + self._terms.nbytes + self._starts.nbytes


def lengths(packed: Sequence[bytes]) -> npt.NDArray[np.float64]:
    """Return the number of tokens of each document."""
    flat = np.frombuffer(b"".join(packed), dtype=PACKED)
    ends = np.cumsum([len(blob) // PACKED.itemsize for blob in packed], dtype=np.int64)
    upto = np.concatenate([[0], np.cumsum(flat["tf"], dtype=np.int64)])
    counted: npt.NDArray[np.float64] = np.diff(upto[np.concatenate([[0], ends])]).astype(np.float64)
    return counted
