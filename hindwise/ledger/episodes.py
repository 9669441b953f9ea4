"""Episodes: cut once from turns, their verdicts kept in order, the evidence never rewritten."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, and_, bindparam, case, delete, exists, func, or_, select, update

from hindwise.errors import NotFound
from hindwise.ledger import sessions
from hindwise.ledger.databases import insert_new
from hindwise.ledger.direct import Direct
from hindwise.ledger.newest_first import Place, newest_first
from hindwise.ledger.recent import RecentEpisodes
from hindwise.ledger.schema import episodes, reflections, turns
from hindwise.model.episode import STRENGTH, Episode, Outcome
from hindwise.model.reflection import FINAL
from hindwise.model.turn import Turn

# Every step of a reflection asks this, so it is built once.
_ROW = select(episodes).where(episodes.c.tenant_id == bindparam("tenant"), episodes.c.id == bindparam("episode"))
_ROW_READ, _ROW_LOCKED = Direct(_ROW), Direct(_ROW.with_for_update())
_DIGEST = Direct(_ROW.with_only_columns(episodes.c.body_digest))
_EARLIER = (
    select(episodes)
    .where(
        episodes.c.tenant_id == bindparam("tenant"),
        episodes.c.task_key == bindparam("task"),
        episodes.c.id != bindparam("episode"),
        episodes.c.purged_at.is_(None),
    )
    .order_by((episodes.c.outcome_status == bindparam("outcome")).asc(), episodes.c.ended_at.desc(), episodes.c.id)
    .limit(bindparam("most"))
)
_EARLIER_OF_AGENT = Direct(_EARLIER.where(episodes.c.agent_id == bindparam("agent")))
_EARLIER_OF_USER = Direct(_EARLIER.where(episodes.c.user_id == bindparam("user"), episodes.c.agent_id == ""))


@dataclass(frozen=True, slots=True)
class Verdict:
    """A verdict as it came. `accepted`: it became the outcome; else it is kept in the history only."""

    outcome: Outcome
    at: datetime
    accepted: bool


def add(
    conn: Connection,
    episode: Episode,
    *,
    session_key: str,
    seqs: tuple[int, int],
    task_key: str,
    digest: str,
    recall_ids: Sequence[str],
    now: datetime,
) -> bool:
    """Keep a new episode; False when it is known, also where another transaction kept it a moment ago.

    `seqs`: first and last turn, inclusive. `task_key`: the generalised goal.
    """
    added = insert_new(
        conn,
        episodes,
        [
            {
                "id": episode.id,
                "tenant_id": episode.tenant_id,
                "user_id": episode.user_id,
                "agent_id": episode.agent_id,
                "session_id": episode.session_id,
                "run_id": episode.run_id,
                "source": episode.source,
                "goal": episode.goal,
                "inputs": episode.inputs,
                "session_key": session_key,
                "first_seq": seqs[0],
                "last_seq": seqs[1],
                "outcome": episode.outcome.model_dump(mode="json"),
                "outcome_status": str(episode.outcome.status),
                "outcome_history": [_history_row(episode.outcome, now, accepted=True)],
                "task_key": task_key[:500],
                "body_digest": digest,
                "recall_ids": list(recall_ids),
                "closed_by": episode.closed_by,
                "started_at": episode.started_at,
                "ended_at": episode.ended_at,
                "recorded_at": now,
            }
        ],
    )
    return bool(added.rowcount)


def _history_row(outcome: Outcome, now: datetime, *, accepted: bool) -> dict[str, Any]:
    return {"outcome": outcome.model_dump(mode="json"), "at": now.isoformat(), "accepted": accepted}


def row_of(conn: Connection, tenant_id: str, episode_id: str, *, lock: bool = False) -> Row[Any]:
    """Return the bare row. Raises NotFound."""
    row: Row[Any] | None = (_ROW_LOCKED if lock else _ROW_READ).first(conn, {"tenant": tenant_id, "episode": episode_id})
    if row is None:
        raise NotFound(f"no episode {episode_id!r}")
    return row


def find_digest(conn: Connection, tenant_id: str, episode_id: str) -> str | None:
    """Return the body digest of a known episode, or None."""
    found = _DIGEST.first(conn, {"tenant": tenant_id, "episode": episode_id})
    return found.body_digest if found else None


def load(conn: Connection, tenant_id: str, episode_id: str, *, with_turns: bool = True, recent: RecentEpisodes | None = None) -> Episode:
    """Return the episode with its turns, from `recent` where it is there. Raises NotFound."""
    row = row_of(conn, tenant_id, episode_id)
    return assemble(conn, row, recent) if with_turns else from_row(row)


def assemble(conn: Connection, row: Row[Any], recent: RecentEpisodes | None = None) -> Episode:
    """Return the episode of a row just read, with its turns, from `recent` where it is there."""
    if recent and (known := recent.get(row)):
        return known
    episode = from_row(row, sessions.turns_of(conn, row.tenant_id, row.session_key, row.first_seq, row.last_seq))
    if recent:
        recent.put(row, episode)
    return episode


def from_row(row: Row[Any], found: tuple[Turn, ...] = ()) -> Episode:
    """Build the model from a row and its turns."""
    return Episode(
        id=row.id,
        tenant_id=row.tenant_id,
        user_id=row.user_id,
        agent_id=row.agent_id,
        session_id=row.session_id,
        run_id=row.run_id,
        source=row.source,
        goal=row.goal,
        inputs=row.inputs,
        outcome=Outcome(**row.outcome),
        turns=found,
        started_at=row.started_at,
        ended_at=row.ended_at,
        closed_by=row.closed_by,
    )


def verdicts(row: Row[Any]) -> list[Verdict]:
    """All verdicts of an episode, oldest first."""
    return [Verdict(Outcome(**item["outcome"]), datetime.fromisoformat(item["at"]), item["accepted"]) for item in row.outcome_history]


def set_outcome(conn: Connection, row: Row[Any], outcome: Outcome, now: datetime) -> bool:
    """Keep a later verdict; return True when it changed what the task is taken for.

    A weaker source never overrules a stronger one (env > user > rule > judge); it stays in the history.
    """
    old = Outcome(**row.outcome)
    if old == outcome:
        return False
    accepted = STRENGTH[outcome.source] >= STRENGTH[old.source] or old.status == "unknown"
    values: dict[str, Any] = {"outcome_history": [*row.outcome_history, _history_row(outcome, now, accepted=accepted)][-100:]}
    if accepted:
        values |= {"outcome": outcome.model_dump(mode="json"), "outcome_status": str(outcome.status)}
    conn.execute(update(episodes).where(episodes.c.id == row.id).values(**values))
    return accepted


def page(
    conn: Connection,
    tenant_id: str,
    *,
    user_id: str = "",
    agent_id: str = "",
    outcome: str = "",
    ownerless: bool = False,
    after: Place | None = None,
    limit: int,
) -> list[Row[Any]]:
    """Return bare rows of one owner, newest first. `ownerless`: only those that name no user."""
    query = select(episodes).where(episodes.c.tenant_id == tenant_id)
    for column, value in ((episodes.c.user_id, user_id), (episodes.c.agent_id, agent_id), (episodes.c.outcome_status, outcome)):
        if value:
            query = query.where(column == value)
    if ownerless:
        query = query.where(episodes.c.user_id == "")
    return list(conn.execute(newest_first(query, episodes.c.ended_at, episodes.c.id, after, limit)))


def find_ids(conn: Connection, tenant_id: str, *, run_id: str = "", session_id: str = "", user_id: str = "") -> list[str]:
    """Return ids of the episodes of a run or session, newest first, at most 50. Callers' clocks may differ: a session counts its turns."""
    query = select(episodes.c.id).where(episodes.c.tenant_id == tenant_id)
    if run_id:
        query = query.where(episodes.c.run_id == run_id)
    if session_id:
        query = query.where(episodes.c.session_id == session_id)
    if user_id:
        query = query.where(episodes.c.user_id == user_id)
    newest = episodes.c.last_seq.desc() if session_id else episodes.c.ended_at.desc()
    return list(conn.execute(query.order_by(newest, episodes.c.id).limit(50)).scalars())


def recorded_before(conn: Connection, row: Row[Any]) -> datetime | None:
    """When the session's task before this one was recorded; None for the first, and for whole runs."""
    if not row.session_id:
        return None
    query = select(func.max(episodes.c.recorded_at)).where(
        episodes.c.tenant_id == row.tenant_id, episodes.c.session_id == row.session_id, episodes.c.last_seq < row.first_seq
    )
    found: datetime | None = conn.execute(query).scalar_one()
    return found


def earlier_of_task(conn: Connection, episode: Episode, task_key: str, limit: int = 6) -> tuple[Episode, ...]:
    """Return earlier episodes of the same generalised task in the same spaces, with turns, the opposite outcome first.

    With an agent: that agent's episodes (lessons are shared there); without: the user's own.
    """
    if not task_key:
        return ()
    owner = {"agent": episode.agent_id} if episode.agent_id else {"user": episode.user_id}
    asked = {
        "tenant": episode.tenant_id,
        "task": task_key[:500],
        "episode": episode.id,
        "outcome": str(episode.outcome.status),
        "most": limit,
        **owner,
    }
    rows = (_EARLIER_OF_AGENT if episode.agent_id else _EARLIER_OF_USER).rows(conn, asked)
    return tuple(from_row(row, sessions.turns_of(conn, row.tenant_id, row.session_key, row.first_seq, row.last_seq)) for row in rows)


def purge_turns(conn: Connection, before: datetime, now: datetime, limit: int) -> int:
    """Delete turns of episodes that ended before `before` and that no unfinished reflection needs; return how many episodes."""
    unfinished = exists().where(reflections.c.episode_id == episodes.c.id, reflections.c.status.not_in([str(s) for s in FINAL]))
    query = (
        select(episodes.c.id, episodes.c.tenant_id, episodes.c.session_key, episodes.c.first_seq, episodes.c.last_seq)
        .where(episodes.c.purged_at.is_(None), episodes.c.ended_at < before, ~unfinished)
        .order_by(episodes.c.ended_at)
        .limit(limit)
    )
    rows = list(conn.execute(query))
    if not rows:
        return 0
    ranges = [
        and_(turns.c.tenant_id == row.tenant_id, turns.c.session_key == row.session_key, turns.c.seq.between(row.first_seq, row.last_seq))
        for row in rows
    ]
    conn.execute(delete(turns).where(or_(*ranges)))
    # The goal of a task that ended by idleness is words of its turns.
    goal = case((episodes.c.closed_by == "idle", ""), else_=episodes.c.goal)
    conn.execute(update(episodes).where(episodes.c.id.in_([row.id for row in rows])).values(purged_at=now, goal=goal))
    return len(rows)
