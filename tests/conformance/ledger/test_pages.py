"""Every list is told whole, page by page, also where an import gave thousands of rows one instant; and no page reads them all."""

from datetime import timedelta

import pytest
from sqlalchemy import insert, select

from api.paging import decode, page
from hindwise.ledger import episodes, intake, memories, memory_changes, reflections, review, sessions, spaces
from hindwise.ledger import schema as tables
from hindwise.ledger.newest_first import Place
from hindwise.model.memory import Status
from tests.build import NOON, TENANT, make_episode, make_memory, make_turn
from tests.conformance.ledger.conftest import RULES

MANY, SOME = 2_000, 300
LIMIT = 100
WORDS = ("Ask for the number", "先问编号")
LATER = NOON + timedelta(seconds=1)
LISTS = {
    "memories": (
        lambda conn, after, n: memories.page(conn, TENANT, ["user:u1"], after=after, limit=n),
        lambda row: Place(row.recorded_at, row.id),
    ),
    "waiting": (
        lambda conn, after, n: review.waiting(conn, TENANT, None, after=after, limit=n),
        lambda row: Place(row.recorded_at, row.id),
    ),
    "sessions": (
        lambda conn, after, n: sessions.page(conn, TENANT, "", after=after, limit=n),
        lambda row: Place(row.last_turn_at, row.handle),
    ),
    "episodes": (
        lambda conn, after, n: episodes.page(conn, TENANT, after=after, limit=n),
        lambda row: Place(row.ended_at, row.id),
    ),
    "reflections": (
        lambda conn, after, n: reflections.page(conn, TENANT, after=after, limit=n),
        lambda row: Place(row.created_at, row.id),
    ),
}


def copies(row, at, changed, number):
    """As many rows as an import brings, of one instant but one that came later, each with what tells it apart."""
    return [{**row, at: NOON if place else LATER, **changed(place)} for place in range(number)]


def fill(conn, number):
    """So many memories, and some of everything else."""
    no = spaces.lock(conn, TENANT, ["user:u1"])["user:u1"].no
    memory_changes.insert_memory(conn, no, make_memory(WORDS[0], id="first", status=Status.PENDING), actor="test", why="set up")
    sessions.record_turns(conn, sessions.lock_or_open(conn, b"k", TENANT, "s", "u1", "", NOON), [make_turn(WORDS[1])], NOON)
    intake.accept_run(conn, make_episode("first"), RULES, recall_ids=[], now=NOON, keep_first=False)
    told = {
        tables.memories: ("recorded_at", lambda place: {"id": f"m-{place:04}", "conclusion": WORDS[place % 2]}),
        tables.sessions: ("last_turn_at", lambda place: {"session_id": f"s-{place}", "handle": f"s-{place:04}"}),
        tables.episodes: ("ended_at", lambda place: {"id": f"e-{place:04}"}),
        tables.reflections: ("created_at", lambda place: {"id": f"r-{place:04}", "episode_id": f"e-{place:04}"}),
    }
    first = {table: conn.execute(select(table)).one()._asdict() for table in told}
    for table in reversed(told):
        conn.execute(table.delete() if table is not tables.memories else table.delete().where(table.c.id == "first"))
    for table, (at, changed) in told.items():
        conn.execute(insert(table), copies(first[table], at, changed, number if table is tables.memories else SOME))


async def test_each_row_is_told_once_and_no_page_reads_much_more_than_it_tells(ledger):
    await ledger.write(lambda conn: fill(conn, MANY))
    for name, (ask, place) in LISTS.items():
        told, read, cursor = [], [], ""

        def fetch(conn, after, n, ask=ask, read=read):
            found = ask(conn, after, n)
            read.append(len(found))
            return found

        while True:
            after = decode(cursor)
            rows, following = await ledger.read(
                lambda conn, after=after, place=place, fetch=fetch: page(lambda at, n: fetch(conn, at, n), place, after, LIMIT)
            )
            told += [place(row) for row in rows]
            if not following:
                break
            cursor = following
        number = MANY if name in {"memories", "waiting"} else SOME
        assert (len(told), len(set(told)), max(read)) == (number, number, LIMIT + 1), name
        assert told[0].at == LATER
        assert [one.id for one in told[1:]] == sorted(one.id for one in told[1:]), name
        assert len(read) == number // LIMIT, name


@pytest.mark.parametrize("words", WORDS)
async def test_a_page_within_an_instant_goes_on_where_those_before_were_erased(ledger, words):
    """Of one language's conclusions, whose places lie between those of the other."""
    await ledger.write(lambda conn: fill(conn, SOME))

    def asked(after):
        return lambda conn: memories.page(conn, TENANT, ["user:u1"], containing=words[:3], after=after, limit=40)

    first = await ledger.read(asked(None))
    last = Place(first[-1].recorded_at, first[-1].id)
    before = await ledger.read(asked(last))
    gone = [row.id for row in first]
    await ledger.write(lambda conn: conn.execute(tables.memories.delete().where(tables.memories.c.id.in_(gone))))
    assert [row.id for row in await ledger.read(asked(last))] == [row.id for row in before]
    assert {row.conclusion for row in before} == {words} and not set(gone) & {row.id for row in before}
