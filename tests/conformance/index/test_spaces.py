"""Nothing crosses from one space into another: not an item, not a deletion, not a statistic."""

from hindwise.index.base import Filters
from tests.conformance.index.reference import make_item, random_items, unit


async def test_drop_leaves_other_spaces_alone(index):
    await index.upsert([make_item("m1", space="user:a"), make_item("m2", space="user:b")])
    assert await index.ids("user:a") == {"m1"}
    await index.drop("user:a")
    assert (await index.ids("user:a"), await index.ids("user:b")) == (set(), {"m2"})
    assert await index.candidates("user:a", ["cancel"], unit(1), Filters()) == []
    assert [c.memory_id for c in await index.candidates("user:b", ["cancel"], unit(1), Filters())] == ["m2"]


async def test_a_question_never_sees_another_space(index):
    await index.upsert([make_item("m1", space="user:a"), make_item("m2", space="user:b"), make_item("m3", space="user:a%")])
    for space, expected in (("user:a", "m1"), ("user:b", "m2"), ("user:a%", "m3")):
        assert [c.memory_id for c in await index.candidates(space, ["cancel"], unit(1), Filters())] == [expected]


async def test_the_same_id_in_two_spaces_is_two_items(index):
    await index.upsert([make_item("m1", "cancel", space="user:a"), make_item("m1", "refund", space="user:b")])
    await index.delete("user:a", ["m1"])
    assert await index.ids("user:a") == set()
    assert [c.memory_id for c in await index.candidates("user:b", ["refund"], None, Filters())] == ["m1"]


async def test_scores_do_not_depend_on_other_spaces(index):
    items = random_items(60, space="user:a")
    await index.upsert(items)
    before = await index.candidates("user:a", ["w5", "w20"], unit(3), Filters())
    await index.upsert(random_items(500, space="user:b", seed=9))
    assert await index.candidates("user:a", ["w5", "w20"], unit(3), Filters()) == before


async def test_many_small_spaces_share_a_small_cache(open_index):
    """More spaces than the cache holds: each is still answered from its own items."""
    index = await open_index(cache_mb=1)
    await index.upsert([make_item(f"m{i}-{j}", f"word{i} shared", space=f"user:{i}") for i in range(60) for j in range(80)])
    for _ in range(2):
        for i in range(60):
            found = await index.candidates(f"user:{i}", ["shared"], unit(i), Filters(), k=100)
            assert {c.memory_id for c in found} == {f"m{i}-{j}" for j in range(80)}
