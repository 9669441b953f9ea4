"""Search every store again, cut the logs of the databases, and complete the receipt."""

from hindwise.engine import Engine
from hindwise.privacy import erase_user
from workflows.erase_messages import EraseResult, EraseStep


async def erase_check(engine: Engine, message: EraseStep) -> EraseResult:
    """Complete the receipt where nothing is found. Raises IndexUnavailable, LedgerUnavailable: then it is tried again."""
    return EraseResult(**erase_user.totals(await erase_user.check(engine, message.erasure_id)))
