"""One index serves, at most one is built beside it, and its row keeps how far it came: on both databases."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta

from sqlalchemy import Connection, event, select

from hindwise.clock import SystemClock
from hindwise.ledger import generations, memory_changes, outbox, rebuild, spaces, whole_index
from hindwise.ledger.engine import Ledger
from hindwise.ledger.generations import Spec, State
from hindwise.ledger.schema import spaces as space_rows
from hindwise.resolve.slots import key_version
from tests.build import NOON, TENANT, make_memory

SPEC = Spec("model-a", 4, 1)


def _furnish(conn):
    for user in ("ann", "bo"):
        space = spaces.lock(conn, TENANT, [f"user:{user}"])[f"user:{user}"]
        for at in range(5):
            memory = make_memory(f"Likes tea {at}", id=f"{user}-{at}", kind="event", space=f"user:{user}")
            memory_changes.insert_memory(conn, space.no, memory, actor="test", why="set up")


async def test_a_generation_is_built_page_by_page_and_takes_over(ledger_url: str) -> None:
    ledger = Ledger(ledger_url)
    try:
        firsts = await asyncio.gather(*(ledger.write(lambda conn: generations.ensure_live(conn, "embedded", SPEC, NOON)) for _ in range(6)))
        assert len({first.no for first in firsts}) == 1, "processes that start at once begin one together"
        await ledger.write(_furnish)
        other = Spec("model-b", 8, 1)
        assert (await ledger.write(lambda conn: generations.ensure_live(conn, "weaviate", other, NOON))).no == firsts[0].no
        asked = await asyncio.gather(*(ledger.write(lambda conn: generations.request(conn, "weaviate", NOON)) for _ in range(6)))
        assert len({one.no for one in asked}) == 1, "asked for by many it is one"
        number = asked[0].no
        build = await ledger.write(lambda conn: generations.begin(conn, number, other))
        assert (build.generation.state, build.generation.spec, build.total) == (State.BUILDING, other, 10)

        pages = []
        while True:
            page = await ledger.write(lambda conn: rebuild.take_page(conn, number, "me", NOON, 30.0, 4))
            taken = [memory.id for portion in page.portions for memory in portion.memories]
            pages.append(taken)
            await ledger.write(
                lambda conn, page=page, taken=taken: generations.progress(
                    conn, number, space_no=page.space_no, memory_id=page.memory_id, added=len(taken)
                )
            )
            if page.end:
                break
        assert sorted(one for page in pages for one in page) == sorted(f"{user}-{at}" for user in ("ann", "bo") for at in range(5))
        assert max(map(len, pages)) == 4

        held = await ledger.write(lambda conn: rebuild.take_page(conn, number, "another", NOON + timedelta(seconds=1), 30.0, 4))
        assert held.end, "nothing is left to lease"
        assert await ledger.write(lambda conn: generations.switch(conn, number, {"checked": {"memories": 10}}, NOON))
        states = {one.no: one.state for one in await ledger.read(generations.kept)}
        assert states == {firsts[0].no: State.DRAINING, number: State.LIVE}
        await ledger.write(lambda conn: generations.settle(conn, number))
        assert [one.no for one in await ledger.read(generations.droppable)] == [firsts[0].no]
        build = await ledger.read(lambda conn: generations.build_of(conn, number))
        assert (build.done, build.report, build.switched_at) == (10, {"checked": {"memories": 10}}, NOON)
    finally:
        await ledger.close()


async def test_a_damaged_one_is_replaced_once_whoever_notices_and_not_again_at_once(ledger_url: str) -> None:
    """A build that was asked for before has a lower number; when it serves, what stood in drains and is kept as any other."""
    ledger = Ledger(ledger_url)
    try:
        first = await ledger.write(lambda conn: generations.ensure_live(conn, "embedded", SPEC, NOON))
        await ledger.write(_furnish)
        build = await ledger.write(lambda conn: generations.request(conn, "embedded", NOON))
        await ledger.write(lambda conn: generations.begin(conn, build.no, SPEC))

        def replace(number: int, now: datetime) -> Callable[[Connection], int | None]:
            return lambda conn: generations.replace_damaged(conn, number, "its file is gone", now)

        made = {number for number in await asyncio.gather(*(ledger.write(replace(first.no, NOON)) for _ in range(6))) if number}
        assert len(made) == 1, "noticed by many it is one"
        [second] = made
        assert await ledger.read(lambda conn: generations.is_refilled(conn, second)), "whoever dies now leaves it to the next"
        assert await ledger.write(replace(second, NOON + timedelta(minutes=1))) is None, "a disk that damages all of them gets no more"
        third = await ledger.write(replace(second, NOON + generations.REPLACED_AGAIN))
        assert third is not None
        await ledger.write(lambda conn: generations.switch(conn, build.no, {}, NOON + timedelta(hours=1)))
        await ledger.write(lambda conn: generations.settle(conn, build.no))
        states = {one.no: one.state for one in await ledger.read(generations.kept)}
        assert states == {first.no: State.ABANDONED, second: State.ABANDONED, third: State.OLD, build.no: State.LIVE}
    finally:
        await ledger.close()


async def test_what_holds_a_build_is_told_by_all_that_lack_something_as_long_as_they_do(ledger_url: str) -> None:
    ledger = Ledger(ledger_url)
    try:
        await ledger.write(lambda conn: generations.ensure_live(conn, "embedded", SPEC, NOON))
        number = (await ledger.write(lambda conn: generations.request(conn, "weaviate", NOON))).no

        async def told(why: str, now: datetime) -> str:
            await ledger.write(lambda conn: generations.hold(conn, number, why, now))
            return (await ledger.read(lambda conn: generations.build_of(conn, number))).note

        assert await told("the key is missing", NOON) == "the key is missing"
        both = "Workers lack different things. (1) the client is missing. (2) the key is missing."
        for why in ("the client is missing.", "the key is missing", "the client is missing."):
            assert await told(why, NOON + timedelta(seconds=60)) == both
        assert await told("the key is missing", NOON + generations.HELD_FOR + timedelta(seconds=60)) == "the key is missing"
        await ledger.write(lambda conn: generations.note(conn, number, ""))
        assert await told("the client is missing", NOON + timedelta(seconds=200)) == "the client is missing", "asked for anew"
        begun = await ledger.write(lambda conn: generations.begin(conn, number, SPEC))
        assert (begun.note, dict(begun.report)) == ("", {})
    finally:
        await ledger.close()


async def test_a_space_that_somebody_holds_is_waited_for_not_passed_over(ledger_url: str) -> None:
    ledger = Ledger(ledger_url)
    try:
        await ledger.write(lambda conn: generations.ensure_live(conn, "embedded", SPEC, NOON))
        await ledger.write(_furnish)
        asked = await ledger.write(lambda conn: generations.request(conn, "embedded", NOON))
        await ledger.write(lambda conn: generations.begin(conn, asked.no, SPEC))
        now = SystemClock().now
        first = await ledger.write(lambda conn: rebuild.take_page(conn, asked.no, "me", now(), 2.0, 100))
        assert len(first.portions) == 2
        second = await ledger.write(lambda conn: rebuild.take_page(conn, asked.no, "another", now(), 2.0, 100))
        assert (second.busy, second.end, second.portions) == (True, False, ())
        await asyncio.sleep(2.1)
        later = await ledger.write(lambda conn: rebuild.take_page(conn, asked.no, "another", now(), 2.0, 100))
        assert len(later.portions) == 2, "a lease ends by itself"
    finally:
        await ledger.close()


async def test_every_memory_is_marked_though_a_few_spaces_at_a_time(ledger_url: str) -> None:
    """A lost index of a large installation is filled again without one transaction that keeps everybody waiting."""
    ledger = Ledger(ledger_url)
    try:
        await ledger.write(lambda conn: generations.ensure_live(conn, "embedded", SPEC, NOON))
        await ledger.write(_furnish)
        numbers = await ledger.read(lambda conn: list(conn.execute(select(space_rows.c.no).order_by(space_rows.c.no)).scalars()))
        assert await ledger.write(lambda conn: whole_index.mark_dirty_after(conn, 0, NOON, 1)) == numbers[0]
        assert await ledger.read(outbox.space_numbers) == numbers[:1]
        assert await ledger.write(lambda conn: whole_index.mark_dirty_after(conn, numbers[0], NOON, 2)) is None
        assert (await ledger.read(outbox.depth))[0] == 10
    finally:
        await ledger.close()


async def test_which_spaces_an_index_must_hold_is_told_from_the_same_few_rows_of_any_ledger(ledger_url: str) -> None:
    ledger, asked = Ledger(ledger_url), []
    try:
        await ledger.write(_many_spaces)
        found = [name for _, name in await ledger.read(lambda conn: whole_index.settled_spaces(conn, 500))]
        newest = [f"user:{number:04}" for number in range(1_000, 900, -1) if number % 7]
        assert found[: len(newest)] == newest, "without those that wait"
        ages = {int(name.removeprefix("user:")) // 100 for name in found[len(newest) :]}
        assert ages >= set(range(9)), "and some of every age"
        assert len(found) < 200
        event.listen(ledger.engine, "before_cursor_execute", lambda conn, cursor, statement, values, *rest: asked.append(values))
        few = [name for _, name in await ledger.read(lambda conn: whole_index.settled_spaces(conn, 20))]
        assert few[:10] == newest[:10]
        assert len(few) == 20
        assert {int(name.removeprefix("user:")) // 200 for name in few[10:]} >= set(range(4)), "and some of every age of these too"
        assert len(asked) == 4
    finally:
        await ledger.close()


def _many_spaces(conn):
    """An agent's of the first day and a thousand after many that were erased, each with a memory that the index knows; a seventh waits."""
    names, first = {number: f"user:{number:04}" for number in range(1, 1_001)}, 5_000_000_000  # more than 32 bits hold
    made = [
        {"no": first + (50_000 + number if number > 1 else 0), "tenant_id": TENANT, "name": name, "index_no": 1, "slot_keys": key_version()}
        for number, name in names.items()
    ]
    conn.execute(space_rows.insert(), made)
    rows = spaces.lock(conn, TENANT, list(names.values()))
    for number in range(1, 1_001):
        space_no = rows[f"user:{number:04}"].no
        memory = make_memory("Likes tea", id=f"m-{number}", kind="event", space=f"user:{number:04}")
        memory_changes.insert_memory(conn, space_no, memory, actor="test", why="set up")
        if number % 7 == 0:
            outbox.mark_dirty(conn, space_no, [memory.id], 1, NOON)
