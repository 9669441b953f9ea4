"""A whole engine on a fresh directory: real ledger, real embedded index. Nothing dispatches the outbox unless a test does."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hindwise.embed.base import Embedder
from hindwise.engine import Engine, open_engine
from hindwise.index.factory import remove_index
from hindwise.ledger import generations
from hindwise.recall.recall import Recaller
from hindwise.settings import Settings
from hindwise.testing import FixedClock, HashedEmbedder
from tests.fresh_ledger import with_tables


@asynccontextmanager
async def opened(path: Path, embedder: Embedder | None = None, **settings: object) -> AsyncIterator[tuple[Engine, Recaller]]:
    """An engine and its recaller; `embedder`: HashedEmbedder unless named. The clock stands at 2026-05-01."""
    values = {"data": path, "index_cache_mb": 64, **settings}
    if "database_url" not in settings:
        with_tables(path)
    async with open_engine(Settings(_env_file=None, **values), FixedClock(), embedder or HashedEmbedder()) as engine:  # type: ignore[arg-type,call-arg]
        recaller = Recaller(engine)
        try:
            yield engine, recaller
        finally:
            await recaller.close()


@pytest.fixture
def open_at() -> Callable[..., object]:
    """The opener, for tests that choose an embedder or settings."""
    return opened


_EVERYWHERE = {"test_asked_ahead", "test_isolation", "test_last_word", "test_write_then_read"}
"""Their promises are asked of every set-up; the other modules ask the embedded one."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Ask the promises of those modules of both set-ups."""
    if "running" in metafunc.fixturenames and metafunc.module.__name__.rpartition(".")[2] in _EVERYWHERE:
        metafunc.parametrize("running", ["sqlite+embedded", "postgres+weaviate"], indirect=True)


@pytest.fixture
async def running(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Engine, Recaller]]:
    """An engine with hashed vectors, and its recaller."""
    settings: dict[str, object] = {}
    if getattr(request, "param", "") == "postgres+weaviate":
        server = request.getfixturevalue("weaviate_server")
        # A loaded test machine is no failure: how long a question may take is tested elsewhere.
        settings = {"database_url": request.getfixturevalue("postgres_url"), "index": "weaviate", "index_timeout_s": 20, **server.env()}
    async with opened(tmp_path, **settings) as pair:
        yield pair
        built = await pair[0].ledger.read(generations.kept)
    if settings:
        for generation in built:
            await remove_index(pair[0].settings, generation.kind, generation.no, pair[0].secret)
