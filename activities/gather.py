"""Take a reflection up: is it still wanted, is there anything to learn, and in which spaces does it happen?"""

import asyncio
from typing import Any

from sqlalchemy import Connection, Row

from hindwise.engine import Engine
from hindwise.ledger import episodes, intake, reflections, spaces, spending
from hindwise.ledger.recent import RecentEpisodes
from hindwise.model.episode import Episode
from hindwise.model.space import spaces_of
from hindwise.reflect.budget import day_of, estimate
from hindwise.reflect.gate import worth_reflecting
from hindwise.reflect.rules import RuleReflector
from workflows.contracts import GatherResult, StepInput

BESIDE_THE_QUESTION_S = 60.0
"""What a step that asks a model may spend besides: half a minute of waiting for tokens held for others, and reading what is known."""


async def gather(engine: Engine, message: StepInput) -> GatherResult:
    """Mark the reflection as running and note the epochs of its spaces; skip what is final, overtaken, or teaches nothing."""
    now = engine.clock.now()

    def take_up(conn: Connection) -> tuple[Row[Any], Row[Any] | None, str]:
        row = reflections.take_up(conn, message.reflection_id, "gather", now)
        if row is None:
            return reflections.row_of(conn, message.reflection_id), None, "final"
        if intake.has_newer_run(conn, row.episode_id, row.run_number):
            return row, None, "newer-verdict"
        found = episodes.row_of(conn, row.tenant_id, row.episode_id)
        if not row.epochs:
            names = spaces_of(found.user_id, found.agent_id)
            epochs = {name: space.epoch for name, space in spaces.made(conn, row.tenant_id, names).items()}
            reflections.set_epochs(conn, row.id, epochs)
        return row, found, ""

    row, found, skip_code = await engine.ledger.write(take_up)
    if found is None:
        return GatherResult(skip=True, skip_code=skip_code, reflector=row.reflector)
    episode, nothing = await engine.ledger.read(lambda conn: _look(conn, found, engine.recent))
    # A reflection that replaces an earlier one goes on all the same: what the old one taught must be superseded.
    skip = nothing is not None and not row.replaces
    ceiling = engine.settings.llm_daily_tokens
    asks_model = ceiling and row.reflector != RuleReflector.name and not skip
    return GatherResult(
        over_budget=bool(asks_model) and not await _fits(engine, row.id, episode, ceiling),
        skip=skip,
        skip_code="nothing-to-learn" if skip else "",
        reflector=row.reflector,
        began=row.created_at.isoformat(),
        outcome=str(episode.outcome.status),
        turns=len(episode.turns),
        budget_s=engine.settings.llm_budget_s,
        step_s=max(GatherResult().step_s, engine.settings.llm_timeout_s + BESIDE_THE_QUESTION_S),
    )


async def _fits(engine: Engine, reflection_id: str, episode: Episode, ceiling: int) -> bool:
    """Whether the first question fits into the tenant's day: told here, so that nothing waits behind a model only to hear that it does not.

    Whoever asks looks again, under a lock.
    """
    tokens, day = await asyncio.to_thread(estimate, episode.turns), day_of(engine.clock.now())
    held = spending.hold_id(reflection_id, 1)

    def look(conn: Connection) -> bool:
        # What is held for others may come out cheaper: only what is used is past help.
        return spending.is_held(conn, held, day) or spending.room(conn, episode.tenant_id, day).used + tokens <= ceiling

    return await engine.ledger.read(look)


def _look(conn: Connection, found: Row[Any], recent: RecentEpisodes) -> tuple[Episode, str | None]:
    """The episode, and why there is nothing to learn from it. On the thread that reads, so that only one more is woken."""
    episode = episodes.assemble(conn, found, recent)
    return episode, worth_reflecting(episode)
