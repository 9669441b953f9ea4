"""Close memories whose time is over."""

from hindwise.engine import Engine
from hindwise.ledger import upkeep
from workflows.contracts import BatchInput, BatchResult


async def expire(engine: Engine, message: BatchInput) -> BatchResult:
    """Close one page of memories past their time; pinned and confirmed ones stay."""
    now = engine.clock.now()
    changed = await engine.ledger.write(lambda conn: upkeep.expire(conn, now, message.page))
    return BatchResult(changed=changed, more=changed == message.page)
