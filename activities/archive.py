"""Take out of the index what no task was told for long."""

from hindwise.engine import Engine
from hindwise.ledger import upkeep
from workflows.contracts import BatchInput, BatchResult


async def archive(engine: Engine, message: BatchInput) -> BatchResult:
    """Archive one page of memories; they stay in the ledger and can be restored."""
    now = engine.clock.now()
    changed = await engine.ledger.write(lambda conn: upkeep.archive(conn, engine.rules, now, message.page))
    return BatchResult(changed=changed, more=changed == message.page)
