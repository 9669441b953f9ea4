"""Questions of a minute, over all processes: reflections are only noted, a comparison takes a place that is free."""

import asyncio
from datetime import timedelta

from hindwise.clock import SystemClock
from hindwise.ledger import pace
from tests.build import NOON

SIX = 6.0
"""A minute: one every ten seconds."""


def take(per_minute=SIX, now=NOON):
    return lambda conn: pace.take(conn, per_minute, now)


async def test_of_many_who_ask_at_once_one_has_the_place_and_the_others_hear_how_long(open_ledger):
    one, other = await open_ledger(), await open_ledger()
    now = SystemClock().now()
    told = await asyncio.gather(*(ledger.write(take(now=now)) for ledger in (one, other) for _ in range(4)))
    assert told.count(0.0) == 1
    assert all(9.0 < left <= 10.0 for left in told if left)


async def test_reflections_leave_no_place_while_they_use_up_the_minute_and_never_more_than_one(ledger):
    now = SystemClock().now()
    for _ in range(40):
        await ledger.write(lambda conn: pace.note(conn, SIX, now))
    assert 60.0 < await ledger.write(take(now=now)) <= 70.0


async def test_a_limit_of_none_is_no_limit_and_leaves_nothing_behind(ledger):
    await ledger.write(lambda conn: pace.note(conn, 0, NOON))
    assert [await ledger.write(take(0)) for _ in range(3)] == [0.0, 0.0, 0.0]
    assert await ledger.write(take(now=SystemClock().now())) == 0.0


async def test_a_place_is_free_again_after_its_time(ledger):
    now = SystemClock().now()
    assert await ledger.write(take(600, now)) == 0.0
    assert await ledger.write(take(600, now)) > 0.0
    await asyncio.sleep(0.15)
    assert await ledger.write(take(600, now + timedelta(seconds=0.15))) == 0.0
