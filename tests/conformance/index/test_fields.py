"""What was written is found, by words and by meaning, with all that the contract says of it."""

import numpy as np
import pytest

from hindwise.index.base import Filters
from tests.conformance.index.reference import kept, make_item, unit

ACROSS = float(kept(1) @ unit(2)) / float(np.linalg.norm(kept(1)))
"""The cosine of two directions."""


async def test_an_item_is_found_by_its_words(index):
    await index.upsert([make_item("m1", "cancel the reservation"), make_item("m2", "book a flight")])
    [found] = await index.candidates("user:a", ["cancel"], None, Filters())
    assert (found.memory_id, found.cosine, found.coverage) == ("m1", None, 1.0)
    assert found.lexical > 0


async def test_an_item_is_found_by_its_meaning_alone(index):
    await index.upsert([make_item("m1", vector=kept(1)), make_item("m2", vector=kept(2))])
    found = {c.memory_id: c for c in await index.candidates("user:a", [], unit(2), Filters())}
    assert found["m2"].cosine == pytest.approx(1.0, abs=2e-6)
    assert found["m1"].cosine == pytest.approx(ACROSS, abs=2e-6)
    assert (found["m2"].lexical, found["m2"].coverage) == (0.0, 0.0)


async def test_an_item_without_a_vector_has_no_cosine_and_is_still_found_by_words(index):
    await index.upsert([make_item("m1", vector=None), make_item("m2", "other words", vector=kept(2))])
    found = {c.memory_id: c.cosine for c in await index.candidates("user:a", ["cancel"], unit(2), Filters())}
    assert found["m1"] is None
    assert found["m2"] == pytest.approx(1.0, abs=2e-6)


async def test_a_member_of_one_pool_has_the_cosine_of_the_other(index):
    """A find by words alone, far from the 1 nearest by meaning, still tells its exact cosine."""
    await index.upsert([make_item("m1", "cancel", vector=kept(1)), make_item("m2", "other", vector=kept(2))])
    found = {c.memory_id: c for c in await index.candidates("user:a", ["cancel"], unit(2), Filters(), k=1)}
    assert found["m1"].cosine == pytest.approx(ACROSS, abs=2e-6)
    assert found["m2"].lexical == 0.0


async def test_only_the_wanted_kinds_are_found_in_both_pools(index):
    await index.upsert([make_item("m1", kind="fact"), make_item("m2", kind="lesson"), make_item("m3", kind="event")])
    found = await index.candidates("user:a", ["cancel"], unit(1), Filters(kinds=frozenset({"lesson", "event"})))
    assert [c.memory_id for c in found] == ["m2", "m3"]
    assert await index.candidates("user:a", ["cancel"], unit(1), Filters(kinds=frozenset({"snippet"}))) == []


async def test_an_item_without_words_is_found_by_meaning(index):
    await index.upsert([make_item("m1", "", vector=kept(1))])
    [found] = await index.candidates("user:a", ["cancel"], unit(1), Filters())
    assert (found.memory_id, found.lexical) == ("m1", 0.0)


async def test_the_callers_vector_is_not_changed(index):
    vector = unit(1)
    await index.upsert([make_item("m1", vector=vector)])
    await index.candidates("user:a", ["cancel"], vector, Filters())
    assert np.array_equal(vector, unit(1))


async def test_health_answers(index):
    await index.health()
