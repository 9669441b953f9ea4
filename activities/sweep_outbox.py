"""Make the index agree with the ledger where the dispatcher has not: it may be down, or have started later than the change."""

from hindwise.engine import Engine
from hindwise.index.dispatcher import sweep
from workflows.contracts import BatchInput, BatchResult

_SPACES = 50
"""Spaces of one batch: each may embed some texts, and the batch has two minutes."""


async def sweep_outbox(engine: Engine, message: BatchInput) -> BatchResult:
    """Bring one page of dirty spaces up to date. Raises a space's error only where no space at all went well."""
    swept = await sweep(engine.projection, engine.ledger, limit=min(message.page, _SPACES))
    if swept.failed and not swept.applied:
        raise next(iter(swept.failed.values()))
    return BatchResult(changed=swept.applied, more=bool(swept.applied) and swept.spaces == min(message.page, _SPACES))
