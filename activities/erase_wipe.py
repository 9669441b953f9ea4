"""Delete a user from every index and from the ledger."""

from hindwise.engine import Engine
from hindwise.privacy import erase_user
from workflows.erase_messages import EraseResult, EraseStep


async def erase_wipe(engine: Engine, message: EraseStep) -> EraseResult:
    """Delete everything; called again it goes on where it was. Raises IndexUnavailable, LedgerUnavailable."""
    return EraseResult(**erase_user.totals(await erase_user.wipe(engine, message.erasure_id)))
