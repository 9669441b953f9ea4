"""A direct statement tells what SQLAlchemy would tell, on every database."""

from datetime import UTC, datetime

import pytest
from sqlalchemy import bindparam, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from hindwise.ledger.databases import insert_new
from hindwise.ledger.direct import Direct
from hindwise.ledger.schema import memory_links, outbox, recalls

_NOW = datetime(2026, 3, 4, 5, 6, 7, 89, tzinfo=UTC)
_LINK = {"from_id": "甲", "to_id": "b", "kind": "precedes", "reason": "因为 because", "at": _NOW}
_FROM = select(memory_links).where(memory_links.c.from_id.in_(bindparam("ids", expanding=True))).order_by(memory_links.c.to_id)


async def test_rows_come_back_with_their_types_as_sqlalchemy_gives_them(ledger):
    def ask(conn):
        Direct(insert(memory_links)).run(conn, _LINK)
        asked = {"ids": ["甲", "nobody"]}
        return Direct(_FROM).rows(conn, asked), list(conn.execute(_FROM, asked))

    direct, usual = await ledger.write(ask)

    assert [tuple(row) for row in direct] == [tuple(row) for row in usual]
    assert direct[0].at == _NOW and direct[0].reason == "因为 because"


async def test_json_and_truth_values_survive_both_ways(ledger):
    row = {"id": "r", "tenant_id": "t", "user_id": "u", "session_id": "", "run_id": "", "query": "q", "at": _NOW}
    columns = {column.key for column in recalls.columns}
    given = {name: value for name, value in row.items() if name in columns} | {"memory_ids": ["m1", "记忆"]}
    given |= {column.key: _plain(column) for column in recalls.columns if column.key not in given and not column.nullable}

    def ask(conn):
        Direct(insert(recalls)).run(conn, given)
        return Direct(select(recalls)).first(conn, {}), conn.execute(select(recalls)).one()

    direct, usual = await ledger.write(ask)

    assert tuple(direct) == tuple(usual)
    assert direct.memory_ids == ["m1", "记忆"]


def _plain(column):
    kind = column.type.python_type
    return False if kind is bool else kind()


async def test_how_many_rows_were_touched_is_told_once_and_for_many(ledger):
    change = Direct(update(memory_links).where(memory_links.c.to_id == bindparam("target")).values(reason=bindparam("said")))
    gone = Direct(delete(memory_links).where(memory_links.c.to_id == bindparam("target")))

    def ask(conn):
        Direct(insert(memory_links)).run_each(conn, [_LINK | {"to_id": name} for name in "abc"])
        return [
            change.run(conn, {"target": "a", "said": "x"}),
            change.run(conn, {"target": "z", "said": "x"}),
            gone.run_each(conn, [{"target": "a"}, {"target": "b"}, {"target": "z"}]),
        ]

    assert await ledger.write(ask) == [1, 0, 2]


async def test_a_row_that_exists_is_passed_over_and_counted_as_none(ledger):
    row = {"space_no": 1, "memory_id": "m", "mark": 1, "at": _NOW}

    def ask(conn):
        return [insert_new(conn, outbox, rows).rowcount for rows in ([row], [row], [row, row | {"memory_id": "n"}])]

    assert await ledger.write(ask) == [1, 0, 1]


async def test_a_list_may_be_empty_and_of_any_length(ledger):
    def ask(conn):
        Direct(insert(memory_links)).run_each(conn, [_LINK | {"from_id": str(number)} for number in range(40)])
        return [len(Direct(_FROM).rows(conn, {"ids": [str(number) for number in range(length)]})) for length in (0, 1, 3, 40)]

    assert await ledger.write(ask) == [0, 1, 3, 40]


async def test_a_broken_key_is_sqlalchemys_error_and_nothing_of_the_transaction_stays(ledger):
    row = {"space_no": 1, "memory_id": "m", "mark": 1, "at": _NOW}

    def twice(conn):
        Direct(insert(outbox)).run(conn, row)
        Direct(insert(outbox)).run(conn, row)

    with pytest.raises(IntegrityError):
        await ledger.write(twice)
    assert await ledger.read(lambda conn: Direct(select(outbox)).rows(conn, {})) == []


async def test_a_naive_time_is_refused_and_a_value_that_is_missing_too(ledger):
    def naive(conn):
        Direct(insert(memory_links)).run(conn, _LINK | {"at": datetime(2026, 1, 1)})

    with pytest.raises(Exception, match="naive"):
        await ledger.write(naive)
    with pytest.raises(Exception, match="ids"):
        await ledger.read(lambda conn: Direct(_FROM).rows(conn, {}))
