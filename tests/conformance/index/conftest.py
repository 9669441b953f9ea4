"""Every promise of an index is kept by every index: a new one is one more name in `params` and one more branch below."""

from collections.abc import Awaitable, Callable

import pytest

from hindwise.index.base import Index
from hindwise.index.embedded import FILE_NAME, open_embedded
from tests.conformance.index.reference import DIM

Opener = Callable[..., Awaitable[Index]]


@pytest.fixture(params=["embedded"])
async def open_index(request, tmp_path) -> Opener:
    """Opens the store; opened twice, the two share what is stored, as two processes would. All are closed in the end."""
    opened: list[Index] = []

    async def open_one(dim: int = DIM, cache_mb: int = 64) -> Index:
        assert request.param == "embedded"
        index = open_embedded(tmp_path / FILE_NAME.format(generation=1), dim=dim, cache_mb=cache_mb)
        opened.append(index)
        return index

    yield open_one
    for index in opened:
        await index.close()


@pytest.fixture
async def index(open_index) -> Index:
    return await open_index()
