"""An empty store answers every question with nothing; an emptied one too."""

from hindwise.index.base import Filters
from tests.conformance.index.reference import make_item, unit


async def test_an_empty_store_answers(index):
    await index.health()
    assert await index.candidates("user:a", ["cancel"], unit(1), Filters()) == []
    assert await index.ids("user:a") == set()
    await index.upsert([])


async def test_an_emptied_space_answers_and_takes_new_items(index):
    await index.upsert([make_item("m1")])
    await index.delete("user:a", ["m1"])
    assert await index.candidates("user:a", ["cancel"], unit(1), Filters()) == []
    await index.upsert([make_item("m2")])
    assert [c.memory_id for c in await index.candidates("user:a", ["cancel"], None, Filters())] == ["m2"]


async def test_a_question_without_words_and_vector_finds_nothing(index):
    await index.upsert([make_item("m1")])
    assert await index.candidates("user:a", [], None, Filters()) == []


async def test_words_that_nobody_wrote_find_nothing(index):
    await index.upsert([make_item("m1")])
    assert await index.candidates("user:a", ["zebra"], None, Filters()) == []
