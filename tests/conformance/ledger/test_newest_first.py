"""What a recall works on while the index is away: the newest of what may be told, and nothing else is read."""

import re
from datetime import timedelta

import pytest
from sqlalchemy import insert, select, text, true

from hindwise.ledger import memories as memory_rows
from hindwise.ledger import memory_changes, spaces
from hindwise.ledger.databases import read_in_order
from hindwise.ledger.schema import memories
from hindwise.model.memory import Status
from hindwise.recall import queries, standing, survey
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
    return await ledger.write(fill)


def count(conn):
    """Now the database knows how much there is of what."""
    conn.execute(text("ANALYZE"))


@pytest.fixture
async def known(ledger, filled):
    await ledger.write(count)
    return filled


def multiply(conn, times):
    """As many rows more, of no slot, without a word to the database that it should count them."""
    others = select(memories.c.id).limit(times).subquery()
    changed = {"id": memories.c.id + "-" + others.c.id}
    rows = select(*(changed.get(each.name, each) for each in memories.c)).join_from(memories, others, true())
    rows = rows.where(memories.c.slot_key.is_(None))
    conn.execute(insert(memories).from_select(memories.c.keys(), rows))


def plan(conn, statement, given, how="EXPLAIN"):
    """How the database would answer, or with EXPLAIN ANALYZE did."""
    if conn.dialect.name == "sqlite":
        sql, bound = statement.for_sqlite(given)
        return "\n".join(row.detail for row in conn.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", tuple(bound)))
    asked, bound = statement.for_postgres(given)
    return "\n".join(conn.exec_driver_sql(f"{how} {asked.sql}", bound).scalars())


def grow(conn):
    """Much more that the database has not counted, as in the minute after a large import."""
    if conn.dialect.name != "sqlite":
        conn.execute(text("ALTER TABLE memories SET (autovacuum_enabled = false)"))
    multiply(conn, 20)


@pytest.fixture
async def grown(ledger, filled):
    await ledger.write(grow)
    return filled


def rows_read(conn):
    """How many rows of memories Postgres has read so far, by whatever way."""
    conn.execute(text("SELECT pg_stat_force_next_flush()"))
    return conn.execute(text("SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_user_tables WHERE relname = 'memories'")).scalar_one()


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


@pytest.mark.parametrize("spaces_asked", [1, 2])
@pytest.mark.parametrize("so", [count, grow])
async def test_of_a_space_no_more_is_read_and_put_in_order_than_is_told(ledger, filled, so, spaces_asked):
    await ledger.write(so)
    given = {"count": 20, **{f"space_{place}": number for place, number in enumerate(filled[1][:spaces_asked])}}

    def asked(conn):
        with read_in_order(conn):
            return plan(conn, queries._newest(spaces_asked), given, "EXPLAIN ANALYZE")

    found = await ledger.read(asked)
    assert found.count("ix_memories_newest") == len(re.findall("(?i)(?:scan|search).* on memories|search memories", found)) == spaces_asked
    if ledger.is_shared:
        # Those of one moment are put in order among themselves.
        assert found.count("Incremental Sort") == spaces_asked and "  Sort  (" not in found, found
        assert not re.search(r"Removed by Filter: \d{3}", found), found


@pytest.mark.parametrize("ledger_url", ["postgres"], indirect=True)  # SQLite counts on nothing: its plan is asked above and below
@pytest.mark.parametrize("newest", [queries.newest_rows, memory_rows.newest_live])
async def test_of_much_that_postgres_has_not_counted_yet_only_the_newest_are_read(ledger, grown, newest):
    numbers = grown[1][:2]

    def asked(conn):
        before = rows_read(conn)
        found = newest(conn, numbers, 300)
        return found, rows_read(conn) - before

    found, read = await ledger.read(asked)
    assert len(found) == 300
    # Of each space: as many as are told, what was superseded among them, and of the last moment the others.
    assert read < 2 * (300 * 1.5 + 3 * 20), read


@pytest.mark.parametrize("ledger_url", ["postgres"], indirect=True)  # SQLite has no setting
async def test_an_error_while_they_are_read_leaves_no_setting_behind(ledger, filled):
    def fails(conn):
        with read_in_order(conn):
            raise LookupError

    def settings(conn):
        with read_in_order(conn):
            within = conn.execute(text("SELECT current_setting('enable_sort')")).scalar_one()
        return within, conn.execute(text("SELECT current_setting('enable_sort')")).scalar_one()

    for _ in range(3):
        with pytest.raises(LookupError):
            await ledger.read(fails)
        assert await ledger.read(settings) == ("off", "on")
        assert (await ledger.read(lambda conn: queries.newest_rows(conn, filled[1], 1)))[0].conclusion in WORDS


async def test_what_a_model_is_shown_is_read_so_too(ledger, known):
    kept, numbers = known
    told = [row for row in kept if row["space_no"] in numbers[:2] and row["status"] in ("active", "pending")]
    told.sort(key=lambda row: row["id"])
    told.sort(key=lambda row: row["recorded_at"], reverse=True)
    found = await ledger.read(lambda conn: memory_rows.newest_live(conn, numbers[:2], 20))
    assert [row.id for row in found] == [row["id"] for row in told[:20]]

    def asked(conn):
        how = "EXPLAIN QUERY PLAN" if not ledger.is_shared else "EXPLAIN"
        sql = memory_rows._NEWEST_LIVE.statement.compile(conn, compile_kwargs={"render_postcompile": True})
        given = {**sql.params, "space": numbers[0], "most": 20}
        bound = tuple(given[name] for name in sql.positiontup) if sql.positional else given
        return "\n".join(str(tuple(row)) for row in conn.exec_driver_sql(f"{how} {sql}", bound))

    assert "ix_memories_newest" in await ledger.read(asked)


@pytest.mark.parametrize("statistics", [False, True])
async def test_the_index_of_the_newest_draws_no_other_question_of_a_recall_to_it(ledger, filled, statistics):
    _, numbers = filled
    await ledger.write(lambda conn: multiply(conn, 20))
    if statistics:
        await ledger.write(lambda conn: conn.execute(text("ANALYZE")))
    known = {"spaces": numbers[:2], "ids": ["a"], "slots": ["slot 3"], "vectors": ["a"], "model": "m"}
    known |= {"tenant": "default", "names": list(NAMES[:2])}
    of_what_stands = (survey._SURVEY, standing._STANDING)
    for statement in (*of_what_stands, queries._BY_IDS, queries._BY_IDS_WITH_VECTORS, queries._EARLIER):
        wanted = {bind.key for bind in statement.statement.compile().bind_names if bind.required}
        given = {name: value for name, value in known.items() if name in wanted}
        found = await ledger.read(lambda conn, ask=statement, given=given: plan(conn, ask, given))
        assert "ix_memories_newest" not in found, found
        if statement in of_what_stands:
            assert "ix_memories_status" in found, found
            assert "ix_memories_pinned" in found, found
