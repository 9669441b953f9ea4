"""Fixtures for servers: one of each per test process, a fresh database per test. What is missing is left out visibly; CI fails instead."""

import os
from collections.abc import Callable, Iterator

import pytest

from hindwise.ledger.engine import make_engine
from hindwise.ledger.migrate import upgrade
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


def _migrate(url: str) -> None:
    engine = make_engine(url)
    try:
        with engine.begin() as conn:
            upgrade(conn)
    finally:
        engine.dispose()


@pytest.fixture
def empty_postgres_url(postgres_server) -> Iterator[str]:
    """The URL of a fresh, empty database."""
    url = postgres_server.databases.new()
    yield url
    postgres_server.databases.drop(url)


@pytest.fixture(scope="session")
def migrated_template(postgres_server) -> str:
    """The name of a migrated database to copy."""
    return postgres_server.databases.template("migrated", _migrate)


@pytest.fixture
def postgres_url(postgres_server, migrated_template) -> Iterator[str]:
    """The URL of a fresh database with today's tables: a copy, a few hundredths of a second."""
    url = postgres_server.databases.new(migrated_template)
    yield url
    postgres_server.databases.drop(url)


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
