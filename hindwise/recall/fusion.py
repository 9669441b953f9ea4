"""How do two kinds of scores become one? The sum of their z-scores over the union of both pools, one space at a time. Pure."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

LEXICAL_WEIGHT = 0.5
"""Against 1 for meaning. Flat between 0.3 and 0.5 on long conversations (notes/stores, section 10)."""

Scores = npt.NDArray[np.float64]


def standardise(values: Sequence[float]) -> Scores:
    """Return (value - mean) / std; all 0 where the values do not differ."""
    array = np.asarray(values, dtype=np.float64)
    spread = float(array.std()) if len(array) else 0.0
    # A sum of equal floats may differ from their product in the last bit, so that an exact zero cannot be asked for.
    return np.zeros(len(array)) if spread < 1e-9 else (array - array.mean()) / spread


def fuse(lexical: Sequence[float], cosine: Sequence[float | None]) -> list[float]:
    """Return one score per candidate of one space, comparable only within this call.

    lexical: BM25, 0 outside of the lexical pool. cosine: None where there is no vector: counts as the lowest of the others.
    """
    known = [value for value in cosine if value is not None]
    if not known:
        return [float(value) for value in standardise(lexical)]
    floor = min(known)
    meaning = standardise([floor if value is None else value for value in cosine])
    return [float(value) for value in LEXICAL_WEIGHT * standardise(lexical) + meaning]
