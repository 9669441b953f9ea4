"""Ids and spaces that are not there are no error."""

from hindwise.index.base import Filters
from tests.conformance.index.reference import make_item, unit


async def test_deleting_an_unknown_id_is_fine(index):
    await index.upsert([make_item("m1")])
    await index.delete("user:a", ["nobody", "m1", "m1"])
    assert await index.ids("user:a") == set()
    await index.delete("user:a", ["m1"])
    await index.delete("user:a", [])


async def test_an_unknown_space_gives_nothing(index):
    await index.delete("user:nobody", ["m1"])
    await index.drop("user:nobody")
    assert await index.ids("user:nobody") == set()
    assert await index.candidates("user:nobody", ["cancel"], unit(1), Filters()) == []
