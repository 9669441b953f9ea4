"""Name what runs for the user who is to be erased, by handles and ids."""

from hindwise.engine import Engine
from hindwise.privacy import erase_user
from workflows.erase_messages import EraseOpenInput, EraseOpenResult

_PAGE = 100
"""Of sessions and of reflections: so many are cancelled side by side."""


async def erase_open(engine: Engine, message: EraseOpenInput) -> EraseOpenResult:
    """Return a page, in order, above what is named."""
    found = await erase_user.open_work(engine, message.erasure_id, message.after_session, message.after_reflection, _PAGE)
    return EraseOpenResult(sessions=found.sessions, reflections=found.reflections, more=found.more)
