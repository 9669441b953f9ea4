"""Compare index and ledger space by space, once a day: mark what differs for the dispatcher, and drop vectors that no memory uses.

A space that nobody used for long is put to rest where the index has such a thing; it is not compared, which would wake it.
"""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import Connection
from temporalio import activity

from hindwise.engine import Engine
from hindwise.index.base import RestingIndex
from hindwise.index.projection import index_space
from hindwise.ledger import embeddings, leases, spaces, upkeep
from workflows.contracts import BatchInput, BatchResult

_SPACES = 50
_VECTORS = 500
"""Dropped at most in one space and one day."""
_DAY_S = 23.9 * 3600
"""A little less than a day, so that the pass does not wander through the day."""
_ANSWER_S = 10.0


async def compare_index(engine: Engine, message: BatchInput) -> BatchResult:
    """Compare one page of spaces above `cursor`. The day's first batch takes a lease, so that later passes of the day do nothing."""
    page = min(message.page, _SPACES)
    if message.cursor == 0 and not await _first_of_the_day(engine):
        return BatchResult()
    found = await engine.ledger.read(lambda conn: upkeep.spaces_after(conn, message.cursor, page))
    marked = 0
    resting = await _put_to_rest(engine, found)
    for space_no, tenant_id, name in found:
        if space_no in resting:
            continue
        async with asyncio.timeout(_ANSWER_S):
            indexed = await engine.index.ids(index_space(tenant_id, name))
        now = engine.clock.now()
        marked += await engine.ledger.write(lambda conn, no=space_no, ids=indexed, at=now: _settle(conn, no, ids, at))  # type: ignore[misc]
    return BatchResult(changed=marked, more=len(found) == page, cursor=found[-1][0] if found else message.cursor)


async def _put_to_rest(engine: Engine, found: Sequence[tuple[int, str, str]]) -> set[int]:
    """Rest the idle ones of a page of spaces (number, tenant, name); return the numbers of those that are at rest."""
    if not isinstance(engine.index, RestingIndex):
        return set()
    before = engine.clock.now() - timedelta(days=engine.settings.weaviate_idle_days)
    idle = await engine.ledger.read(lambda conn: spaces.idle(conn, [number for number, _, _ in found], before))
    names = {index_space(tenant_id, name): number for number, tenant_id, name in found if number in idle}
    return {names[name] for name in await engine.index.rest(list(names))} if names else set()


def _settle(conn: Connection, space_no: int, indexed: set[str], now: datetime) -> int:
    embeddings.purge_unused(conn, space_no, _VECTORS)
    return upkeep.mark_differences(conn, space_no, indexed, now)


async def _first_of_the_day(engine: Engine) -> bool:
    # Held by the pass, not by the process: a repeated attempt of the same pass goes on, the next pass does not.
    holder, now = activity.info().workflow_run_id or "", engine.clock.now()
    return await engine.ledger.write(lambda conn: leases.take(conn, "compare-index", holder, now, _DAY_S))
