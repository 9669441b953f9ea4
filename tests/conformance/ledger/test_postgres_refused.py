"""A Postgres that cannot be used as it is: told at the start, in words that say what to do, and never when the first Chinese word comes."""

import os
from collections.abc import Iterator

import pytest
from sqlalchemy.engine import make_url

from hindwise.errors import InvalidInput, LedgerUnavailable
from hindwise.ledger.databases import make_engine
from hindwise.ledger.engine import Ledger
from hindwise.ledger.migrate import migrate


async def _start(url: str) -> str:
    """What the first steps of a start say."""
    ledger = Ledger(url)
    try:
        with pytest.raises((InvalidInput, LedgerUnavailable)) as error:
            await migrate(ledger)
    finally:
        await ledger.close()
    return f"{error.type.__name__}: {error.value}"


def _with(url: str, **query: str) -> str:
    return make_url(url).update_query_dict(query).render_as_string(hide_password=False)


@pytest.fixture(params=["LATIN1", "SQL_ASCII"])
def narrow_url(request, postgres_server) -> Iterator[str]:
    """The URL of a database that has no room for every character."""
    name = f"hindwise_test_{os.getpid()}_{request.param.lower()}"
    postgres_server.databases.run(f"CREATE DATABASE \"{name}\" ENCODING '{request.param}' LOCALE 'C' TEMPLATE template0")
    url = postgres_server.databases.url_of(name)
    yield url
    postgres_server.databases.drop(url)


@pytest.fixture
def stranger(postgres_server) -> Iterator[str]:
    """A user who owns nothing, as whoever is made beside a database of another one."""
    name = f"hindwise_test_{os.getpid()}_stranger"
    postgres_server.databases.run(f'CREATE ROLE "{name}" LOGIN')
    yield name
    postgres_server.databases.run(f'DROP ROLE "{name}"')


async def test_a_database_that_cannot_hold_chinese_is_refused_before_anything_is_kept(narrow_url: str) -> None:
    told = await _start(narrow_url)
    assert told.startswith("InvalidInput")
    assert "ENCODING 'UTF8'" in told


async def test_what_the_environment_says_of_encodings_changes_no_word(postgres_url: str, monkeypatch) -> None:
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    engine = make_engine(postgres_url)
    with engine.connect() as conn:
        assert conn.exec_driver_sql("SELECT '喜欢靠窗 😀 喜歡'").scalar_one() == "喜欢靠窗 😀 喜歡"
    engine.dispose()


async def test_a_user_who_may_not_make_tables_is_told_what_it_needs(empty_postgres_url: str, stranger: str) -> None:
    told = await _start(make_url(empty_postgres_url).set(username=stranger).render_as_string(hide_password=False))
    assert "GRANT USAGE, CREATE ON SCHEMA public" in told


@pytest.mark.parametrize(
    ("change", "words"),
    [("default_transaction_read_only = on", "takes no writes"), ("search_path = 'nowhere'", "names no schema that exists")],
)
async def test_a_database_set_up_against_us_says_which_setting(postgres_server, empty_postgres_url: str, change: str, words: str) -> None:
    postgres_server.databases.run(f'ALTER DATABASE "{make_url(empty_postgres_url).database}" SET {change}')
    assert words in await _start(empty_postgres_url)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"no_such_option": "1"}, 'invalid connection option "no_such_option"'),
        ({"connect_timeout": "soon"}, "connect_timeout"),
        ({"sslmode": "bogus"}, "the sslmode in its URL is none"),
        ({"sslmode": "require"}, "does not speak TLS"),
    ],
)
async def test_an_option_of_the_url_that_cannot_be_meant_is_named(postgres_url: str, query: dict[str, str], words: str) -> None:
    told = await _start(_with(postgres_url, **query))
    assert words in told
    assert "Error:" not in told.partition(" ")[2]


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:"])
def test_a_ledger_that_nothing_would_be_kept_in_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput, match="names no file"):
        make_engine(url)
