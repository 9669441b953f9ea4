"""Forget the words of tasks and the log of recalls past their retention, and idempotency keys past their use."""

from datetime import timedelta

from sqlalchemy import Connection

from hindwise.engine import Engine
from hindwise.ledger import episodes, idempotency, recalls
from workflows.contracts import BatchInput, BatchResult

KEYS_DAYS = 7
"""How long an Idempotency-Key is remembered."""


async def purge_turns(engine: Engine, message: BatchInput) -> BatchResult:
    """Delete the turns of one page of episodes that no unfinished reflection needs, and one page of logged recalls as old."""
    now = engine.clock.now()
    before = now - timedelta(days=engine.settings.retain_turns_days)

    def purge(conn: Connection) -> tuple[int, int]:
        idempotency.purge(conn, now - timedelta(days=KEYS_DAYS))
        return episodes.purge_turns(conn, before, now, message.page), recalls.purge(conn, before, message.page)

    purged = await engine.ledger.write(purge)
    return BatchResult(changed=sum(purged), more=message.page in purged)
