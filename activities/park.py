"""Say in the ledger that a reflection waits for a person, with the cause and the next step."""

from hindwise.engine import Engine
from hindwise.ledger import reflections
from workflows.contracts import Done, ParkInput

_NEXT = "retry after mending the cause, use_rules to go on without a model, or skip"


async def park(engine: Engine, message: ParkInput) -> Done:
    """Set needs_attention; the next step that runs takes it back."""
    error = f"{message.step} failed ({message.cause}): {message.detail[:300].rstrip('.')}. Next: {_NEXT}."
    await engine.ledger.write(lambda conn: reflections.set_parked(conn, message.reflection_id, error))
    return Done()
