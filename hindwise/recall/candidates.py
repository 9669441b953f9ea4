"""What the question is compared with: finds of the index, and rows that the index does not know (yet, or at all). Pure.

Rows from the ledger are scored here as an index scores them, so that a memory written a moment ago competes on equal terms.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hindwise.embed.base import Vector
from hindwise.recall.rows import Raw

_K1, _B = 1.2, 0.75
"""As both indexes have it."""
_DECIMALS = 6


class Found(NamedTuple):
    """A row that may be told, with its raw scores. `cosine`: None without vectors."""

    row: Raw
    lexical: float
    cosine: float | None


def score_rows(
    rows: Sequence[Raw], asked: Sequence[str], vectors: Mapping[tuple[int, str], Vector], question: Vector | None
) -> list[Found]:
    """Score rows straight from their stored `lex` and vectors; BM25 with the statistics of these rows.

    vectors: by (space number, text hash); a row without one is scored by words alone.
    """
    documents = [row.lex.split() for row in rows]
    counts = [Counter(document) for document in documents]
    frequency = {word: sum(1 for count in counts if word in count) for word in asked}
    mean = sum(map(len, documents)) / max(len(documents), 1) or 1.0
    weights = {word: math.log(1 + (len(rows) - df + 0.5) / (df + 0.5)) for word, df in frequency.items()}
    return [
        Found(
            row,
            sum(weights[word] * count[word] * (_K1 + 1) / (count[word] + _norm(len(document), mean)) for word in asked if word in count),
            cosine_of(vectors.get((row.space_no, row.text_hash)), question),
        )
        for row, document, count in zip(rows, documents, counts, strict=True)
    ]


def _norm(length: int, mean: float) -> float:
    return _K1 * (1 - _B + _B * length / mean)


def cosine_of(vector: Vector | None, question: Vector | None) -> float | None:
    """Return the cosine of a kept vector and a question's, of length 1; None where either is missing or of another model."""
    # Vectors of another model's length can lie in the ledger while a new generation is being built.
    if vector is None or question is None or vector.shape != question.shape:
        return None
    length = math.sqrt(float(vector @ vector))
    # As the indexes tell it, so that what is equal there is equal here.
    return round(max(-1.0, min(1.0, float(vector @ question) / length)), _DECIMALS) if length else 0.0
