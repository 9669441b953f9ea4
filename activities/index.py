"""Make what was concluded recallable: bring the index of the reflection's spaces up to date, for at most ten seconds."""

import asyncio

from sqlalchemy import Connection

from hindwise.engine import Engine
from hindwise.errors import IndexUnavailable, ModelRefused, ModelUnavailable
from hindwise.ledger import reflections, upkeep
from workflows.contracts import IndexResult, StepInput

WAIT_S = 10.0
_AGAIN_S = 0.1


async def index(engine: Engine, message: StepInput) -> IndexResult:
    """Apply what is dirty up to now; `pending` when it takes longer, or the index is away: the dispatcher does the rest."""
    now = engine.clock.now()

    def look(conn: Connection) -> tuple[dict[int, int], list[int]]:
        row = reflections.row_of(conn, message.reflection_id)
        wanted = upkeep.ledger_numbers(conn, row.tenant_id, list(row.epochs))
        return wanted, upkeep.behind(conn, wanted)

    def running(conn: Connection) -> None:
        reflections.set_running(conn, message.reflection_id, "index", now)

    wanted, left = await engine.ledger.read(look)
    applied = 0
    try:
        async with asyncio.timeout(WAIT_S):
            while left:
                done = await engine.projection.some_spaces(left, running)
                applied += sum(number or 0 for number in done)
                if None not in done:  # each was clean to its last mark when it was given back
                    break
                if left := await engine.ledger.read(lambda conn: upkeep.behind(conn, wanted)):
                    await asyncio.sleep(_AGAIN_S)  # another process holds the lease and works on it
    except (TimeoutError, IndexUnavailable, ModelUnavailable, ModelRefused):
        return IndexResult(pending=True, applied=applied)
    return IndexResult(applied=applied)
