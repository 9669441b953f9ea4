"""Forget the words of tasks past their retention, and idempotency keys past their use."""

from datetime import timedelta

from sqlalchemy import Connection

from hindwise.engine import Engine
from hindwise.ledger import episodes, idempotency
from workflows.contracts import BatchInput, BatchResult

KEYS_DAYS = 7
"""How long an Idempotency-Key is remembered."""


async def purge_turns(engine: Engine, message: BatchInput) -> BatchResult:
    """Delete the turns of one page of episodes that no unfinished reflection needs."""
    now = engine.clock.now()
    before = now - timedelta(days=engine.settings.retain_turns_days)

    def purge(conn: Connection) -> int:
        idempotency.purge(conn, now - timedelta(days=KEYS_DAYS))
        return episodes.purge_turns(conn, before, now, message.page)

    purged = await engine.ledger.write(purge)
    return BatchResult(changed=purged, more=purged == message.page)
