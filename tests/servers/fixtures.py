"""Fixtures for servers: one of each per test process, a fresh database per test. What is missing is left out visibly; CI fails instead."""

import os
from collections.abc import Callable, Iterator

import pytest

from hindwise.ledger.schema import metadata
from tests.fresh_ledger import migrate_at, with_tables
from tests.servers import places, rows
from tests.servers.postgres import NamedPostgres, Postgres, open_postgres
from tests.servers.weaviate import NamedWeaviate, Weaviate, open_weaviate


def or_left_out(open_server: Callable[[], object]) -> object:
    """`open_server()`; where it is missing the test is skipped with the way to get it, and in CI fails."""
    try:
        return open_server()
    except places.Missing as error:
        if os.environ.get("CI"):
            pytest.fail(f"{error} (CI needs every server)", pytrace=False)
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Postgres | NamedPostgres]:
    """A running PostgreSQL: `.url` and `.databases`."""
    server = or_left_out(open_postgres)
    yield server
    server.close()


@pytest.fixture
def empty_postgres_url(postgres_server) -> Iterator[str]:
    """The URL of a fresh, empty database."""
    url = postgres_server.databases.new()
    yield url
    postgres_server.databases.drop(url)


@pytest.fixture(scope="session")
def migrated_template(postgres_server) -> str:
    """The name of a migrated database to copy."""
    return postgres_server.databases.template("migrated", migrate_at)


@pytest.fixture(scope="session")
def _free_databases() -> list[str]:
    """Migrated databases that hold nothing."""
    return []


@pytest.fixture
def postgres_url(postgres_server, migrated_template, _free_databases) -> Iterator[str]:
    """The URL of a database with today's tables and nothing in them. Whoever changes tables takes `empty_postgres_url`."""
    url = _free_databases.pop() if _free_databases else postgres_server.databases.new(migrated_template)
    yield url
    postgres_server.databases.wiped(url, [table.name for table in reversed(metadata.sorted_tables)])
    _free_databases.append(url)


@pytest.fixture
def sqlite_url(tmp_path) -> str:
    """The URL of a file with today's tables and nothing in them."""
    return f"sqlite:///{with_tables(tmp_path)}"


@pytest.fixture(params=["sqlite", "postgres"])
def ledger_url(request) -> str:
    """A fresh database of each kind, with today's tables: the test runs on both."""
    return request.getfixturevalue(f"{request.param}_url")


@pytest.fixture
def own_postgres() -> Iterator[Postgres]:
    """A PostgreSQL that this test may kill and start again, not started yet."""
    server = or_left_out(Postgres)
    yield server
    server.close()


@pytest.fixture(scope="session")
def weaviate_server() -> Iterator[Weaviate | NamedWeaviate]:
    """A running Weaviate: `.url`, `.grpc_url`, `.api_key`, `.env()`."""
    server = or_left_out(open_weaviate)
    yield server
    server.close()


@pytest.fixture
def own_weaviate() -> Iterator[Weaviate]:
    """A Weaviate that this test may kill and start again, not started yet."""
    server = or_left_out(Weaviate)
    yield server
    server.close()


def pytest_terminal_summary(terminalreporter) -> None:
    """Time of each row, and what was left out."""
    rows.tell(terminalreporter)
