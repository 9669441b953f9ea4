"""What models cost is counted once, and many workers together keep to one ceiling."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest

from hindwise.ledger import spending
from hindwise.ledger.spending import Hold, Room
from hindwise.model.reflection import Usage
from tests.build import NOON, TENANT

DAY = NOON.date().isoformat()
COST = Usage(calls=1, prompt_tokens=80, completion_tokens=20)


def hold(name, *, tokens=100, ceiling=1_000, by="a", tenant=TENANT, now=NOON, model="m"):
    day = now.date().isoformat()
    return lambda conn: spending.hold(conn, name, tenant, model, day, tokens=tokens, ceiling=ceiling, asked_by=by, now=now)


async def room(ledger, day=DAY):
    return await ledger.read(lambda conn: spending.room(conn, TENANT, day))


async def days(ledger):
    return await ledger.read(lambda conn: spending.by_day(conn, TENANT, "2000-01-01"))


@pytest.fixture
async def two(open_ledger):
    return await open_ledger(), await open_ledger()


async def test_what_is_held_becomes_what_it_cost_once(ledger):
    kept = await ledger.write(hold("q1"))
    assert await room(ledger) == Room(0, 100)
    priced = COST.model_copy(update={"cost": 0.25, "reasks": 1})
    told = [await ledger.write(lambda conn: spending.settle(conn, kept, priced, "m")) for _ in range(3)]
    assert told == [True, False, False]
    assert await room(ledger) == Room(100, 0)
    [day] = await days(ledger)
    assert (day.day, day.model, day.calls, day.reasks, day.prompt_tokens, day.completion_tokens) == (DAY, "m", 1, 1, 80, 20)
    assert (day.cost, day.priced_calls) == (0.25, 1)


async def test_a_cost_that_is_not_known_is_none_and_one_that_is_known_in_part_says_so(ledger):
    await ledger.write(lambda conn: spending.settle(conn, hold("q1")(conn), COST, "m"))
    assert [day.cost for day in await days(ledger)] == [None]
    await ledger.write(lambda conn: spending.settle(conn, hold("q2")(conn), COST.model_copy(update={"cost": 0.5}), "m"))
    [day] = await days(ledger)
    assert (day.cost, day.priced_calls, day.calls) == (0.5, 1, 2)
    await ledger.write(hold("q3", model="other"))
    assert [(one.model, one.calls) for one in await ledger.read(spending.by_model)] == [("m", 2)]


async def test_what_gave_no_answer_costs_nothing_and_what_was_cut_off_counts_as_held(ledger):
    refused, cut = await ledger.write(hold("q1")), await ledger.write(hold("q2"))
    await ledger.write(lambda conn: spending.settle(conn, refused, Usage(), "m"))
    assert await room(ledger) == Room(0, 100)
    await ledger.write(lambda conn: spending.settle(conn, cut, Usage(), "m", lost=True))
    assert await room(ledger) == Room(100, 0)
    assert [(day.calls, day.lost_tokens) for day in await days(ledger)] == [(0, 100)]


async def test_a_question_asked_again_after_its_worker_died_counts_the_first_time_as_used(ledger):
    first = await ledger.write(hold("q1", by="dead"))
    second = await ledger.write(hold("q1", by="living"))
    assert await room(ledger) == Room(100, 100)
    # The dead one was only slow: what it tells is in the estimate already.
    assert not await ledger.write(lambda conn: spending.settle(conn, first, COST, "m"))
    assert await ledger.write(lambda conn: spending.settle(conn, second, COST, "m"))
    assert await room(ledger) == Room(200, 0)


async def test_what_was_planned_is_taken_over_by_whoever_asks_and_given_back_where_nobody_does(ledger):
    name = spending.hold_id("r1", 1)
    await ledger.write(hold(name, by=""))
    assert await ledger.read(lambda conn: spending.is_held(conn, name, DAY))
    taken = await ledger.write(hold(name, by="worker", ceiling=100))
    assert isinstance(taken, Hold)
    await ledger.write(lambda conn: spending.give_back(conn, "r1"))
    assert await room(ledger) == Room(0, 100)
    await ledger.write(hold(spending.hold_id("r2", 1), by=""))
    await ledger.write(lambda conn: spending.give_back(conn, "r2"))
    assert await room(ledger) == Room(0, 100)


async def test_a_new_day_has_all_its_tokens_and_a_question_over_midnight_counts_for_the_day_it_was_asked(ledger):
    late, early = NOON.replace(hour=23, minute=59), NOON.replace(hour=23, minute=59) + timedelta(minutes=2)
    asked = await ledger.write(hold("q1", tokens=1_000, now=late))
    await ledger.write(hold("planned", by="", tokens=0, now=late))
    assert isinstance(await ledger.write(hold("q2", now=late)), Room)
    assert isinstance(await ledger.write(hold("q2", tokens=900, now=early)), Hold)
    assert isinstance(await ledger.write(hold("planned", by="worker", tokens=200, now=early)), Room)
    assert await ledger.write(lambda conn: spending.settle(conn, asked, COST, "m"))
    assert (await room(ledger), await room(ledger, early.date().isoformat())) == (Room(100, 0), Room(0, 900))


async def test_what_was_asked_and_never_told_counts_as_used_a_day_later_and_what_was_planned_does_not(ledger):
    asked = await ledger.write(hold("q1", by="dead"))
    await ledger.write(hold("planned", by=""))
    later = NOON + timedelta(days=2)
    await ledger.write(hold("q2", now=later))
    # Also where the later clock was wrong: the one that asked may still live, and its cost is in the estimate already.
    assert not await ledger.write(lambda conn: spending.settle(conn, asked, COST, "m"))
    await ledger.write(hold("q3", now=later))
    assert (await room(ledger), await room(ledger, later.date().isoformat())) == (Room(100, 0), Room(0, 200))


async def test_a_ceiling_of_nothing_is_none_and_tenants_do_not_share(ledger):
    assert isinstance(await ledger.write(hold("q1", tokens=10**6, ceiling=0)), Hold)
    assert isinstance(await ledger.write(hold("q2", tokens=1)), Room)
    assert isinstance(await ledger.write(hold("q3", tenant="other")), Hold)


async def test_saved_and_refused_questions_are_counted_by_day(ledger):
    for _ in range(2):
        await ledger.write(lambda conn: spending.count_saved(conn, TENANT, DAY, "模型"))
    await ledger.write(lambda conn: spending.count_refused(conn, TENANT, DAY, "模型"))
    assert [(day.model, day.saved, day.refused, day.calls) for day in await days(ledger)] == [("模型", 2, 1, 0)]


async def test_of_many_workers_at_the_ceiling_as_many_ask_as_fit(two):
    found = await asyncio.gather(*(two[n % 2].write(hold(f"q{n}", by=str(uuid4()))) for n in range(30)))
    held = [one for one in found if isinstance(one, Hold)]
    assert len(held) == 10
    assert await room(two[0]) == Room(0, 1_000)


async def test_workers_that_ask_and_settle_at_once_never_spend_more_than_the_ceiling(two):
    async def ask(n):
        kept = await two[n % 2].write(hold(f"q{n}", by=str(n)))
        if isinstance(kept, Hold):
            await asyncio.sleep(0.001 * (n % 3))
            await two[n % 2].write(lambda conn: spending.settle(conn, kept, COST, "m"))
        return isinstance(kept, Hold)

    asked = await asyncio.gather(*(ask(n) for n in range(40)))
    assert sum(asked) == 10
    assert await room(two[1]) == Room(1_000, 0)
