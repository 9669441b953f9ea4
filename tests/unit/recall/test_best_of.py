"""Which finds are read? The same whether an index tells how near the finds of the words are, or leaves it out."""

from hypothesis import given
from hypothesis import strategies as st

from hindwise.index.base import Candidate
from hindwise.recall.finding import best_of

PER_POOL, KEEP = 5, 6
SCORES = st.tuples(st.integers(0, 40), st.integers(-99, 99))


def union(scores: list[tuple[int, int]]) -> list[Candidate]:
    """The best of either pool, as an index gives them; no two cosines are equal."""
    every = [Candidate(f"m{at:02}", words / 4, near / 100 + at / 10_000, 0.0) for at, (words, near) in enumerate(scores)]
    by_words = [one.memory_id for one in sorted(every, key=lambda one: -one.lexical) if one.lexical][:PER_POOL]
    by_meaning = [one.memory_id for one in sorted(every, key=lambda one: -(one.cosine or 0.0))][:PER_POOL]
    found = [one for one in every if one.memory_id in {*by_words, *by_meaning}]
    return [one if one.memory_id in by_words else one._replace(lexical=0.0) for one in found]


def lean(found: list[Candidate]) -> list[Candidate]:
    """The same without the cosines of what only the words found."""
    near = sorted([one.cosine or 0.0 for one in found], reverse=True)[:PER_POOL]
    return [one if one.cosine in near else one._replace(cosine=None) for one in found]


@given(st.lists(SCORES, max_size=30))
def test_a_left_out_cosine_changes_nothing(scores: list[tuple[int, int]]) -> None:
    found = union(scores)
    assert list(best_of([found], KEEP, PER_POOL)) == list(best_of([lean(found)], KEEP, PER_POOL))


def test_what_only_the_words_found_counts_as_near_as_the_farthest_that_meaning_found() -> None:
    found = [Candidate(f"m{at}", 0.0, 0.9 - at / 10, 0.0) for at in range(PER_POOL)]
    # Far in meaning, and the only ones that hold the words.
    found += [Candidate("w0", 4.0, -0.9, 0.0), Candidate("w1", 0.5, -0.9, 0.0)]
    assert "w0" in best_of([found], PER_POOL, PER_POOL)
    assert "w1" not in best_of([found], PER_POOL, PER_POOL)
