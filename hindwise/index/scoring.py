"""Which documents of a space fit a question: BM25 over words, cosine over vectors, coverage. Pure; one space at a time.

BM25 with k1 = 1.2, b = 0.75 and idf = ln(1 + (N - n + 0.5) / (n + 0.5)), the formula that Weaviate uses too, so that both indexes
find the same. Scores are rounded before they are ranked: two equal documents may differ in the last bit by where they lie in memory,
and a tie must go by id.
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hindwise.index.base import Candidate, Vector
from hindwise.index.space_image import K1, SpaceImage
from hindwise.index.terms import Frequencies, Rows, term_hash

COMMON_SHARE = 0.25
"""A term in more than this share of a space says little and costs most: left out of the search where another one finds something."""
SMALL_SPACE = 40
"""Below this many documents a share says nothing yet: no term is left out."""
_DECIMALS = 6
_ROUNDING = 3e-6
"""More than two scores can differ that are equal when rounded."""

Scores = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int64]
Cosines = npt.NDArray[np.float32]


def idf(docs: int, df: int) -> float:
    """Return the weight of a term that stands in `df` of `docs` documents; highest for df 0."""
    return math.log(1 + (docs - df + 0.5) / (df + 0.5))


def best(image: SpaceImage, tokens: Sequence[str], vector: Vector | None, kinds: frozenset[str], k: int) -> list[Candidate]:
    """Return the union of the k best by words and the k best by meaning, ordered by id.

    The shape of `vector` must be right. Candidates are of the wanted kinds; df, N and mean length are those of the whole space.
    """
    if not image.docs:
        return []
    allowed = image.allowed(kinds)
    postings = image.postings([term_hash(token) for token in dict.fromkeys(tokens)]) if tokens else []
    weights = [idf(image.docs, len(rows)) for rows, _ in postings]
    lexical = _bm25(image, _searched(postings, weights, image.docs))
    scored = np.flatnonzero(lexical if allowed is None else np.where(allowed, lexical, 0.0))
    by_words = _top(image, lexical, scored, k)

    cosines = None if vector is None else image.matrix @ vector
    by_meaning: Positions = np.zeros(0, dtype=np.int64)
    if cosines is not None:
        if not image.all_vectors:
            allowed = image.has_vector if allowed is None else allowed & image.has_vector
        by_meaning = _top(image, cosines, None if allowed is None else np.flatnonzero(allowed), k)

    # By id, so that equal questions give equal lists.
    of_words = set(by_words.tolist())
    union = sorted(of_words.union(by_meaning.tolist()), key=image.ids.__getitem__)
    words = [score if row in of_words else 0.0 for row, score in zip(union, _rounded(lexical[union]).tolist(), strict=True)]
    meanings = [None] * len(union) if cosines is None else _meanings(image, cosines, union)
    covered = _coverage(postings, weights, np.array(union, dtype=np.int32))
    return list(map(Candidate, map(image.ids.__getitem__, union), words, meanings, covered.tolist()))


def _meanings(image: SpaceImage, cosines: Cosines, union: list[int]) -> list[float | None]:
    values: list[float | None] = _rounded(cosines[union]).tolist()
    if image.all_vectors:
        return values
    return [value if has else None for value, has in zip(values, image.has_vector[union].tolist(), strict=True)]


def _searched(postings: list[tuple[Rows, Frequencies]], weights: list[float], docs: int) -> list[tuple[Rows, Frequencies, float]]:
    """The terms that are searched for: known ones, the common ones only where nothing else is known."""
    known = [(rows, tf, weight) for (rows, tf), weight in zip(postings, weights, strict=True) if len(rows)]
    if docs < SMALL_SPACE:
        return known
    return [term for term in known if len(term[0]) <= COMMON_SHARE * docs] or known


def _bm25(image: SpaceImage, terms: list[tuple[Rows, Frequencies, float]]) -> Scores:
    scores = np.zeros(len(image.ids), dtype=np.float64)
    norms = image.norms
    for rows, tf, weight in terms:
        # A term's rows are distinct, so that adding by index counts each once.
        scores[rows] += weight * (K1 + 1) * tf / (tf + norms[rows])
    return scores


def _rounded(scores: Scores | Cosines) -> Scores:
    """Cosines a little over 1 are 1; BM25 is at home above it, and stays."""
    exact: Scores = scores.astype(np.float64).round(_DECIMALS)
    return exact.clip(-1.0, 1.0) if scores.dtype == np.float32 else exact


def _top(image: SpaceImage, scores: Scores | Cosines, among: Positions | None, k: int) -> Positions:
    """The rows of the k highest scores among these (None: all); of equal ones at the edge, those of the lower id."""
    values = scores if among is None else scores[among]
    if len(values) <= k:
        return np.arange(len(values)) if among is None else among
    # Rounding is for ties at the edge alone: only what lies within a rounding of it is rounded.
    edge = np.partition(values, len(values) - k)[len(values) - k]
    near: Positions = np.flatnonzero(values >= edge - _ROUNDING)
    rows = near if among is None else among[near]
    if len(rows) == k:
        return rows
    exact = _rounded(scores[rows]).tolist()
    ranked = sorted(zip(exact, rows.tolist(), strict=True), key=lambda scored: (-scored[0], image.ids[scored[1]]))
    return np.array([row for _, row in ranked[:k]], dtype=np.int64)


def _coverage(postings: list[tuple[Rows, Frequencies]], weights: list[float], union: Rows) -> Scores:
    """The share of the question's weight that each row of `union` holds, 0..1."""
    covered = np.zeros(len(union), dtype=np.float64)
    total = sum(weights)
    for (rows, _), weight in zip(postings, weights, strict=True):
        if len(rows):
            covered += weight * (rows.take(rows.searchsorted(union), mode="clip") == union)
    return np.round(covered / total, _DECIMALS) if total > 0 else covered
