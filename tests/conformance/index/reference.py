"""What an index must find, computed the slow and obvious way; and items for the tests."""

import math
from collections import Counter

import numpy as np

from hindwise.embed.precision import as_kept
from hindwise.index.base import Candidate, IndexItem
from hindwise.text.tokens import tokens

DIM = 64
"""Length of the vectors in these tests."""


def unit(seed: int, dim: int = DIM) -> np.ndarray:
    """A random direction, the same for the same seed."""
    vector = np.random.default_rng(seed).standard_normal(dim).astype(np.float32)
    return vector / np.linalg.norm(vector)


def kept(seed: int, dim: int = DIM) -> np.ndarray:
    """The same direction in the numbers in which vectors are kept."""
    return as_kept(unit(seed, dim))


def make_item(
    memory_id="m1", text="cancel the reservation", *, space="user:a", kind="fact", vector="own", recorded_at_ms=1_000
) -> IndexItem:
    """An item with the tokens of `text`; its vector follows from its id, unless one, or None, is given."""
    if isinstance(vector, str):
        vector = kept(sum(map(ord, memory_id)))
    return IndexItem(memory_id=memory_id, space=space, kind=kind, tokens=tuple(tokens(text)), vector=vector, recorded_at_ms=recorded_at_ms)


def random_items(count: int, *, space="user:a", seed=7, words=200) -> list[IndexItem]:
    """Documents of 3 to 30 words from a small vocabulary with a long tail, with random vectors."""
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(1, words + 1)
    share /= share.sum()
    return [
        IndexItem(
            memory_id=f"{space}-{i:05d}",
            space=space,
            kind=("fact", "lesson", "event")[i % 3],
            tokens=tuple(f"w{j}" for j in rng.choice(words, size=int(rng.integers(3, 31)), p=share)),
            vector=kept(seed * 100_000 + i),
            recorded_at_ms=i,
        )
        for i in range(count)
    ]


def naive(items: list[IndexItem], query: list[str], vector, kinds=frozenset(), k=50) -> list[Candidate]:
    """The contract of `Index.candidates`, read literally, over the items of one space."""
    terms = list(dict.fromkeys(query))
    total = len(items)
    mean = sum(len(item.tokens) for item in items) / total
    df = {term: sum(term in item.tokens for item in items) for term in terms}
    idf = {term: math.log(1 + (total - df[term] + 0.5) / (df[term] + 0.5)) for term in terms}
    known = [term for term in terms if df[term]]
    searched = known if total < 40 else [term for term in known if df[term] <= 0.25 * total] or known

    def bm25(item):
        counted = Counter(item.tokens)
        norm = 1.2 * (1 - 0.75 + 0.75 * len(item.tokens) / mean)
        return sum(idf[term] * counted[term] * 2.2 / (counted[term] + norm) for term in searched)

    wanted = [item for item in items if not kinds or item.kind in kinds]
    lexical = {item.memory_id: round(bm25(item), 6) for item in wanted}
    cosine = {
        i.memory_id: None if vector is None or i.vector is None else float(i.vector @ vector) / float(np.linalg.norm(i.vector))
        for i in wanted
    }
    by_words = sorted((i for i, score in lexical.items() if score > 0), key=lambda i: (-lexical[i], i))[:k]
    by_meaning = sorted((i for i, score in cosine.items() if score is not None), key=lambda i: (-cosine[i], i))[:k]
    coverage = {
        item.memory_id: sum(idf[term] for term in terms if term in item.tokens) / sum(idf.values()) if terms else 0.0 for item in wanted
    }
    return [Candidate(i, lexical[i] if i in by_words else 0.0, cosine[i], coverage[i]) for i in sorted({*by_words, *by_meaning})]


def assert_same(found: list[Candidate], expected: list[Candidate]) -> None:
    """Equal ids; words score alike within the server's own precision, vectors but for the last of the six digits that are told."""
    assert [c.memory_id for c in found] == [c.memory_id for c in expected]
    for got, want in zip(found, expected, strict=True):
        assert abs(got.lexical - want.lexical) < 1e-4, got
        assert abs(got.coverage - want.coverage) < 1e-4, got
        assert (got.cosine is None) == (want.cosine is None), got
        assert got.cosine is None or abs(got.cosine - want.cosine) < 2e-6, got
