"""The same races where the index is a server: each call takes as long as a step elsewhere, so others come in between.

A few rounds; HINDWISE_TEST_RACES_ON_WEAVIATE=200 plays as many as on files, in some minutes.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from hindwise.engine import Engine
from hindwise.index import factory
from hindwise.index.base import Index
from hindwise.ledger.engine import Ledger
from hindwise.ledger.generations import Generation
from hindwise.settings import Settings
from tests.conformance.ledger.test_erasure_races import (
    DIM,
    SECRET,
    engine_on,
    test_an_erasure_racing_a_dispatch,
    test_an_erasure_racing_a_reflection,
    test_an_erasure_racing_a_reindex,
)

__all__ = ["test_an_erasure_racing_a_dispatch", "test_an_erasure_racing_a_reflection", "test_an_erasure_racing_a_reindex"]


@pytest.fixture(params=["sqlite+weaviate", "postgres+weaviate"])
async def engine(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Engine]:
    """An engine on a database of this kind and the server; what it left on the server is removed."""
    ledger = Ledger(request.getfixturevalue(f"{request.param.partition('+')[0]}_url"))
    server = request.getfixturevalue("weaviate_server")
    settings = Settings(_env_file=None, data=tmp_path, index="weaviate", index_timeout_s=20, **server.env())
    known: set[int] = set()

    async def opener(generation: Generation) -> Index:
        known.add(generation.no)
        return await factory.open_index(settings, generation.kind, generation.no, DIM, SECRET)

    async with AsyncExitStack() as stack:
        stack.push_async_callback(ledger.close)
        yield await stack.enter_async_context(engine_on(ledger, settings, opener))
    for number in known:
        await factory.remove_index(settings, "weaviate", number, SECRET)
