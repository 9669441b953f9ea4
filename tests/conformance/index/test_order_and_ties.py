"""Equal questions give equal lists: ordered by id, and of equal scores at the edge of a pool the lower id stays."""

import numpy as np
import pytest

from hindwise.embed.precision import as_kept
from hindwise.index.base import Filters
from tests.conformance.index.reference import DIM, assert_same, make_item, naive, random_items, unit


async def test_the_answer_is_ordered_by_id(index):
    await index.upsert([make_item(i) for i in ("m3", "m1", "m2")])
    assert [c.memory_id for c in await index.candidates("user:a", ["cancel"], unit(1), Filters())] == ["m1", "m2", "m3"]


async def test_of_equal_scores_the_lower_ids_stay(index):
    same = unit(1)
    await index.upsert([make_item(f"m{i:02d}", "cancel", vector=same) for i in reversed(range(30))])
    by_words = await index.candidates("user:a", ["cancel"], None, Filters(), k=5)
    assert [c.memory_id for c in by_words] == [f"m{i:02d}" for i in range(5)]
    by_meaning = await index.candidates("user:a", [], same, Filters(), k=5)
    assert [c.memory_id for c in by_meaning] == [f"m{i:02d}" for i in range(5)]


async def test_the_order_of_writing_does_not_matter(open_index, index):
    items = random_items(80)
    await index.upsert(items)
    first = await index.candidates("user:a", ["w3", "w12"], unit(4), Filters(), k=10)
    await index.drop("user:a")
    for item in reversed(items):
        await index.upsert([item])
    assert await index.candidates("user:a", ["w3", "w12"], unit(4), Filters(), k=10) == first


async def test_neighbours_nearer_to_each_other_than_half_precision_tells_keep_one_order(index):
    """Moving from one index to the other must not change an answer: both rank by the very numbers that are kept."""
    question, sideways = unit(1), np.random.default_rng(5).standard_normal((60, DIM)).astype(np.float32)
    near = question + 0.02 * sideways
    near = as_kept(near / np.linalg.norm(near, axis=1, keepdims=True))
    items = [make_item(f"m{at:02d}", "cancel", vector=one) for at, one in enumerate(near)]
    await index.upsert(items)
    for k in (3, 10, 30):
        assert_same(await index.candidates("user:a", [], question, Filters(), k=k), naive(items, [], question, k=k))


@pytest.mark.parametrize("k", [1, 7, 50, 200])
@pytest.mark.parametrize("count", [5, 39, 40, 400])
async def test_both_pools_hold_exactly_the_best(index, count, k):
    items = random_items(count)
    await index.upsert(items)
    for query in (["w0"], ["w0", "w1", "w9"], ["w5", "w30", "w30", "unknown"], ["unknown"], []):
        assert_same(await index.candidates("user:a", query, unit(11), Filters(), k=k), naive(items, query, unit(11), k=k))
        lessons = Filters(kinds=frozenset({"lesson"}))
        assert_same(
            await index.candidates("user:a", query, unit(12), lessons, k=k), naive(items, query, unit(12), kinds=lessons.kinds, k=k)
        )


async def test_a_word_in_more_than_a_quarter_is_left_out_where_another_finds_something(index):
    items = [make_item(f"m{i:03d}", "flight common" if i % 2 else "other", vector=None) for i in range(100)]
    items += [make_item("m-rare", "rare", vector=None)]
    await index.upsert(items)
    assert [c.memory_id for c in await index.candidates("user:a", ["common", "rare"], None, Filters())] == ["m-rare"]
    assert len(await index.candidates("user:a", ["common", "unknown"], None, Filters())) == 50


async def test_coverage_counts_unknown_words_as_the_rarest(index):
    await index.upsert([make_item(f"m{i}", "cancel booking" if i else "cancel refund", vector=None) for i in range(10)])
    [one] = await index.candidates("user:a", ["refund"], None, Filters())
    [half] = await index.candidates("user:a", ["refund", "zebra"], None, Filters())
    assert one.coverage == 1.0
    assert 0.3 < half.coverage < 0.5
