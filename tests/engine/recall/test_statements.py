"""The statements of a recall: the driver asked directly gives what SQLAlchemy gives, and each is a statement to Postgres too."""

from typing import Any

import pytest
from sqlalchemy.dialects import postgresql

from hindwise.index.base import Filters, InProcessIndex
from hindwise.ledger.prepared import Prepared
from hindwise.recall import queries
from tests.engine.recall import pinned

PREPARED = {name: value for name, value in vars(queries).items() if isinstance(value, Prepared)} | {"newest": queries._newest(2)}


def _values(statement: Prepared) -> dict[str, Any]:
    ids = [pinned.memory_id(f"many {number}") for number in range(19)]
    given = {
        "tenant": "default",
        "names": ["user:a", "agent:x", "user:no"],
        "ids": ids,
        "vectors": ids[:9],
        "model": "hashed-64",
        "spaces": [1, 2],
        "slots": ["a"],
        "count": 9,
    }
    given |= {"space_0": 1, "space_1": 2}
    wanted = {bind.key for bind in statement.statement.compile().bind_names if bind.required}
    return {name: value for name, value in given.items() if name in wanted}


async def test_the_driver_gives_what_sqlalchemy_gives(running) -> None:
    engine, _ = running
    await pinned.fill(engine)
    for name, statement in PREPARED.items():
        values = _values(statement)
        mine = await engine.ledger.read(lambda conn, ask=statement, given=values: ask.rows(conn, given))
        theirs = await engine.ledger.read(lambda conn, ask=statement, given=values: list(conn.execute(ask.statement, given)))
        # Truth values are 0 and 1 to the driver: equal, though written otherwise.
        assert {tuple(row) for row in mine} == {tuple(row) for row in theirs}, name
        assert len(mine) == len(theirs), name


@pytest.mark.parametrize("name", sorted(PREPARED))
def test_each_is_a_statement_to_postgres(name: str) -> None:
    assert str(PREPARED[name].statement.compile(dialect=postgresql.dialect())).startswith("SELECT")


async def test_the_index_answers_here_what_it_answers_elsewhere(running) -> None:
    engine, _ = running
    await pinned.fill(engine)
    assert isinstance(engine.index, InProcessIndex)
    asked = ("default/user:a", ["harbour", "hotel", "港口"], None, Filters())
    elsewhere = await engine.index.candidates(*asked)
    assert any(one.coverage > 0 for one in elsewhere)
    assert engine.index.candidates_here(*asked) == [one._replace(coverage=0.0) for one in elsewhere]
