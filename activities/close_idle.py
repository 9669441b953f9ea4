"""Cut what an idle session left open into its tasks, and say which reflections are to be started."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection, select

from hindwise.engine import Engine
from hindwise.ledger import intake, sessions
from hindwise.ledger.schema import episodes, reflections
from hindwise.ledger.sessions import SessionRow
from hindwise.model.episode import Outcome
from hindwise.model.turn import Turn
from hindwise.reflect.rules.outcome import read_outcome
from hindwise.reflect.segment import Part, segment
from workflows.contracts import CloseIdleInput, CloseIdleResult

_MAX_STARTS = 20
"""More than one range gives; what was left queued before comes first, and the sweep finds the rest."""


@dataclass(frozen=True, slots=True)
class _Task:
    """One task of the open range, with the outcome that rules read."""

    part: Part
    outcome: Outcome


async def close_idle(engine: Engine, message: CloseIdleInput) -> CloseIdleResult:
    """Close the open tasks with the outcomes that rules read, and the session with them; a turn that came meanwhile wins.

    All episodes and their queued reflections are kept in one transaction. Called again it finds the tasks closed and names the
    same reflections, as long as they are queued.
    """
    read, tasks = await _read_open_tasks(engine, message.handle)
    now = engine.clock.now()

    def close(conn: Connection) -> CloseIdleResult:
        session = sessions.lock(conn, read.tenant_id, read.session_id)
        has_open_task = session.open_seq <= session.last_seq
        if has_open_task and session.last_seq > max(message.last_seq, 0):
            return CloseIdleResult(last_seq=session.last_seq, newer_turns=True)
        if has_open_task:
            if (session.open_seq, session.last_seq) != (read.open_seq, read.last_seq):
                # Somebody completed a task or told turns since it was read: what was read cuts another range.
                return CloseIdleResult(last_seq=session.last_seq, newer_turns=True)
            _complete(conn, engine, session, tasks, now)
        elif session.state != "closed":
            sessions.close(conn, session, now)
        return CloseIdleResult(reflection_ids=_queued(conn, session), last_seq=session.last_seq)

    return await engine.ledger.write(close)


async def _read_open_tasks(engine: Engine, handle: str) -> tuple[SessionRow, tuple[_Task, ...]]:
    """Reading where tasks end and how takes time and no lock: it happens before the transaction."""
    session = await engine.ledger.read(lambda conn: sessions.by_handle(conn, handle))
    turns = await engine.ledger.read(
        lambda conn: sessions.turns_of(conn, session.tenant_id, session.session_id, session.open_seq, session.last_seq)
    )
    return session, await asyncio.to_thread(_tasks_of, turns)


def _tasks_of(turns: Sequence[Turn]) -> tuple[_Task, ...]:
    return tuple(
        _Task(part, read_outcome([turn for turn in turns if part.first_seq <= turn.seq <= part.last_seq])) for part in segment(turns)
    )


def _complete(conn: Connection, engine: Engine, session: SessionRow, tasks: Sequence[_Task], now: datetime) -> None:
    """Keep one episode for each task of the whole open range, in order; the last closes the session."""
    ends = sessions.recorded_times(conn, session.tenant_id, session.session_id, [task.part.last_seq for task in tasks[:-1]])
    for task in tasks:
        last = task is tasks[-1]
        intake.complete_task(
            conn,
            replace(session, open_seq=task.part.first_seq, last_seq=task.part.last_seq),
            engine.reflector_id(),
            goal=task.part.goal,
            outcome=task.outcome,
            recall_ids=(),
            close=last,
            now=now,
            closed_by="idle",
            # A brief told before the next task belongs to this one, one told later does not.
            ended=None if last else ends.get(task.part.last_seq),
        )


def _queued(conn: Connection, session: SessionRow) -> tuple[str, ...]:
    query = (
        select(reflections.c.id)
        .join(episodes, episodes.c.id == reflections.c.episode_id)
        .where(episodes.c.tenant_id == session.tenant_id, episodes.c.session_id == session.session_id, reflections.c.status == "queued")
        .order_by(reflections.c.created_at, episodes.c.first_seq, reflections.c.id)
        .limit(_MAX_STARTS)
    )
    return tuple(conn.execute(query).scalars())
