"""One front per test, on a fresh data directory."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.api.front import Front, open_front


@pytest.fixture
async def front(tmp_path: Path) -> AsyncIterator[Front]:
    """An application with an empty ledger."""
    async with open_front(tmp_path) as opened:
        yield opened
