"""A request under an Idempotency-Key that began: what another process may do with the key until it ends, and where it never ends."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import func, select

from hindwise.errors import IdempotencyMismatch
from hindwise.ledger import idempotency
from hindwise.ledger.schema import idempotency_keys
from tests.build import NOON, TENANT


@pytest.fixture
async def two(open_ledger):
    return await open_ledger(), await open_ledger()


def begin(digest="a", now=NOON):
    return lambda conn: idempotency.begin(conn, TENANT, "k", digest, now)


def release(digest="a"):
    return lambda conn: idempotency.release(conn, TENANT, "k", digest)


def keep(digest="a", told="first"):
    return lambda conn: idempotency.keep(conn, TENANT, "k", "/v1", digest, 201, {"told": told}, NOON)


def rows(conn):
    return conn.execute(select(func.count()).select_from(idempotency_keys)).scalar_one()


async def test_of_many_bodies_that_begin_at_once_one_does(two):
    begun = await asyncio.gather(*(two[n % 2].write(begin(f"body {n}")) for n in range(10)), return_exceptions=True)
    assert begun.count(None) == 1
    assert sum(isinstance(each, IdempotencyMismatch) for each in begun) == 9


async def test_a_key_is_free_again_once_all_that_ran_with_its_body_have_failed(two):
    await asyncio.gather(*(two[n % 2].write(begin()) for n in range(6)))
    await asyncio.gather(*(two[n % 2].write(release()) for n in range(5)))
    with pytest.raises(IdempotencyMismatch):
        await two[1].write(begin("b"))
    await two[0].write(release())
    assert await two[1].read(rows) == 0
    assert await two[1].write(begin("b")) is None


async def test_the_first_answer_of_those_that_run_stays_whoever_fails_afterwards(two):
    for each in two:
        await each.write(begin())
    await two[0].write(keep())
    await two[1].write(keep(told="second"))
    await two[1].write(release())
    assert await two[1].write(begin()) == idempotency.Kept(201, {"told": "first"})
    with pytest.raises(IdempotencyMismatch):
        await two[1].write(begin("b"))


async def test_a_request_whose_process_died_holds_its_key_for_its_time_only_and_not_against_itself(two):
    await two[0].write(begin())
    assert await two[1].write(begin()) is None  # asked again by the caller who got no answer
    with pytest.raises(IdempotencyMismatch):
        await two[1].write(begin("b", NOON + idempotency.UNDERWAY - timedelta(seconds=1)))
    assert await two[1].write(begin("b", NOON + idempotency.UNDERWAY)) is None
    await two[0].write(release())  # it was only slow: the key is another's now
    with pytest.raises(IdempotencyMismatch):
        await two[0].write(begin("a", NOON + idempotency.UNDERWAY))


async def test_a_request_that_a_wrong_clock_dated_ahead_holds_its_key_no_longer(two):
    await two[0].write(begin(now=NOON + timedelta(days=400)))
    assert await two[1].write(begin("b")) is None
