"""A vector of another length is refused, and nothing of that write is kept."""

import numpy as np
import pytest

from hindwise.errors import DimensionMismatch, InvalidInput
from hindwise.index.base import Filters
from tests.conformance.index.reference import DIM, make_item, unit


async def test_a_vector_of_another_length_is_refused(index):
    with pytest.raises(DimensionMismatch, match="restart"):
        await index.upsert([make_item("m1"), make_item("m2", vector=unit(1, DIM + 1))])
    assert await index.ids("user:a") == set()
    with pytest.raises(DimensionMismatch):
        await index.candidates("user:a", ["cancel"], unit(1, DIM - 1), Filters())


async def test_a_vector_that_is_not_finite_is_refused(index):
    with pytest.raises(InvalidInput):
        await index.upsert([make_item("m1", vector=np.full(DIM, np.nan, dtype=np.float32))])


async def test_a_store_opened_for_another_length_is_refused(open_index):
    await open_index(DIM)
    with pytest.raises(DimensionMismatch, match="restart"):
        await open_index(DIM + 1)


async def test_a_store_without_vectors_finds_by_words(open_index):
    index = await open_index(0)
    await index.upsert([make_item("m1", vector=None)])
    assert [(c.memory_id, c.cosine) for c in await index.candidates("user:a", ["cancel"], None, Filters())] == [("m1", None)]
    with pytest.raises(DimensionMismatch):
        await index.upsert([make_item("m2")])
