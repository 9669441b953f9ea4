"""The same write twice is one; a later write of an id replaces the earlier one."""

from hindwise.index.base import Filters
from tests.conformance.index.reference import make_item, unit


async def test_writing_an_item_twice_changes_nothing(index):
    await index.upsert([make_item("m1"), make_item("m2", "book a flight")])
    before = await index.candidates("user:a", ["cancel", "book"], unit(1), Filters())
    await index.upsert([make_item("m1"), make_item("m2", "book a flight")])
    assert await index.candidates("user:a", ["cancel", "book"], unit(1), Filters()) == before
    assert await index.ids("user:a") == {"m1", "m2"}


async def test_a_later_write_replaces_words_and_vector(index):
    await index.upsert([make_item("m1", "cancel the reservation", vector=unit(1))])
    await index.upsert([make_item("m1", "book a flight", vector=unit(2))])
    [found] = await index.candidates("user:a", ["cancel"], unit(2), Filters())
    assert found.lexical == 0.0
    assert found.cosine > 0.99
    assert [c.lexical > 0 for c in await index.candidates("user:a", ["book"], None, Filters())] == [True]


async def test_of_an_id_twice_in_one_write_the_last_one_counts(index):
    await index.upsert([make_item("m1", "cancel"), make_item("m1", "refund")])
    assert await index.candidates("user:a", ["cancel"], None, Filters()) == []
    assert [c.memory_id for c in await index.candidates("user:a", ["refund"], None, Filters())] == ["m1"]
    assert await index.ids("user:a") == {"m1"}


async def test_many_replacements_leave_one_of_each(index):
    for round_no in range(30):
        await index.upsert([make_item(f"m{i}", f"word{round_no} shared") for i in range(10)])
        found = await index.candidates("user:a", [f"word{round_no}"], None, Filters())
        assert len(found) == 10
        assert await index.candidates("user:a", [f"word{round_no - 1}"], None, Filters()) == []
    assert len(await index.ids("user:a")) == 10
