"""Dropping a space removes all of it, for everyone, for good; the space can be used again."""

from hindwise.index.base import Filters
from tests.conformance.index.reference import make_item, unit


async def test_a_dropped_space_is_gone_for_another_opener_too(open_index):
    one, other = await open_index(), await open_index()
    await one.upsert([make_item("m1"), make_item("m2")])
    assert len(await other.candidates("user:a", ["cancel"], unit(1), Filters())) == 2
    await one.drop("user:a")
    assert await other.candidates("user:a", ["cancel"], unit(1), Filters()) == []


async def test_a_space_filled_again_after_a_drop_holds_only_the_new(open_index):
    """As many changes and items as before: a cache that counted alone would show the dropped ones."""
    one, other = await open_index(), await open_index()
    await one.upsert([make_item("m1", "cancel")])
    assert [c.memory_id for c in await other.candidates("user:a", ["cancel"], None, Filters())] == ["m1"]
    await one.drop("user:a")
    await one.upsert([make_item("m2", "cancel")])
    for opener in (one, other):
        assert [c.memory_id for c in await opener.candidates("user:a", ["cancel"], None, Filters())] == ["m2"]
        assert await opener.ids("user:a") == {"m2"}
