"""A ledger of its own for tests that need no more of the engine."""

import pytest

from hindwise.ledger.engine import Ledger
from tests.fresh_ledger import with_tables


@pytest.fixture
async def ledger(tmp_path):
    """A migrated ledger on SQLite."""
    opened = Ledger(f"sqlite:///{with_tables(tmp_path, 'l.db')}")
    yield opened
    await opened.close()
