"""In which numbers is a vector kept? Those of half precision: the same ones in the ledger and in every index.

An index that kept other numbers than another one would put near neighbours in another order, and moving from one to the other would
change answers. Half precision (IEEE 754 binary16) moves a cosine by about 1e-5. It also moves a length a little off 1, so that whoever
compares takes the length into account.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hindwise.embed.base import Embedder, Vector

HALF = np.dtype("<f2")
_SHORTEST = 1e-12
"""A vector of zeros stays one."""

Floats = npt.NDArray[np.float32]


def as_kept(vectors: Floats) -> Floats:
    """Return float32 of the same shape, in the numbers of half precision; what is in them already stays the same, to the bit."""
    return vectors.astype(HALF).astype(np.float32)


def of_length_one(vectors: Floats) -> Floats:
    """float32 [n, dim] with each row brought to length 1."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    brought: Floats = vectors / np.maximum(lengths, _SHORTEST)[:, np.newaxis]
    return brought


async def kept_passages(embedder: Embedder, texts: Sequence[str]) -> list[Vector | None]:
    """Return `embedder.passages`, as they are kept. Raises the same."""
    return [None if vector is None else as_kept(vector) for vector in await embedder.passages(texts)]
