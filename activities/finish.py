"""Make a reflection final in the ledger; whoever asks for its status reads it there."""

import asyncio
from datetime import datetime

from sqlalchemy import Connection

from hindwise.engine import Engine
from hindwise.errors import NotFound
from hindwise.ledger import attempts, episodes, reflections, spending
from hindwise.model.reflection import ReflectionStatus
from hindwise.reflect.budget import day_of
from hindwise.reflect.gate import worth_reflecting
from hindwise.reflect.rules import RuleReflector
from workflows.contracts import FinishInput, FinishResult

_ERASED = "its space was erased"
_REASONS = {
    "erased": _ERASED,
    "newer-verdict": "a later verdict of the same task is reflected instead",
    "person": "a person skipped it",
}
_VANISHED = "the step {step} found gone what it needs, three times in a row. Next: `hindwise rerun` looks back over the task anew."
_SOMETHING_GONE = frozenset({"erased", "vanished"})


async def finish(engine: Engine, message: FinishInput) -> FinishResult:
    """Set the final status with the reason in words; a second call changes nothing.

    Where something was gone the reflection that the work began with ends, so that no sweep begins it again for ever; one that is there in
    its place belongs to a user who was erased and came back with the same task, and is left alone.
    """
    reason = await _reason(engine, message) if message.status == "skipped" else ""
    error = _VANISHED.format(step=message.step) if message.status == "failed" else ""
    now = engine.clock.now()

    def end(conn: Connection) -> str | None:
        if message.skip_code in _SOMETHING_GONE and not _is_ours(conn, message):
            return None
        status = ReflectionStatus(message.status)
        ended = reflections.finish(
            conn, message.reflection_id, status, now, index_pending=message.index_pending, skip_reason=reason, error=error
        )
        if ended and message.status != "completed":
            _account(conn, engine, message, now)
        return ended

    ended = await engine.ledger.write(end)
    if ended is not None:
        engine.recent.forget(ended)
    return FinishResult(gone=ended is None)


def _is_ours(conn: Connection, message: FinishInput) -> bool:
    """Whether the reflection that the work began with is there still. Unknown where nothing was gathered: the next start knows it."""
    try:
        row = reflections.row_of(conn, message.reflection_id, lock=True)
    except NotFound:
        return False
    return bool(row.created_at.isoformat() == message.began)


def _account(conn: Connection, engine: Engine, message: FinishInput, now: datetime) -> None:
    """Of a model's reflection that came to nothing: the question that the free check saved, and what was planned for it."""
    row = reflections.row_of(conn, message.reflection_id)
    if row.reflector == RuleReflector.name:
        return
    spending.give_back(conn, row.id)
    if message.skip_code == "nothing-to-learn":
        spending.count_saved(conn, row.tenant_id, day_of(now), engine.settings.llm_model)


async def _reason(engine: Engine, message: FinishInput) -> str:
    if message.skip_code in _REASONS:
        return _REASONS[message.skip_code]
    try:
        return (await _nothing_because(engine, message))[:500]
    except NotFound:
        return _ERASED


async def _nothing_because(engine: Engine, message: FinishInput) -> str:
    """Why nothing was kept: the gate's words, the reflector's, or the first refusal."""
    row = await engine.ledger.read(lambda conn: reflections.row_of(conn, message.reflection_id))
    if message.skip_code == "nothing-to-learn":
        episode = await engine.ledger.read(lambda conn: episodes.load(conn, row.tenant_id, row.episode_id, recent=engine.recent))
        return await asyncio.to_thread(worth_reflecting, episode) or "nothing to learn"
    found = await engine.ledger.read(lambda conn: attempts.all_of(conn, message.reflection_id))
    said = next((attempt.answer.nothing_because for attempt in reversed(found) if attempt.answer.nothing_because), "")
    refused = [item["reason"] for item in row.rejected]
    return said or (f"all {len(refused)} drafts were refused: {refused[0]}" if refused else "what it says was known already")
