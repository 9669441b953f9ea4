"""Ask a reflector once, and keep the whole answer. An attempt that is stored already is never asked again."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from hindwise.engine import Engine
from hindwise.errors import AnswerUnusable, BudgetSpent, ModelRefused, NotFound, SpaceErased
from hindwise.ledger import attempts, episodes, reflections
from hindwise.ledger.attempts import Attempt
from hindwise.ledger.recent import RecentEpisodes
from hindwise.ledger.spending import Hold, hold_id
from hindwise.model.episode import Episode
from hindwise.model.reflection import Answer, Complaint, Usage
from hindwise.reflect.base import Known, Reflector
from hindwise.reflect.kept_words import masked_conclusions
from hindwise.reflect.known import earlier_of, examples_of, with_memories
from hindwise.reflect.metered import PATIENCE_S, Meter
from hindwise.reflect.rules import RuleReflector, reflect_by_rules
from workflows.contracts import ReflectInput, ReflectResult

_MAX_COMPLAINTS = 20


async def reflect(engine: Engine, message: ReflectInput, reflectors: Mapping[str, Reflector]) -> ReflectResult:
    """Ask `message.reflector` about the episode; an answer without the agreed form is kept as unusable.

    A question that would be the last one again, byte by byte, is not asked: the answer would be the same.
    Raises ModelUnavailable, ModelRefused (also where this worker has no such reflector), SpaceErased.
    """
    asked = await engine.ledger.read(lambda conn: _asked(conn, message, engine.recent))
    before = asked.before
    if (stored := _number(before, message.attempt)) is not None:
        return _result(stored)
    reflector = reflectors.get(message.reflector)
    if reflector is None:
        raise ModelRefused(f"this worker has no reflector {message.reflector!r}: check HINDWISE_REFLECTOR and LLM_MODEL")

    if isinstance(reflector, RuleReflector):
        # Rules contrast with earlier episodes and know no memories. They compute and never wait: a long transcript would hold up every
        # other step of this process.
        answer = await asyncio.to_thread(reflect_by_rules, asked.episode, Known(earlier=asked.earlier))
        return await _keep(engine, message, reflector, asked, answer, "")

    complaints = _complaints(before, message.attempt)
    if complaints and _said(complaints) == _said(_complaints(before, message.attempt - 1)):
        return ReflectResult(usable=False, same_again=True)
    # A model takes its time, so that people see what is being waited for; rules are done before anyone could look.
    now = engine.clock.now()
    await engine.ledger.write(lambda conn: reflections.set_running(conn, message.reflection_id, "reflect", now))
    examples = await engine.ledger.read(lambda conn: examples_of(conn, asked.episode))
    known = Known(earlier=asked.earlier, examples=examples)
    known = await with_memories(engine.ledger, engine.index, engine.embedder, asked.episode, asked.task_key, known)
    meter, question = Meter(engine, reflector.model), hold_id(message.reflection_id, message.attempt)
    try:
        async with meter.question(asked.episode.tenant_id, question, asked.episode.turns, patience_s=PATIENCE_S) as held:
            answer, unusable = await _ask(reflector, asked.episode, known, complaints)
    except BudgetSpent:
        return ReflectResult(usable=False, over_budget=True)
    answer = answer.model_copy(update={"usage": meter.accounted(answer.usage, again=message.attempt > 1)})
    return await _keep(engine, message, reflector, asked, answer, unusable, (meter, held))


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked about, and what was answered before."""

    before: list[Attempt]
    episode: Episode
    task_key: str
    earlier: tuple[Episode, ...]
    created_at: datetime
    """Of the reflection that this is about."""


def _asked(conn: Connection, message: ReflectInput, recent: RecentEpisodes) -> _Asked:
    row = reflections.row_of(conn, message.reflection_id)
    found = episodes.row_of(conn, row.tenant_id, row.episode_id)
    episode, before = episodes.assemble(conn, found, recent), attempts.all_of(conn, row.id)
    return _Asked(before, episode, found.task_key, earlier_of(conn, episode, found.task_key), row.created_at)


async def _keep(
    engine: Engine,
    message: ReflectInput,
    reflector: Reflector,
    asked: _Asked,
    answer: Answer,
    unusable: str,
    metered: tuple[Meter, Hold] | None = None,
) -> ReflectResult:
    """Store the answer once, with what it cost; where the task was erased meanwhile only the cost is kept. Raises SpaceErased."""
    now, by_rules = engine.clock.now(), metered is None
    written_by = " ".join(part for part in (reflector.name, reflector.model, reflector.prompt_version) if part)
    if by_rules:  # a turn may have been stored before the settings masked what it tells
        answer = await asyncio.to_thread(masked_conclusions, answer, engine.settings.contacts())
    # Our rules give only what the same validators and the same gate let pass: what they said is kept with it, not asked for again.
    grounded = attempts.grounded_whole(answer) if by_rules else None
    attempt = Attempt(message.attempt, reflector.name, written_by, answer, unusable, grounded)

    def settle(conn: Connection) -> None:
        if metered is not None:
            meter, held = metered
            meter.settle(conn, held, answer.usage)

    def keep(conn: Connection) -> Attempt | None:
        reflections.same(conn, message.reflection_id, asked.created_at)
        settle(conn)
        if by_rules:
            reflections.set_running(conn, message.reflection_id, "reflect", now)
        if attempts.store(conn, message.reflection_id, attempt, now):
            return attempt
        return _number(attempts.all_of(conn, message.reflection_id), message.attempt)

    try:
        kept = await engine.ledger.write(keep)
    except (NotFound, SpaceErased):
        if metered is not None:
            await engine.ledger.write(settle)
        raise
    return _result(kept) if kept else ReflectResult(usable=False)


async def _ask(reflector: Reflector, episode: Episode, known: Known, complaints: Sequence[Complaint]) -> tuple[Answer, str]:
    """Return the answer and "", or an empty one and why it cannot be used."""
    try:
        return await reflector.reflect(episode, known, complaints), ""
    except AnswerUnusable as error:
        return Answer(raw=error.raw, usage=Usage(**error.usage), short=error.short), error.detail or "not in the agreed form"


def _number(found: Sequence[Attempt], number: int) -> Attempt | None:
    return next((attempt for attempt in found if attempt.number == number), None)


def _complaints(found: Sequence[Attempt], number: int) -> list[Complaint]:
    """What was said of the attempt before: by the validators, or that it had not the agreed form."""
    before = _number(found, number - 1)
    if before is None:
        return []
    if before.unusable:
        return [Complaint(rule="form", text=before.unusable, short=before.answer.short)]
    said = (before.grounded or {}).get("complaints", [])[:_MAX_COMPLAINTS]
    return [Complaint(**item, short=before.answer.short) for item in said]


def _said(complaints: Sequence[Complaint]) -> list[tuple[str, str, int | None]]:
    """What of complaints stands in a question; of which form they speak does not, and a form that was changed is kept."""
    return [(one.rule, one.text, one.ordinal) for one in complaints]


def _result(attempt: Attempt) -> ReflectResult:
    usage = attempt.answer.usage
    return ReflectResult(
        usable=not attempt.unusable,
        drafts=len(attempt.answer.drafts),
        calls=usage.calls,
        tokens=usage.prompt_tokens + usage.completion_tokens,
    )
