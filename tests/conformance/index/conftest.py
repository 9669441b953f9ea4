"""Every promise of an index is kept by every index: a new one is one more name in `params` and one more branch below."""

import secrets
from collections.abc import Awaitable, Callable

import pytest

from hindwise.index import factory
from hindwise.index.base import Index
from hindwise.settings import Settings
from tests.conformance.index.reference import DIM

Opener = Callable[..., Awaitable[Index]]


@pytest.fixture(params=["embedded", "weaviate"])
async def open_index(request, tmp_path) -> Opener:
    """Opens the store; opened twice, the two share what is stored, as two processes would. All are closed in the end."""
    opened: list[Index] = []
    more = request.getfixturevalue("weaviate_server").env() if request.param == "weaviate" else {}
    secret = secrets.token_bytes(16)  # names the collection: each test has its own

    async def open_one(dim: int = DIM, cache_mb: int = 64) -> Index:
        # A loaded test machine is no failure: how long a question may take is tested elsewhere.
        settings = Settings(_env_file=None, data=tmp_path, index_timeout_s=20, **more).model_copy(update={"index_cache_mb": cache_mb})
        index = await factory.open_index(settings, request.param, 1, dim, secret)
        opened.append(index)
        return index

    yield open_one
    for index in opened:
        await index.close()
    if request.param == "weaviate":
        await factory.remove_index(Settings(_env_file=None, **more), "weaviate", 1, secret)


@pytest.fixture
async def index(open_index) -> Index:
    return await open_index()
