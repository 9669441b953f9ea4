"""Ask a reflector once, and keep the whole answer. An attempt that is stored already is never asked again."""

import asyncio
from collections.abc import Mapping, Sequence

from sqlalchemy import Connection

from hindwise.engine import Engine
from hindwise.errors import AnswerUnusable, ModelRefused
from hindwise.ledger import episodes, reflections
from hindwise.ledger.reflections import Attempt
from hindwise.model.episode import Episode
from hindwise.model.reflection import Answer, Complaint, Usage
from hindwise.reflect.base import Known, Reflector
from hindwise.reflect.known import what_is_known
from workflows.contracts import ReflectInput, ReflectResult

_MAX_COMPLAINTS = 20


async def reflect(engine: Engine, message: ReflectInput, reflectors: Mapping[str, Reflector]) -> ReflectResult:
    """Ask `message.reflector` about the episode; an answer without the agreed form is kept as unusable.

    Raises ModelUnavailable, ModelRefused (also where this worker has no such reflector).
    """
    before = await engine.ledger.read(lambda conn: reflections.attempts(conn, message.reflection_id))
    if (stored := _number(before, message.attempt)) is not None:
        return _result(stored)
    now = engine.clock.now()
    reflector = reflectors.get(message.reflector)
    if reflector is None:
        raise ModelRefused(f"this worker has no reflector {message.reflector!r}: check HINDWISE_REFLECTOR and LLM_MODEL")

    row = await engine.ledger.read(lambda conn: reflections.row_of(conn, message.reflection_id))
    await engine.ledger.write(lambda conn: reflections.set_running(conn, row.id, "reflect", now))
    episode, task_key = await engine.ledger.read(
        lambda conn: (episodes.load(conn, row.tenant_id, row.episode_id), episodes.row_of(conn, row.tenant_id, row.episode_id).task_key)
    )
    # Rules contrast with earlier episodes and know no memories; a model is shown the nearest ones.
    known = await what_is_known(engine.ledger, engine.index, engine.embedder, episode, task_key, memories=reflector.name != "rules")
    answer, unusable = await _ask(reflector, episode, known, _complaints(before, message.attempt))
    written_by = " ".join(part for part in (reflector.name, reflector.model, reflector.prompt_version) if part)

    def keep(conn: Connection) -> list[Attempt]:
        reflections.store_attempt(conn, message.reflection_id, message.attempt, reflector.name, written_by, answer, now, unusable=unusable)
        return reflections.attempts(conn, message.reflection_id)

    kept = _number(await engine.ledger.write(keep), message.attempt)
    return _result(kept) if kept else ReflectResult(usable=False)


async def _ask(reflector: Reflector, episode: Episode, known: Known, complaints: Sequence[Complaint]) -> tuple[Answer, str]:
    """Return the answer and "", or an empty one and why it cannot be used."""
    try:
        if reflector.name == "rules":
            # Rules compute and never wait: a long transcript would hold up every other step of this process.
            return await asyncio.to_thread(asyncio.run, _reflect(reflector, episode, known, complaints)), ""
        return await reflector.reflect(episode, known, complaints), ""
    except AnswerUnusable as error:
        return Answer(raw=error.raw, usage=Usage(**error.usage)), error.detail or "not in the agreed form"


async def _reflect(reflector: Reflector, episode: Episode, known: Known, complaints: Sequence[Complaint]) -> Answer:
    return await reflector.reflect(episode, known, complaints)


def _number(found: Sequence[Attempt], number: int) -> Attempt | None:
    return next((attempt for attempt in found if attempt.number == number), None)


def _complaints(found: Sequence[Attempt], number: int) -> list[Complaint]:
    """What was said of the attempt before: by the validators, or that it had not the agreed form."""
    before = _number(found, number - 1)
    if before is None:
        return []
    if before.unusable:
        return [Complaint(rule="form", text=before.unusable)]
    return [Complaint(**item) for item in (before.grounded or {}).get("complaints", [])][:_MAX_COMPLAINTS]


def _result(attempt: Attempt) -> ReflectResult:
    usage = attempt.answer.usage
    return ReflectResult(
        usable=not attempt.unusable,
        drafts=len(attempt.answer.drafts),
        calls=usage.calls,
        tokens=usage.prompt_tokens + usage.completion_tokens,
    )
