"""Two kinds of scores become one."""

import pytest

from hindwise.recall.fusion import fuse, standardise


def test_scores_that_do_not_differ_say_nothing() -> None:
    assert list(standardise([0.1, 0.1, 0.1])) == [0, 0, 0]
    assert fuse([2.0], [0.8]) == [0.0]
    assert fuse([], []) == []


def test_what_both_routes_favour_comes_first() -> None:
    fused = fuse([5.0, 5.0, 0.0], [0.9, 0.7, 0.9])
    assert fused[0] > fused[1]
    assert fused[0] > fused[2]


def test_a_memory_without_a_vector_counts_as_the_most_distant_and_can_still_win_by_words() -> None:
    fused = fuse([9.0, 0.0, 0.0, 0.0, 0.0, 0.0], [None, 0.80, 0.81, 0.80, 0.81, 0.80])
    assert fused[0] > min(fused[1:])


def test_without_vectors_words_decide() -> None:
    assert fuse([1.0, 3.0], [None, None]) == pytest.approx([-1.0, 1.0])
