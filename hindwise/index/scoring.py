"""Which documents of a space fit a question: BM25 over words, cosine over vectors, coverage. Pure; one space at a time.

BM25 with k1 = 1.2, b = 0.75 and idf = ln(1 + (N - n + 0.5) / (n + 0.5)), the formula that Weaviate uses too, so that both indexes
find the same. Scores are rounded before they are ranked: two equal documents may differ in the last bit by where they lie in memory,
and a tie must go by id.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

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
_GROUPS = 4
"""Groups of rows for each row that is wanted: more of them tell more exactly, and cost more to put in order."""
_WORTH_GROUPING = 4
"""Rows in a group from which on the highest of each says something."""

Scores = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int64]
Cosines = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]


def idf(docs: int, df: int) -> float:
    """Return the weight of a term that stands in `df` of `docs` documents; highest for df 0."""
    return math.log(1 + (docs - df + 0.5) / (df + 0.5))


def best(
    image: SpaceImage, tokens: Sequence[str], vector: Vector | None, kinds: frozenset[str], k: int, *, covered: bool = True
) -> list[Candidate]:
    """Return the union of the k best by words and the k best by meaning, ordered by id.

    The shape of `vector` must be right. Candidates are of the wanted kinds; df, N and mean length are those of the whole space.
    covered: also how much of the question each covers, which takes a while; else 0.0.
    """
    if not image.docs:
        return []
    allowed = image.allowed(kinds)
    terms = _terms(image, tokens)
    lexical = _bm25(image, terms)
    by_words = _top(image, lexical, allowed, k, above=0.0)

    cosines = None if vector is None else image.matrix @ vector
    by_meaning: Positions = np.zeros(0, dtype=np.int64)
    if cosines is not None:
        if not image.all_vectors:
            allowed = image.has_vector if allowed is None else allowed & image.has_vector
        by_meaning = _top(image, cosines, allowed, k, above=-math.inf)

    # By id, so that equal questions give equal lists.
    of_words = set(by_words.tolist())
    union = sorted(of_words.union(by_meaning.tolist()), key=image.ids.__getitem__)
    rows = np.array(union, dtype=np.int64)
    words = [score if row in of_words else 0.0 for row, score in zip(union, _rounded(lexical[rows]).tolist(), strict=True)]
    meanings = [None] * len(union) if cosines is None else _meanings(image, cosines, rows)
    coverage = _coverage(image, terms, len(set(tokens)))[rows].round(_DECIMALS).tolist() if covered else [0.0] * len(union)
    return list(map(Candidate, map(image.ids.__getitem__, union), words, meanings, coverage))


class _Term(NamedTuple):
    """A term of the question that the space holds."""

    rows: Rows
    tf: Frequencies
    weight: float


def _meanings(image: SpaceImage, cosines: Cosines, rows: Positions) -> list[float | None]:
    values: list[float | None] = _rounded(cosines[rows]).tolist()
    if image.all_vectors:
        return values
    return [value if has else None for value, has in zip(values, image.has_vector[rows].tolist(), strict=True)]


def _terms(image: SpaceImage, tokens: Sequence[str]) -> list[_Term]:
    """What of the question the space holds."""
    postings = image.postings([term_hash(token) for token in dict.fromkeys(tokens)]) if tokens else []
    return [_Term(rows, tf, idf(image.docs, len(rows))) for rows, tf in postings if len(rows)]


def _bm25(image: SpaceImage, terms: list[_Term]) -> Scores:
    """BM25 of every row."""
    if not terms:
        return np.zeros(len(image.ids))
    rows, tf, weight = _joined(_searched(terms, image.docs))
    return _summed(rows, weight * (K1 + 1) * tf / (tf + image.norms[rows]), len(image.ids))


def _coverage(image: SpaceImage, terms: list[_Term], asked: int) -> Scores:
    """The share of the question's weight that every row holds, 0..1. asked: distinct terms of the question, known or not."""
    if not terms:
        return np.zeros(len(image.ids))
    total = sum(term.weight for term in terms) + (asked - len(terms)) * idf(image.docs, 0)
    rows, _, weight = _joined(terms)
    return _summed(rows, weight / total, len(image.ids))


def _searched(known: list[_Term], docs: int) -> list[_Term]:
    """The terms that are searched for: the common ones only where nothing else is known."""
    if docs < SMALL_SPACE:
        return known
    return [term for term in known if len(term.rows) <= COMMON_SHARE * docs] or known


def _joined(terms: list[_Term]) -> tuple[Rows, Frequencies, Scores]:
    """The postings of several terms one behind the other, and beside each one its term's weight."""
    rows, tf, weights = zip(*terms, strict=True)
    return np.concatenate(rows), np.concatenate(tf), np.repeat(weights, list(map(len, rows)))


def _summed(rows: Rows, values: Scores, count: int) -> Scores:
    """What falls on each of `count` rows, in the order in which it comes."""
    return np.bincount(rows, values, count).astype(np.float64, copy=False)


def _rounded(scores: Scores | Cosines) -> Scores:
    """Cosines a little over 1 are 1; BM25 is at home above it, and stays."""
    exact: Scores = scores.astype(np.float64).round(_DECIMALS)
    return exact.clip(-1.0, 1.0) if scores.dtype == np.float32 else exact


def _top(image: SpaceImage, scores: Scores | Cosines, allowed: Mask | None, k: int, *, above: float) -> Positions:
    """The rows of the k highest scores above a number, among the allowed ones; of equal ones at the edge, those of the lower id."""
    values = scores if allowed is None else np.where(allowed, scores, -math.inf)
    near = _near_the_top(values, k, above)
    if len(near) <= k:
        return near
    # Rounding is for ties at the edge alone: only what lies within a rounding of it is rounded.
    told = values[near]
    rows: Positions = near[told >= _kth(told, k) - _ROUNDING]
    if len(rows) == k:
        return rows
    exact = _rounded(scores[rows]).tolist()
    ranked = sorted(zip(exact, rows.tolist(), strict=True), key=lambda scored: (-scored[0], image.ids[scored[1]]))
    return np.array([row for _, row in ranked[:k]], dtype=np.int64)


def _near_the_top(values: Scores | Cosines, k: int, above: float) -> Positions:
    """Rows above a number, the k highest and their ties among them, and few others; without putting all in order.

    Of groups of rows the highest one each: that k of these reach a value means that at least k rows do.
    """
    groups = _GROUPS * k
    if (deep := len(values) // groups) >= _WORTH_GROUPING:
        least = _kth(values[: groups * deep].reshape(deep, groups).max(axis=0), k) - _ROUNDING
        if least > above:
            return np.flatnonzero(values >= least)
    return np.flatnonzero(values > above)


def _kth(values: Scores | Cosines, k: int) -> float:
    """The k-th highest of at least k values."""
    return float(np.partition(values, len(values) - k)[len(values) - k])
