"""What a recall works on while the index is away: the newest of what may be told, and words are read of these alone."""

import re
from datetime import timedelta

import pytest
from sqlalchemy import insert, select, text

from hindwise.ledger import memory_changes, spaces
from hindwise.ledger.schema import memories
from hindwise.model.memory import Status
from hindwise.recall import queries
from tests.build import NOON, TENANT, make_memory

STATUSES = (Status.ACTIVE, Status.PENDING, Status.ACTIVE, Status.SUPERSEDED, Status.ACTIVE, Status.QUARANTINED)
NAMES = ("user:ann", "agent:desk", "user:ben")
WORDS = ("Ask for the number", "先问编号")
EACH = 200
"""Memories of each space, three of them always at the same moment."""


def fill(conn):
    """The rows that were written, as plain values, and the numbers of the spaces."""
    kept = []
    numbers = [spaces.lock(conn, TENANT, [name])[name].no for name in NAMES]
    for number, name in zip(numbers, NAMES, strict=True):
        one = make_memory(WORDS[0], id=f"{name}-first", space=name, tenant_id=TENANT, attribute="first")
        memory_changes.insert_memory(conn, number, one, actor="test", why="set up")
        row = conn.execute(select(memories).where(memories.c.id == one.id)).one()._asdict()
        for place in range(EACH):
            slot = None if place % 3 else f"slot {place}"
            changed = {
                "id": f"{name}-{place * 7 % EACH}",
                "slot_key": slot,
                "head": slot is not None and place % 2 == 0,
                "status": str(STATUSES[place % len(STATUSES)]),
                "conclusion": WORDS[place % 2],
                "recorded_at": NOON + timedelta(minutes=place // 3),
            }
            kept.append(row | changed)
    conn.execute(insert(memories), kept)
    return kept, numbers


@pytest.fixture
async def filled(ledger):
    kept, numbers = await ledger.write(fill)
    await ledger.write(lambda conn: conn.execute(text("ANALYZE")))
    return kept, numbers


async def test_they_come_newest_first_and_by_id_where_they_came_at_once(ledger, filled):
    kept, numbers = filled
    for asked in (numbers[:1], numbers[:2]):
        told = [
            row
            for row in kept
            if row["space_no"] in asked and row["status"] in ("active", "pending") and (row["head"] or row["slot_key"] is None)
        ]
        told.sort(key=lambda row: row["id"])
        told.sort(key=lambda row: row["recorded_at"], reverse=True)
        for most in (1, 40, 95):
            found = await ledger.read(lambda conn, asked=asked, most=most: queries.newest_rows(conn, asked, most))
            assert [row.id for row in found] == [row["id"] for row in told[:most]]
            assert [row.conclusion for row in found] == [row["conclusion"] for row in told[:most]]
    assert await ledger.read(lambda conn: queries.newest_rows(conn, [], 5)) == []


async def test_all_of_a_space_is_put_in_order_without_its_words(ledger, filled):
    _, numbers = filled

    def plan(conn):
        values = {"spaces": numbers[:2], "count": 20}
        if ledger.is_sqlite:
            sql, bound = queries._NEWEST.for_sqlite(values)
            return "\n".join(row.detail for row in conn.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", tuple(bound)))
        asked, given = queries._NEWEST.for_postgres(values)
        return "\n".join(conn.exec_driver_sql(f"EXPLAIN {asked.sql}", given).scalars())

    found = await ledger.read(plan)
    if ledger.is_sqlite:
        assert re.search(r"SEARCH memories USING INDEX \w+ \(id=\?\)", found), found
    else:
        sorts = [(int(rows), int(width)) for rows, width in re.findall(r"Sort +\(cost=\S+ rows=(\d+) width=(\d+)\)", found)]
        assert len(sorts) == 2 and all(rows <= 20 or width < 64 for rows, width in sorts), found
