"""Raise the epoch of the space that is to be erased: nothing that is under way can write into it any more."""

from hindwise.engine import Engine
from hindwise.privacy import erase_user
from workflows.contracts import Done
from workflows.erase_messages import EraseStep


async def erase_begin(engine: Engine, message: EraseStep) -> Done:
    """Raise it once, and note in the receipt that the erasure runs. Raises NotFound where there is no receipt."""
    await erase_user.begin(engine, message.erasure_id)
    return Done()
