"""A thousand items, written at once and one by one: all are there, and the best are the best."""

import asyncio

from hindwise.index.base import Filters
from tests.conformance.index.reference import assert_same, naive, random_items, unit


async def test_a_thousand_items_are_all_there(index):
    items = random_items(1_000)
    await index.upsert(items)
    assert await index.ids("user:a") == {item.memory_id for item in items}
    for seed in range(10):
        query = [f"w{seed * 13 % 150}", f"w{seed * 29 % 150}", "w2"]
        assert_same(await index.candidates("user:a", query, unit(seed), Filters()), naive(items, query, unit(seed)))


async def test_each_of_many_single_writes_is_seen_by_the_next_question(index):
    for item in random_items(200):
        await index.upsert([item])
        found = await index.candidates("user:a", [], item.vector, Filters(), k=1)
        assert [c.memory_id for c in found] == [item.memory_id]


async def test_questions_and_writes_at_once_do_not_disturb_each_other(index):
    items = random_items(400)
    await index.upsert(items[:100])

    async def ask(seed):
        found = await index.candidates("user:a", ["w3", "w8"], unit(seed), Filters(), k=20)
        assert 20 <= len(found) <= 40
        assert [c.memory_id for c in found] == sorted(c.memory_id for c in found)

    await asyncio.gather(*(index.upsert([item]) for item in items[100:]), *(ask(seed) for seed in range(100)))
    assert_same(await index.candidates("user:a", ["w3"], unit(1), Filters()), naive(items, ["w3"], unit(1)))
