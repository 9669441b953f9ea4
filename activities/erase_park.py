"""Say in the receipt why an erasure cannot go on at present."""

from hindwise.engine import Engine
from hindwise.privacy import erase_user
from workflows.contracts import Done
from workflows.erase_messages import EraseParkInput


async def erase_park(engine: Engine, message: EraseParkInput) -> Done:
    """Set needs_attention; the next step that begins anew takes it back."""
    error = f"{message.step} failed ({message.cause}): {message.detail[:300]} Tried again every 15 minutes, or at once when asked again."
    await erase_user.park(engine, message.erasure_id, error)
    return Done()
