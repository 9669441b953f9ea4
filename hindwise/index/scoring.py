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
from hindwise.index.space_image import SpaceImage
from hindwise.index.terms import Frequencies, Rows, term_hash

K1 = 1.2
B = 0.75
COMMON_SHARE = 0.25
"""A term in more than this share of a space says little and costs most: left out of the search where another one finds something."""
SMALL_SPACE = 40
"""Below this many documents a share says nothing yet: no term is left out."""
_DECIMALS = 6

Scores = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


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
    postings = [image.postings(term_hash(token)) for token in dict.fromkeys(tokens)]
    weights = [idf(image.docs, len(rows)) for rows, _ in postings]

    lexical = _bm25(image, _searched(postings, weights, image.docs))
    by_words = _top(image, lexical, allowed & (lexical > 0), k)

    cosines = None if vector is None else _cosines(image, vector)
    by_meaning: Positions = np.zeros(0, dtype=np.int64)
    if cosines is not None:
        by_meaning = _top(image, cosines, allowed if image.all_vectors else allowed & image.has_vector, k)

    # By id, so that equal questions give equal lists.
    union = sorted({*by_words.tolist(), *by_meaning.tolist()}, key=image.ids.__getitem__)
    rows = np.array(union, dtype=np.int64)
    return _candidates(image, rows, lexical, by_words, cosines, _coverage(postings, weights, rows))


def _candidates(
    image: SpaceImage, union: Positions, lexical: Scores, by_words: Positions, cosines: Scores | None, covered: Scores
) -> list[Candidate]:
    words = np.where(np.isin(union, by_words), lexical[union], 0.0).tolist()
    meanings: list[float | None] = [None] * len(union)
    if cosines is not None:
        meanings = cosines[union].tolist()
        if not image.all_vectors:
            meanings = [value if has else None for value, has in zip(meanings, image.has_vector[union].tolist(), strict=True)]
    ids = [image.ids[row] for row in union.tolist()]
    return [Candidate(*values) for values in zip(ids, words, meanings, covered.tolist(), strict=True)]


def _searched(postings: list[tuple[Rows, Frequencies]], weights: list[float], docs: int) -> list[tuple[Rows, Frequencies, float]]:
    """The terms that are searched for: known ones, the common ones only where nothing else is known."""
    known = [(rows, tf, weight) for (rows, tf), weight in zip(postings, weights, strict=True) if len(rows)]
    if docs < SMALL_SPACE:
        return known
    return [term for term in known if len(term[0]) <= COMMON_SHARE * docs] or known


def _bm25(image: SpaceImage, terms: list[tuple[Rows, Frequencies, float]]) -> Scores:
    scores = np.zeros(len(image.ids), dtype=np.float64)
    mean = image.mean_length
    for rows, tf, weight in terms:
        norm = K1 * (1 - B + B * image.lengths[rows] / mean)
        # A term's rows are distinct, so that adding by index counts each once.
        scores[rows] += weight * tf * (K1 + 1) / (tf + norm)
    return np.round(scores, _DECIMALS)


def _cosines(image: SpaceImage, vector: Vector) -> Scores:
    products: Scores = (image.matrix @ vector).astype(np.float64)
    return products.round(_DECIMALS).clip(-1.0, 1.0)


def _top(image: SpaceImage, scores: Scores, allowed: Mask, k: int) -> Positions:
    """The rows of the k highest scores among the allowed; of equal ones at the edge, those of the lower id."""
    rows: Positions = np.flatnonzero(allowed)
    if len(rows) <= k:
        return rows
    edge = np.partition(scores[rows], len(rows) - k)[len(rows) - k]
    rows = rows[scores[rows] >= edge]
    if len(rows) == k:
        return rows
    ranked = sorted(rows.tolist(), key=lambda row: (-scores[row], image.ids[row]))
    return np.array(ranked[:k], dtype=np.int64)


def _coverage(postings: list[tuple[Rows, Frequencies]], weights: list[float], union: Positions) -> Scores:
    """The share of the question's weight that each row of `union` holds, 0..1."""
    covered = np.zeros(len(union), dtype=np.float64)
    total = sum(weights)
    for (rows, _), weight in zip(postings, weights, strict=True):
        if len(rows):
            at = np.minimum(np.searchsorted(rows, union), len(rows) - 1)
            covered += weight * (rows[at] == union)
    return np.round(covered / total, _DECIMALS) if total > 0 else covered
