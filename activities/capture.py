"""Keep at once what a user asked to be remembered in an open task; the look back at its end has the last word."""

import asyncio
from datetime import datetime

from sqlalchemy import Connection

from hindwise.engine import Engine
from hindwise.ledger import live, sessions
from hindwise.ledger.resolution import Placement, Resolution
from hindwise.ledger.sessions import SessionRow
from hindwise.model.episode import Episode, Outcome
from hindwise.model.memory import Draft
from hindwise.model.space import user_space
from hindwise.model.turn import Turn
from hindwise.reflect.kept_words import masked_drafts
from hindwise.reflect.live import captured
from hindwise.safety.contacts import Contacts
from workflows.contracts import CaptureInput, CaptureResult

Found = list[tuple[Turn, list[Draft]]]


async def capture(engine: Engine, message: CaptureInput) -> CaptureResult:
    """Read the user's turns first_seq..last_seq of the open task by rules and keep what they state, in one transaction.

    Called again it finds what it wrote. A task that was completed meanwhile is left to its reflection. Raises NotFound where the session
    was erased.
    """
    session, turns = await engine.ledger.read(lambda conn: _open_turns(conn, message))
    if not session.user_id or not turns:
        return CaptureResult()
    found = await asyncio.to_thread(_captured, _so_far(session, turns), engine.settings.contacts())
    if not found:
        return CaptureResult()
    now = engine.clock.now()
    return await engine.ledger.write(lambda conn: _keep(conn, engine, session, found, now))


def _captured(episode: Episode, contacts: Contacts) -> Found:
    """What is kept: a turn may have been stored before the settings masked what it tells."""
    return [(turn, masked_drafts(drafts, contacts)) for turn, drafts in captured(episode)]


def _open_turns(conn: Connection, message: CaptureInput) -> tuple[SessionRow, tuple[Turn, ...]]:
    session = sessions.by_handle(conn, message.handle)
    first = max(message.first_seq, session.open_seq)
    return session, sessions.turns_of(conn, session.tenant_id, session.session_id, first, message.last_seq)


def _so_far(session: SessionRow, turns: tuple[Turn, ...]) -> Episode:
    return Episode(
        id=live.episode_name(session.tenant_id, session.session_id),
        tenant_id=session.tenant_id,
        user_id=session.user_id,
        agent_id=session.agent_id,
        session_id=session.session_id,
        outcome=Outcome(),
        turns=turns,
        started_at=turns[0].occurred_at,
        ended_at=turns[-1].occurred_at,
    )


def _keep(conn: Connection, engine: Engine, read: SessionRow, found: Found, now: datetime) -> CaptureResult:
    # Under the session's lock: a task that ends now either sees what is written here, or is seen here.
    session = sessions.lock(conn, read.tenant_id, read.session_id)
    if session.opened_at != read.opened_at:
        return CaptureResult()  # erased, and begun anew under the same name
    space, actions = user_space(session.user_id), []
    for turn, drafts in found:
        if turn.seq < session.open_seq:
            continue
        decisions = Resolution(
            conn=conn,
            tenant_id=session.tenant_id,
            reflection_id=live.writer_of(session.tenant_id, session.session_id, turn.seq),
            actor="capture",
            now=now,
            rules=engine.rules,
            min_confidence=engine.settings.min_confidence,
            default_valid_from=turn.occurred_at,
        ).run([Placement(number, draft, space) for number, draft in enumerate(drafts)])
        actions += [decision.action for decision in decisions]
    return CaptureResult(
        added=sum(actions.count(name) for name in ("add", "late", "retract")),
        agreed=actions.count("agree"),
        superseded=actions.count("supersede"),
    )
