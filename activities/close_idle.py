"""Cut the open task of an idle session, and say which reflections are to be started."""

import asyncio

from sqlalchemy import Connection, select

from hindwise.engine import Engine
from hindwise.ledger import intake, sessions
from hindwise.ledger.schema import episodes, reflections
from hindwise.ledger.sessions import SessionRow
from hindwise.model.episode import Outcome
from hindwise.reflect.rules.outcome import read_outcome
from workflows.contracts import CloseIdleInput, CloseIdleResult

_MAX_STARTS = 20


async def close_idle(engine: Engine, message: CloseIdleInput) -> CloseIdleResult:
    """Close the open task with the outcome that rules read, and the session with it; a turn that came meanwhile wins.

    Called again it finds the task closed and names the same reflections, as long as they are queued.
    """
    found, outcome = await _read_open_task(engine, message.handle)
    now = engine.clock.now()

    def close(conn: Connection) -> CloseIdleResult:
        session = sessions.lock(conn, found.tenant_id, found.session_id)
        has_open_task = session.open_seq <= session.last_seq
        if has_open_task and session.last_seq > max(message.last_seq, 0):
            return CloseIdleResult(last_seq=session.last_seq, newer_turns=True)
        if has_open_task:
            intake.complete_task(
                conn, session, engine.reflector_id(), goal="", outcome=outcome, recall_ids=(), close=True, now=now, closed_by="idle"
            )
        elif session.state != "closed":
            sessions.close(conn, session, now)
        return CloseIdleResult(reflection_ids=_queued(conn, session), last_seq=session.last_seq)

    return await engine.ledger.write(close)


async def _read_open_task(engine: Engine, handle: str) -> tuple[SessionRow, Outcome]:
    """Reading what the outcome was takes time and no lock: it happens before the transaction."""
    session = await engine.ledger.read(lambda conn: sessions.by_handle(conn, handle))
    turns = await engine.ledger.read(
        lambda conn: sessions.turns_of(conn, session.tenant_id, session.session_id, session.open_seq, session.last_seq)
    )
    return session, await asyncio.to_thread(read_outcome, turns) if turns else Outcome()


def _queued(conn: Connection, session: SessionRow) -> tuple[str, ...]:
    query = (
        select(reflections.c.id)
        .join(episodes, episodes.c.id == reflections.c.episode_id)
        .where(episodes.c.tenant_id == session.tenant_id, episodes.c.session_id == session.session_id, reflections.c.status == "queued")
        .order_by(reflections.c.created_at)
        .limit(_MAX_STARTS)
    )
    return tuple(conn.execute(query).scalars())
