"""The statements of a recall on Postgres: told to libpq itself they give what SQLAlchemy gives, whatever happens to the connection."""

import asyncio
import os
import socket
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from sqlalchemy import Connection, text

from hindwise.engine import Engine
from hindwise.ledger import embeddings
from hindwise.ledger.prepared import Prepared
from hindwise.model.memory import Draft, Kind
from hindwise.recall import queries, standing
from hindwise.recall import survey as surveys
from hindwise.recall.recall import Recaller
from hindwise.recall.survey import _SURVEY, survey
from tests.engine.recall import pinned
from tests.engine.recall.helpers import fact, keep

MODULES = (queries, standing, surveys, embeddings)
PREPARED = {f"{module.__name__}.{name}": one for module in MODULES for name, one in vars(module).items() if isinstance(one, Prepared)}
PREPARED["newest"] = queries._newest(2)


pytestmark = pytest.mark.parametrize("running", ["postgres+weaviate"], indirect=True)


@pytest.fixture
def engine(running: tuple[Engine, Recaller]) -> Engine:
    return running[0]


def _values(statement: Prepared, spaces: list[int], hashes: list[str]) -> dict[str, Any]:
    ids = [pinned.memory_id(f"many {number}") for number in range(40)]
    given = {
        "tenant": "default",
        "names": ["user:a", "agent:x", "user:没有"],
        "ids": ids,
        "vectors": ids[::2],
        "spaces": spaces,
        "slots": ["a", "座位"],
        "count": 9,
    }
    given |= {"model": "hashed-64", "hashes": hashes, "space_0": spaces[0], "space_1": spaces[1]}
    wanted = {bind.key for bind in statement.statement.compile().bind_names if bind.required}
    return {name: value for name, value in given.items() if name in wanted}


async def test_they_give_what_sqlalchemy_gives_first_and_prepared(engine: Engine) -> None:
    await pinned.fill(engine)

    def compare(conn: Connection) -> int:
        told = 0
        spaces = list(conn.execute(text("SELECT no FROM spaces ORDER BY no")).scalars())
        hashes = list(conn.execute(text("SELECT text_hash FROM memories ORDER BY id LIMIT 20")).scalars())
        for name, statement in PREPARED.items():
            values = _values(statement, spaces, hashes)
            theirs = sorted(map(repr, map(tuple, conn.execute(statement.statement, values))))
            for _ in range(2):
                assert sorted(map(repr, statement.rows(conn, values))) == theirs, name
                with statement.sent(conn, values) as take:
                    assert sorted(map(repr, take())) == theirs, name
            told += len(theirs)
        return told

    assert await engine.ledger.read(compare) > 120


async def test_standing_items_come_once_with_the_rows_in_the_order_of_weight(engine: Engine) -> None:
    orders = [
        fact(words, kind=Kind.INSTRUCTION, attribute=words, value=words, importance=weight)
        for words, weight in (("Answer in metric units", 4), ("回答要简短", 9), ("Say the date first", 7))
    ]
    told = await keep(engine, "user:a", *orders, fact("The boat is called Swift"))
    known = await engine.ledger.read(lambda conn: survey(conn, "default", ["user:a"]))
    [number] = known.numbers.values()
    assert sorted(known.standing) == sorted(told[:3])

    async def read(spaces: list[int], ids: list[str], stood: Sequence[str]) -> queries.Read:
        return await engine.ledger.read(lambda conn: queries.rows_and_standing(conn, spaces, ids, stood))

    rows, stands, _ = await read([number], [told[0], told[3], "nobody"], known.standing)
    assert sorted(row.id for row in rows) == sorted([told[0], told[3]])
    assert [row.conclusion for row in stands] == ["回答要简短", "Say the date first", "Answer in metric units"]
    assert (await read([number], [], known.standing)).standing == stands
    assert (await read([number], [], [*known.standing, told[3]])).standing == stands, "another one is asked for again"
    assert await read([], [told[0]], known.standing) == ([], [], {})
    assert (await read([number], [told[0]], ())).standing == []


async def test_what_stands_is_told_though_it_changes_twice_while_it_is_read(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def style(value: str) -> Draft:
        return fact(f"Prefers {value} answers", kind=Kind.PREFERENCE, subject="user", attribute="回答风格", value=value)

    await keep(engine, "user:a", style("concise"))
    known = await engine.ledger.read(lambda conn: survey(conn, "default", ["user:a"]))
    await keep(engine, "user:a", style("详细"))
    loop, ask_again, left = asyncio.get_running_loop(), queries.standing_ids, ["in verse"]

    def then_changed(conn: Connection, space_nos: Sequence[int]) -> tuple[str, ...]:
        found = ask_again(conn, space_nos)
        while left:
            asyncio.run_coroutine_threadsafe(keep(engine, "user:a", style(left.pop())), loop).result(20)
        return found

    monkeypatch.setattr(queries, "standing_ids", then_changed)
    numbers = list(known.numbers.values())
    read = await engine.ledger.read(lambda conn: queries.rows_and_standing(conn, numbers, [], known.standing))
    assert [row.conclusion for row in read.standing] == ["Prefers in verse answers"]


async def test_a_server_that_forgot_a_statement_is_told_it_again(engine: Engine) -> None:
    await keep(engine, "user:a", fact("船叫海燕: the boat is called Petrel"))

    def ask(conn: Connection) -> int:
        found = survey(conn, "default", ["user:a"])
        assert len(found.unapplied) == 1
        conn.execute(text("DEALLOCATE ALL"))
        assert survey(conn, "default", ["user:a"]) == found
        conn.execute(text("DEALLOCATE ALL"))
        with _SURVEY.sent(conn, {"tenant": "default", "names": ["user:a"]}) as take:
            assert [name for name, *_ in take()] == ["user:a"]
        return len(found.numbers)

    for _ in range(2):
        assert await engine.ledger.read(ask) == 1


async def test_a_connection_that_the_server_ended_is_replaced(engine: Engine) -> None:
    await keep(engine, "user:a", fact("The boat is called Swift"))
    others = text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
    for _ in range(2):
        assert len((await engine.ledger.read(lambda conn: survey(conn, "default", ["user:a"]))).numbers) == 1
        await engine.ledger.write(lambda conn: conn.execute(others))


async def test_what_was_sent_and_not_taken_leaves_the_connection_as_it_was(engine: Engine) -> None:
    await keep(engine, "user:a", fact("The boat is called Swift"))
    asked = {"tenant": "default", "names": ["user:a"]}

    def ask(conn: Connection) -> int:
        _SURVEY.rows(conn, asked)
        with pytest.raises(ZeroDivisionError), _SURVEY.sent(conn, asked):
            1 / 0  # noqa: B018
        with _SURVEY.sent(conn, asked):
            pass
        return len(_SURVEY.rows(conn, asked))

    assert await engine.ledger.read(ask) == 1


def _shut(conn: Connection) -> None:
    with socket.socket(fileno=os.dup(conn.connection.driver_connection.pgconn.socket)) as same:
        same.shutdown(socket.SHUT_RDWR)


def _terminated(conn: Connection) -> None:
    with conn.engine.connect() as other:
        other.execute(text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": conn.connection.driver_connection.info.backend_pid})


@pytest.mark.parametrize("ended", [_shut, _terminated])
async def test_a_connection_that_ends_between_sending_and_taking_is_replaced(engine: Engine, ended: Callable[[Connection], None]) -> None:
    await keep(engine, "user:a", fact("The boat is called Swift"))
    asked = {"tenant": "default", "names": ["user:a"]}
    tries: list[int] = []

    def ask(conn: Connection) -> int:
        _SURVEY.rows(conn, asked)
        with _SURVEY.sent(conn, asked) as take:
            if not tries:
                tries.append(1)
                ended(conn)
            return len(take())

    assert await engine.ledger.read(ask) == 1
    assert tries


async def test_a_unit_that_writes_sees_what_it_wrote(engine: Engine) -> None:
    """There the driver keeps an account of the transaction, which what is told to libpq would pass by."""

    def write(conn: Connection) -> int:
        before = survey(conn, "default", ["user:new"])
        conn.execute(
            text('INSERT INTO spaces SELECT (jsonb_populate_record(s, \'{"no": 77, "name": "user:new"}\')).* FROM spaces s LIMIT 1')
        )
        after = survey(conn, "default", ["user:new"])
        conn.rollback()
        return len(after.numbers) - len(before.numbers)

    await keep(engine, "user:a", fact("The boat is called Swift"))
    assert await engine.ledger.write(write) == 1
    assert (await engine.ledger.read(lambda conn: survey(conn, "default", ["user:new"]))).numbers == {}
