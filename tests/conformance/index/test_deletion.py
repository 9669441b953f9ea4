"""A deleted item is gone for the next question, of this opener and of every other."""

from hindwise.index.base import Filters
from tests.conformance.index.reference import assert_same, make_item, naive, random_items, unit


async def test_a_deletion_is_seen_by_the_next_question(index):
    await index.upsert([make_item("m1"), make_item("m2")])
    assert len(await index.candidates("user:a", ["cancel"], unit(1), Filters())) == 2
    await index.delete("user:a", ["m1"])
    assert [c.memory_id for c in await index.candidates("user:a", ["cancel"], unit(1), Filters())] == ["m2"]


async def test_a_deletion_is_seen_by_another_opener(open_index):
    one, other = await open_index(), await open_index()
    await one.upsert([make_item("m1"), make_item("m2")])
    assert len(await other.candidates("user:a", ["cancel"], None, Filters())) == 2
    await one.delete("user:a", ["m2"])
    assert [c.memory_id for c in await other.candidates("user:a", ["cancel"], None, Filters())] == ["m1"]


async def test_scores_after_deletions_are_those_of_an_index_that_never_held_them(index):
    items = random_items(300)
    await index.upsert(items)
    query = ["w3", "w17", "w40"]
    assert_same(await index.candidates("user:a", query, unit(5), Filters()), naive(items, query, unit(5)))
    gone = {item.memory_id for item in items[::3]}
    await index.delete("user:a", sorted(gone))
    left = [item for item in items if item.memory_id not in gone]
    assert_same(await index.candidates("user:a", query, unit(5), Filters()), naive(left, query, unit(5)))


async def test_many_small_changes_between_questions_keep_all_scores_right(open_index):
    """One opener writes, deletes and replaces; another one asks now and then, so that it catches up from far behind and from near."""
    writer, reader = await open_index(), await open_index()
    live = {item.memory_id: item for item in random_items(120)}
    await writer.upsert(list(live.values()))
    newer = random_items(120, seed=8)
    for step, item in enumerate(newer):
        victim = sorted(live)[step * 7 % len(live)]
        live[item.memory_id] = item
        await writer.upsert([item])
        if step % 3 == 0 and victim in live:
            del live[victim]
            await writer.delete("user:a", [victim])
        if step % 10 == 0 or step > 110:
            query = [f"w{step % 50}", "w9", "w60"]
            assert_same(await reader.candidates("user:a", query, unit(step), Filters()), naive(list(live.values()), query, unit(step)))
    assert await reader.ids("user:a") == set(live)
