"""Look again at memories that are due for review."""

from hindwise.engine import Engine
from hindwise.ledger import upkeep
from workflows.contracts import BatchInput, BatchResult


async def reverify(engine: Engine, message: BatchInput) -> BatchResult:
    """Review one page: what one task said once and none needed since loses a tenth of its confidence."""
    now = engine.clock.now()
    changed = await engine.ledger.write(lambda conn: upkeep.reverify(conn, engine.rules, now, message.page))
    return BatchResult(changed=changed, more=changed == message.page)
