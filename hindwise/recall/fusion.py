"""How do two kinds of scores become one? The sum of their z-scores over the union of both pools, one space at a time. Pure."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

LEXICAL_WEIGHT = 0.5
"""Against 1 for meaning. Flat between 0.3 and 0.5 on long conversations (notes/stores, section 10)."""

Scores = npt.NDArray[np.float64]


def standardise(values: Sequence[float]) -> Scores:
    """Return (value - mean) / std; all 0 where the values do not differ."""
    array: Scores = np.array(values, dtype=np.float64)
    if not len(array):
        return array
    array -= np.add.reduce(array) / len(array)
    spread = math.sqrt(array.dot(array) / len(array))
    # A sum of equal floats may differ from their product in the last bit, so that an exact zero cannot be asked for.
    return np.zeros(len(array)) if spread < 1e-9 else array / spread


def fuse(lexical: Sequence[float], cosine: Sequence[float | None]) -> list[float]:
    """Return one score per candidate of one space, comparable only within this call.

    lexical: BM25, 0 outside of the lexical pool. cosine: None where there is no vector: counts as the lowest of the others.
    """
    known = [value for value in cosine if value is not None]
    words = standardise(lexical)
    if not known:
        return list(words.tolist())
    floor = min(known)
    meaning = standardise(known if len(known) == len(cosine) else [floor if value is None else value for value in cosine])
    fused: list[float] = (LEXICAL_WEIGHT * words + meaning).tolist()
    return fused
