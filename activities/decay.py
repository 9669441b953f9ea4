"""Store how fresh memories are, in coarse bands, for filters; recall computes the exact value."""

from hindwise.engine import Engine
from hindwise.ledger import upkeep
from workflows.contracts import BatchInput, BatchResult


async def decay(engine: Engine, message: BatchInput) -> BatchResult:
    """Refresh one page of memories whose band changed."""
    now = engine.clock.now()
    changed = await engine.ledger.write(lambda conn: upkeep.refresh(conn, engine.rules, now, message.page))
    return BatchResult(changed=changed, more=changed == message.page)
