"""A ledger of its own for tests that need no more of the engine."""

import pytest

from hindwise.ledger.engine import Ledger
from hindwise.ledger.migrate import migrate


@pytest.fixture
async def ledger(tmp_path):
    """A migrated ledger on SQLite."""
    opened = Ledger(f"sqlite:///{tmp_path / 'l.db'}")
    await migrate(opened)
    yield opened
    await opened.close()
