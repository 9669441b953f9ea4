"""Settle what was accepted with what is known: one transaction, whose receipt makes a second run return the first result."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import datetime

import structlog
from sqlalchemy import Connection

from hindwise.engine import Engine
from hindwise.errors import HindwiseError, NotFound
from hindwise.index.document import document_of
from hindwise.index.projection import embed_documents
from hindwise.ledger import attempts, episodes, intake, live, memories, reflections, spaces, spending
from hindwise.ledger.attempts import Attempt
from hindwise.ledger.recent import RecentEpisodes
from hindwise.ledger.resolution import Placement, Resolution
from hindwise.model.episode import Episode
from hindwise.model.memory import Draft
from hindwise.model.reflection import Decision, Rejected, Usage
from hindwise.reflect.budget import MARK, day_of
from hindwise.reflect.placing import placements_of
from workflows.contracts import ResolveInput, ResolveResult

_EMBED_S = 20.0
_ADDED = frozenset({"add", "late", "retract"})

_log = structlog.get_logger(__name__)


async def resolve(engine: Engine, message: ResolveInput) -> ResolveResult:
    """Turn the accepted drafts of one attempt into memories and supersede what earlier reflections of the episode taught.

    `skipped` when a later verdict started another reflection. Raises SpaceErased.
    """
    found, attempt, episode, created_at = await engine.ledger.read(lambda conn: _load(conn, message, engine.recent))
    accepted = [(int(ordinal), Draft(**draft)) for ordinal, draft in (attempt.grounded or {}).get("accepted", [])]
    to_agent = engine.settings.lessons == "agent"
    placements, ownerless = await asyncio.to_thread(placements_of, accepted, episode, lessons_to_agent=to_agent)
    await _embed_ahead(engine, episode.tenant_id, placements)
    usage = _usage(found)
    rejected = [*(Rejected(**item) for item in (attempt.grounded or {}).get("rejected", [])), *ownerless]
    now = engine.clock.now()
    return await engine.ledger.write(
        lambda conn: _settle(conn, engine, message, created_at, attempt, episode, placements, rejected, usage, now)
    )


def _load(conn: Connection, message: ResolveInput, recent: RecentEpisodes) -> tuple[list[Attempt], Attempt, Episode, datetime]:
    row = reflections.row_of(conn, message.reflection_id)
    found = attempts.all_of(conn, message.reflection_id)
    attempt = next((attempt for attempt in found if attempt.number == message.attempt), None)
    if attempt is None:
        raise NotFound(f"reflection {message.reflection_id} has no attempt {message.attempt}")
    return found, attempt, episodes.load(conn, row.tenant_id, row.episode_id, recent=recent), row.created_at


async def _embed_ahead(engine: Engine, tenant_id: str, placements: Sequence[Placement]) -> None:
    """Compute the vectors before the transaction, so that the index step finds them. An embedder that is away costs time later."""
    if not engine.embedder.dim:
        return
    names = sorted({placement.space for placement in placements})
    rows = await engine.ledger.read(lambda conn: spaces.find(conn, tenant_id, names))
    try:
        async with asyncio.timeout(_EMBED_S):
            for name in names:
                documents = [document_of(placement.draft) for placement in placements if placement.space == name]
                texts = {document.text_hash: document.text for document in documents}
                if name in rows:
                    await embed_documents(engine.ledger, engine.embedder, rows[name].no, rows[name].epoch, texts)
    except (HindwiseError, TimeoutError) as error:
        _log.warning("embedding_left_to_the_dispatcher", cause=getattr(error, "type", "timeout"))


def _usage(found: Sequence[Attempt]) -> Usage:
    total = Usage()
    for attempt in found:
        total = total.plus(attempt.answer.usage)
    return total


def _settle(
    conn: Connection,
    engine: Engine,
    message: ResolveInput,
    created_at: datetime,
    attempt: Attempt,
    reflected: Episode,
    placements: Sequence[Placement],
    rejected: Sequence[Rejected],
    usage: Usage,
    now: datetime,
) -> ResolveResult:
    # The verdict's row is locked first: a later verdict either waits for this to end, or is seen here.
    episode = episodes.row_of(conn, reflected.tenant_id, reflected.id, lock=True)
    row = reflections.same(conn, message.reflection_id, created_at)
    if row.written_by:
        return _result([Decision(**item) for item in row.decisions], row.rejected, row.due)
    if reflections.is_final(row) or intake.has_newer_run(conn, row.episode_id, row.run_number):
        return ResolveResult(skipped=True)
    decisions = Resolution(
        conn=conn,
        tenant_id=row.tenant_id,
        reflection_id=row.id,
        actor=f"reflection:{row.id}",
        now=now,
        rules=engine.rules,
        min_confidence=engine.settings.min_confidence,
        default_valid_from=episode.ended_at,
        epochs=row.epochs,
    ).run(
        placements,
        replaces=intake.earlier_runs(conn, row.episode_id, row.run_number),
        replaces_why=row.reason
        or ("the task was reflected again" if row.replaces else "the look back over the whole task did not keep it"),
        captured=live.writers(conn, row.tenant_id, episode.session_id, row.episode_id),
    )
    due = _due(conn, row.id)
    reflections.set_result(
        conn,
        row.id,
        written_by=attempt.written_by,
        fallback_from=_fallback(message, attempt, row.reflector),
        usage=usage,
        decisions=decisions,
        rejected=rejected,
        due=due,
    )
    if message.fallback_cause == MARK:
        spending.count_refused(conn, row.tenant_id, day_of(now), engine.settings.llm_model)
    if row.reflector != attempt.reflector:
        spending.give_back(conn, row.id)
    return _result(decisions, rejected, due)


def _fallback(message: ResolveInput, attempt: Attempt, asked: str) -> str:
    """Who should have answered, and why rules did. Marked also where the workflow began anew and found the rules' answer stored."""
    origin = message.fallback_from or (asked if attempt.reflector != asked else "")
    return f"{origin}: {message.fallback_cause or 'unavailable'}" if origin else ""


def _due(conn: Connection, reflection_id: str) -> dict[str, str]:
    """Day -> what is due then, for the memories that this reflection wrote: {"2026-12-12": "review 2"}."""
    counted: Counter[tuple[str, str]] = Counter()
    for review_at, expires_at in memories.due_of_reflection(conn, reflection_id):
        for what, moment in (("review", review_at), ("expire", expires_at)):
            if moment is not None:
                counted[moment.date().isoformat(), what] += 1
    days: dict[str, str] = {}
    for (day, what), number in sorted(counted.items()):
        days[day] = ", ".join(part for part in (days.get(day, ""), f"{what} {number}") if part)
    return days


def _result(decisions: Sequence[Decision], rejected: Sequence[object], due: dict[str, str]) -> ResolveResult:
    actions = Counter(decision.action for decision in decisions)
    return ResolveResult(
        added=sum(number for action, number in actions.items() if action in _ADDED),
        agreed=actions["agree"],
        superseded=actions["supersede"],
        rejected=len(rejected),
        due_note=", ".join(f"{what} on {_in_words(day)}" for day, what in sorted(due.items())[:4]),
    )


def _in_words(day: str) -> str:
    moment = datetime.fromisoformat(day)
    return f"{moment.day} {moment:%b}"
