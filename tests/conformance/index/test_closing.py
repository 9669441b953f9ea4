"""Closing ends what was held, can be said twice, and what was written stays."""

import pytest

from hindwise.errors import IndexUnavailable
from hindwise.index.base import Filters
from tests.conformance.index.reference import make_item


async def test_what_was_written_is_there_after_opening_again(open_index):
    one = await open_index()
    await one.upsert([make_item("m1")])
    await one.close()
    await one.close()
    other = await open_index()
    assert [c.memory_id for c in await other.candidates("user:a", ["cancel"], None, Filters())] == ["m1"]


async def test_a_closed_index_says_so(index):
    await index.close()
    with pytest.raises(IndexUnavailable):
        await index.ids("user:a")
