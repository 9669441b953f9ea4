"""Every promise of the ledger runs on every database in `params`; a new one is one more word."""

import pytest

from hindwise.ledger import spaces
from hindwise.ledger.engine import Ledger
from hindwise.ledger.intake import ReflectorId
from hindwise.ledger.migrate import migrate
from tests.build import TENANT

RULES = ReflectorId("rules", "", "1")


@pytest.fixture(params=["sqlite", "postgres"])
def ledger_url(request, tmp_path):
    """The URL of a fresh database."""
    return request.getfixturevalue("postgres_url") if request.param == "postgres" else f"sqlite:///{tmp_path / 'ledger.db'}"


@pytest.fixture
async def ledger(ledger_url):
    opened = Ledger(ledger_url)
    await migrate(opened)
    yield opened
    await opened.close()


@pytest.fixture
async def space_no(ledger):
    """The number of space user:u1."""

    def make(conn):
        return spaces.lock(conn, TENANT, ["user:u1"])["user:u1"].no

    return await ledger.write(make)
