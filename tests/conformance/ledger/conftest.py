"""Every promise of the ledger runs on every database: `ledger_url` (tests/servers/fixtures.py) gives one of each kind."""

from contextlib import AsyncExitStack

import pytest

from hindwise.ledger import spaces
from hindwise.ledger.engine import Ledger
from hindwise.ledger.intake import ReflectorId
from tests.build import TENANT

RULES = ReflectorId("rules", "", "1")
DATABASES = ("sqlite", "postgres")


@pytest.fixture(params=DATABASES)
def empty_ledger_url(request, tmp_path):
    """The URL of a database without tables."""
    return request.getfixturevalue("empty_postgres_url") if request.param == "postgres" else f"sqlite:///{tmp_path / 'new.db'}"


@pytest.fixture
async def open_ledger(ledger_url):
    """Opens the database; opened twice, the two share what is kept, as two processes would. All are closed in the end."""
    async with AsyncExitStack() as stack:

        async def open_one(**options):
            opened = Ledger(ledger_url, **options)
            stack.push_async_callback(opened.close)
            return opened

        yield open_one


@pytest.fixture
async def ledger(open_ledger):
    return await open_ledger()


@pytest.fixture
async def space_no(ledger):
    """The number of space user:u1."""

    def make(conn):
        return spaces.lock(conn, TENANT, ["user:u1"])["user:u1"].no

    return await ledger.write(make)
