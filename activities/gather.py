"""Take a reflection up: is it still wanted, is there anything to learn, and in which spaces does it happen?"""

import asyncio

from sqlalchemy import Connection, Row

from hindwise.engine import Engine
from hindwise.ledger import episodes, intake, reflections, spaces
from hindwise.model.space import spaces_of
from hindwise.reflect.gate import worth_reflecting
from workflows.contracts import GatherResult, StepInput


async def gather(engine: Engine, message: StepInput) -> GatherResult:
    """Mark the reflection as running and note the epochs of its spaces; skip what is final, overtaken, or teaches nothing."""
    now = engine.clock.now()

    def take_up(conn: Connection) -> tuple[Row, str]:  # type: ignore[type-arg]
        row = reflections.row_of(conn, message.reflection_id)
        if not reflections.set_running(conn, row.id, "gather", now):
            return row, "final"
        if intake.has_newer_run(conn, row.episode_id, row.run_number):
            return row, "newer-verdict"
        episode = episodes.row_of(conn, row.tenant_id, row.episode_id)
        names = spaces_of(episode.user_id, episode.agent_id)
        spaces.ensure(conn, row.tenant_id, names)
        reflections.set_epochs(conn, row.id, {name: space.epoch for name, space in spaces.find(conn, row.tenant_id, names).items()})
        return row, ""

    row, skip_code = await engine.ledger.write(take_up)
    if skip_code:
        return GatherResult(skip=True, skip_code=skip_code, reflector=row.reflector)
    episode = await engine.ledger.read(lambda conn: episodes.load(conn, row.tenant_id, row.episode_id))
    nothing = await asyncio.to_thread(worth_reflecting, episode)
    # A reflection that replaces an earlier one goes on all the same: what the old one taught must be superseded.
    skip = nothing is not None and not row.replaces
    return GatherResult(
        skip=skip,
        skip_code="nothing-to-learn" if skip else "",
        reflector=row.reflector,
        outcome=str(episode.outcome.status),
        turns=len(episode.turns),
        budget_s=engine.settings.llm_budget_s,
    )
