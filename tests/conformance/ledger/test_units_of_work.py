"""A unit of work is done whole or not at all, also when many ask at once."""

import asyncio

import pytest
from sqlalchemy import func, insert, select, update

from hindwise.errors import InvalidInput
from hindwise.ledger.databases import make_engine
from hindwise.ledger.schema import spaces, tenants
from tests.build import NOON


async def test_a_failing_unit_of_work_writes_nothing(ledger):
    def work(conn):
        conn.execute(insert(tenants).values(id="a", created_at=NOON))
        raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        await ledger.write(work)
    assert await ledger.read(lambda conn: conn.execute(select(func.count()).select_from(tenants)).scalar_one()) == 0


async def test_no_update_is_lost_when_two_ledgers_of_one_database_read_and_write(ledger, open_ledger, space_no):
    other = await open_ledger()

    def raise_by_one(conn):
        seen = conn.execute(select(spaces.c.epoch).where(spaces.c.no == space_no).with_for_update()).scalar_one()
        conn.execute(update(spaces).where(spaces.c.no == space_no).values(epoch=seen + 1))

    await asyncio.gather(*(which.write(raise_by_one) for _ in range(60) for which in (ledger, other)))
    assert await ledger.read(lambda conn: conn.execute(select(spaces.c.epoch).where(spaces.c.no == space_no)).scalar_one()) == 120


async def test_reads_go_on_while_a_write_is_open(ledger, open_ledger):
    other = await open_ledger()
    entered, leave = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def slow(conn):
        conn.execute(insert(tenants).values(id="slow", created_at=NOON))
        loop.call_soon_threadsafe(entered.set)
        asyncio.run_coroutine_threadsafe(leave.wait(), loop).result(timeout=10)

    writing = asyncio.create_task(other.write(slow))
    await asyncio.wait_for(entered.wait(), 10)
    assert await ledger.read(lambda conn: conn.execute(select(func.count()).select_from(tenants)).scalar_one()) == 0
    leave.set()
    await writing
    assert await ledger.read(lambda conn: conn.execute(select(func.count()).select_from(tenants)).scalar_one()) == 1


def test_another_database_is_refused_with_what_to_use():
    with pytest.raises(InvalidInput, match="sqlite"):
        make_engine("mysql://x/y")
