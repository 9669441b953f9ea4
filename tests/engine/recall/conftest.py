"""A whole engine on a fresh directory: real ledger, real embedded index. Nothing dispatches the outbox unless a test does."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hindwise.embed.base import Embedder
from hindwise.engine import Engine, open_engine
from hindwise.recall.recall import Recaller
from hindwise.settings import Settings
from hindwise.testing import FixedClock, HashedEmbedder


@asynccontextmanager
async def opened(path: Path, embedder: Embedder | None = None, **settings: object) -> AsyncIterator[tuple[Engine, Recaller]]:
    """An engine and its recaller; `embedder`: HashedEmbedder unless named. The clock stands at 2026-05-01."""
    values = {"data": path, "index_cache_mb": 64, **settings}
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


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[tuple[Engine, Recaller]]:
    """An engine with hashed vectors, and its recaller."""
    async with opened(tmp_path) as pair:
        yield pair
