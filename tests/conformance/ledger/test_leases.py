"""A lease has one holder, whatever the clocks of the machines say; and it ends by itself."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import select, update

from hindwise.clock import SystemClock
from hindwise.errors import LedgerUnavailable
from hindwise.ledger import erasure, erasures, leases, outbox
from hindwise.ledger.engine import Ledger
from hindwise.ledger.schema import leases as leases_table
from hindwise.ledger.schema import spaces
from tests.build import NOON, TENANT, make_draft
from tests.conformance.ledger.test_resolution import resolve

FAST, SLOW = NOON + timedelta(days=400), NOON - timedelta(days=400)
"""What two machines believe, neither of them the time."""
SHORT_S = 0.3


def the_space(conn):
    return conn.execute(select(spaces.c.no)).scalar_one()


def taken(name, holder, at, seconds):
    """Each way to take a lease, as a unit of work that says whether it was had."""
    return {
        "dirty": lambda conn: outbox.lease_space(conn, holder, at, seconds) is not None,
        "dirty space": lambda conn: outbox.lease_space(conn, holder, at, seconds, space_no=the_space(conn)) is not None,
        "space": lambda conn: outbox.lease_named(conn, holder, at, seconds, the_space(conn)) is not None,
        "job": lambda conn: leases.take(conn, "sweep", holder, at, seconds),
    }[name]


ways = pytest.mark.parametrize("way", ["dirty", "dirty space", "space", "job"])


@pytest.fixture
async def dirty(ledger):
    """A ledger whose space number one waits for the index."""
    await ledger.write(resolve("r1", make_draft("window")))
    return ledger


@pytest.fixture
async def on_a_server(postgres_url):
    """The same on a server, for which several machines work. On SQLite there is one machine, with one clock."""
    ledger = Ledger(postgres_url)
    await ledger.write(resolve("r1", make_draft("window")))
    yield ledger
    await ledger.close()


@ways
async def test_a_lease_is_held_by_one_until_it_ends_and_then_had_by_another(dirty, way):
    now = SystemClock().now
    assert await dirty.write(taken(way, "me", now(), SHORT_S))
    assert not await dirty.write(taken(way, "you", now(), 30))
    assert await dirty.write(taken(way, "me", now(), SHORT_S)), "it is renewed by its holder"
    await asyncio.sleep(SHORT_S + 0.1)
    assert await dirty.write(taken(way, "you", now(), 30))
    assert not await dirty.write(taken(way, "me", now(), 30))


@ways
async def test_of_machines_whose_clocks_differ_by_years_one_has_the_lease(on_a_server, way):
    """The server's clock decides: who is ahead takes nothing from anybody, who is behind keeps nobody out."""
    assert await on_a_server.write(taken(way, "slow", SLOW, 30))
    assert not await on_a_server.write(taken(way, "fast", FAST, 30))


@ways
async def test_a_machine_whose_clock_is_ahead_leaves_no_lease_that_never_ends(on_a_server, way):
    assert await on_a_server.write(taken(way, "fast", FAST, SHORT_S))
    assert not await on_a_server.write(taken(way, "slow", SLOW, 30))
    await asyncio.sleep(SHORT_S + 0.1)
    assert await on_a_server.write(taken(way, "slow", SLOW, 30))


async def test_an_erasure_on_a_machine_with_a_wrong_clock_knows_whether_it_holds_the_space(on_a_server):
    def ask(conn):
        return erasures.request(conn, "e1", TENANT, "u1", "hash", "test", FAST)

    await on_a_server.write(ask)
    this = await on_a_server.write(lambda conn: erasure.begin(conn, "e1", FAST))
    assert await on_a_server.write(lambda conn: outbox.lease_named(conn, "eraser", FAST, SHORT_S, this.space_no))
    await asyncio.sleep(SHORT_S + 0.1)
    with pytest.raises(LedgerUnavailable, match="lease"):
        await on_a_server.write(lambda conn: erasure.wipe(conn, "e1", "eraser", SLOW, {}))
    assert await on_a_server.write(lambda conn: outbox.lease_named(conn, "eraser", SLOW, 30, this.space_no))
    assert (await on_a_server.write(lambda conn: erasure.wipe(conn, "e1", "eraser", FAST, {}))).wiped_at == FAST


async def test_a_space_that_is_gone_is_told_from_one_that_is_held(dirty):
    assert await dirty.read(lambda conn: outbox.is_known(conn, the_space(conn)))
    assert not await dirty.read(lambda conn: outbox.is_known(conn, the_space(conn) + 1))


@ways
async def test_a_lease_of_a_clock_that_was_set_back_since_keeps_nobody_out(dirty, way):
    now = SystemClock().now
    assert await dirty.write(taken(way, "dead", now(), 30))

    def set_back(conn):
        conn.execute(update(spaces).where(spaces.c.leased_by != "").values(leased_until=now() + timedelta(days=365)))
        conn.execute(update(leases_table).where(leases_table.c.held_by != "").values(until=now() + timedelta(days=365)))

    await dirty.write(set_back)
    assert await dirty.write(taken(way, "me", now(), 30))
    assert not await dirty.write(taken(way, "you", now(), 30))
