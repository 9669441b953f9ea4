"""What enters: a task completed, a whole run, a later verdict, an idle close. Each is one transaction that also queues the reflection.

Once this returns, the work is accepted: whoever starts it in Temporal may do so late or twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, select

from hindwise.errors import EpisodeConflict, NotFound
from hindwise.ledger import episodes, live, reflections, sessions
from hindwise.ledger.direct import Direct
from hindwise.ledger.schema import reflections as reflection_rows
from hindwise.model.episode import Episode, Outcome
from hindwise.model.ids import digest, episode_of_range, episode_of_run, reflection_of
from hindwise.model.reflection import Reflection, ReflectionStatus
from hindwise.model.space import spaces_of
from hindwise.model.turn import Turn
from hindwise.text.task_key import task_key

_OF_EPISODE = select(reflection_rows.c.id).where(reflection_rows.c.episode_id == bindparam("episode"))
_EARLIER_RUNS = Direct(_OF_EPISODE.where(reflection_rows.c.run_number < bindparam("number")).order_by(reflection_rows.c.run_number))
_NEWER_RUN = Direct(_OF_EPISODE.where(reflection_rows.c.run_number > bindparam("number")).limit(1))


@dataclass(frozen=True, slots=True)
class ReflectorId:
    """Who will look back: part of a reflection's id."""

    name: str
    model: str
    prompt_version: str


@dataclass(frozen=True, slots=True)
class Accepted:
    """What the caller is told. `handle`: the session's name in Temporal, empty for whole runs. `differs`: the first was kept."""

    episode_id: str
    reflection_id: str
    status: str
    duplicate: bool
    spaces: tuple[str, ...]
    differs: bool = False
    handle: str = ""
    last_seq: int = 0


def complete_task(
    conn: Connection,
    session: sessions.SessionRow,
    reflector: ReflectorId,
    *,
    goal: str,
    outcome: Outcome,
    recall_ids: Sequence[str],
    close: bool,
    now: datetime,
    closed_by: str = "caller",
    ended: datetime | None = None,
) -> Accepted:
    """End the open task of a locked session: cut the episode from the ledger's numbers, queue its reflection.

    `ended`: by the ledger's clock, where that was before `now`; the briefs told up to then are the task's.
    Called again without new turns it finds the first: the same verdict is a duplicate, another one is a later verdict.
    Raises NotFound when the session has no turn yet.
    """
    first, last = session.open_seq, session.last_seq
    if first > last:
        again = _complete_again(conn, session, reflector, outcome, now)
        if close:
            sessions.close(conn, session, now)
        return again
    turns = sessions.turns_of(conn, session.tenant_id, session.session_id, first, last)
    episode = Episode(
        id=episode_of_range(session.tenant_id, session.session_id, first, last),
        tenant_id=session.tenant_id,
        user_id=session.user_id,
        agent_id=session.agent_id,
        session_id=session.session_id,
        goal=goal,
        outcome=outcome,
        started_at=turns[0].occurred_at,
        ended_at=max(turns[-1].occurred_at, turns[0].occurred_at),
        closed_by=closed_by,
    )
    body = digest([goal, outcome.model_dump(mode="json")])
    key = _key(goal, turns)
    episodes.add(
        conn,
        episode,
        session_key=session.session_id,
        seqs=(first, last),
        task_key=key,
        digest=body,
        recall_ids=recall_ids,
        now=ended or now,
    )
    live.take_over(conn, session.tenant_id, session.session_id, episode.id, first, last)
    sessions.set_open_seq(conn, session, last + 1)
    if close:
        sessions.close(conn, session, now)
    reflection_id = _queue(conn, episode.tenant_id, episode.id, reflector, 0, now)
    return _accepted(episode.user_id, episode.agent_id, episode.id, reflection_id, session)


def _complete_again(conn: Connection, session: sessions.SessionRow, reflector: ReflectorId, outcome: Outcome, now: datetime) -> Accepted:
    ids = episodes.find_ids(conn, session.tenant_id, session_id=session.session_id)
    if not ids:
        raise NotFound(f"session {session.session_id!r} has no turn to complete: record a turn first")
    later = later_outcome(conn, session.tenant_id, ids[0], outcome, reflector, now)
    return Accepted(
        later.episode_id, later.reflection_id, later.status, later.duplicate, later.spaces, handle=session.handle, last_seq=session.last_seq
    )


def _accepted(user_id: str, agent_id: str, episode_id: str, reflection_id: str, session: sessions.SessionRow | None = None) -> Accepted:
    return Accepted(
        episode_id,
        reflection_id,
        "queued",
        duplicate=False,
        spaces=spaces_of(user_id, agent_id),
        handle=session.handle if session else "",
        last_seq=session.last_seq if session else 0,
    )


def _key(goal: str, turns: Sequence[Turn]) -> str:
    """The generalised task, by the same rule as whoever looks for earlier runs of it."""
    return task_key(goal, (turn.content for turn in turns if turn.role == "user"))


def run_digest(episode: Episode, turns: Sequence[str] | None = None) -> str:
    """sha256 over what the caller sent for a whole run, without times. turns: their contents' digests, where they are known."""
    return digest(
        [
            episode.goal,
            episode.user_id,
            episode.agent_id,
            episode.inputs,
            episode.outcome.model_dump(mode="json"),
            [turn.content_digest() for turn in episode.turns] if turns is None else list(turns),
        ]
    )


def accept_run(
    conn: Connection,
    episode: Episode,
    reflector: ReflectorId,
    *,
    recall_ids: Sequence[str],
    now: datetime,
    keep_first: bool,
    digests: Sequence[str] | None = None,
) -> Accepted:
    """Keep a whole finished run and queue its reflection. `episode.id` is `episode_of_run(tenant, source, run_id)`.

    A run already known is a duplicate. With another body: `differs` where `keep_first` (hooks), else raises EpisodeConflict.
    """
    digests = [turn.content_digest() for turn in episode.turns] if digests is None else digests
    body = run_digest(episode, digests)
    if (known := _run_again(conn, episode, body, keep_first=keep_first)) is not None:
        return known
    key = sessions.run_key(episode.id)
    seqs, task = (1, len(episode.turns)), _key(episode.goal, episode.turns)
    # The row comes first: of two that are sent at once the later waits here, and then finds it.
    if not episodes.add(conn, episode, session_key=key, seqs=seqs, task_key=task, digest=body, recall_ids=recall_ids, now=now):
        if (known := _run_again(conn, episode, body, keep_first=keep_first)) is not None:
            return known
        raise NotFound(f"episode {episode.id!r} was erased in this moment: send the run again")
    sessions.record_run_turns(conn, episode.tenant_id, key, episode.turns, now, digests=digests)
    reflection_id = _queue(conn, episode.tenant_id, episode.id, reflector, 0, now)
    return _accepted(episode.user_id, episode.agent_id, episode.id, reflection_id)


def _run_again(conn: Connection, episode: Episode, body: str, *, keep_first: bool) -> Accepted | None:
    """What was told when the run came first; None where it is new."""
    known = episodes.find_digest(conn, episode.tenant_id, episode.id)
    if known is None:
        return None
    if known != body and not keep_first:
        raise EpisodeConflict(
            f"run {episode.run_id!r} is known with other content; the first was kept: post a changed verdict to "
            f"/v1/episodes/{episode.id}/outcome, or take a new run_id"
        )
    return known_run(conn, episode.tenant_id, episode.id, differs=known != body)


def run_episode_id(tenant_id: str, source: str, run_id: str) -> str:
    """Id of the episode of a run."""
    return episode_of_run(tenant_id, source, run_id)


def known_run(conn: Connection, tenant_id: str, episode_id: str, *, differs: bool) -> Accepted:
    """Tell again what was told when the run was accepted, with its reflection's present status."""
    row = episodes.row_of(conn, tenant_id, episode_id)
    newest = reflections.newest_of_episode(conn, episode_id)
    if newest is None:
        raise NotFound(f"episode {episode_id!r} has no reflection")
    return Accepted(row.id, newest.id, newest.status, True, spaces_of(row.user_id, row.agent_id), differs=differs)


def later_outcome(conn: Connection, tenant_id: str, episode_id: str, outcome: Outcome, reflector: ReflectorId, now: datetime) -> Accepted:
    """Keep a later or corrected verdict; where it changes the outcome, queue a reflection that replaces the earlier ones.

    Raises NotFound. `duplicate` is True where nothing changed.
    """
    row = episodes.row_of(conn, tenant_id, episode_id, lock=True)
    if not episodes.set_outcome(conn, row, outcome, now):
        return known_run(conn, tenant_id, episode_id, differs=outcome != Outcome(**row.outcome))
    newest = reflections.newest_of_episode(conn, episode_id)
    number = newest.run_number + 1 if newest else 0
    reason = f"the outcome was corrected: {row.outcome_status} -> {outcome.status}"
    reflection_id = _queue(conn, tenant_id, episode_id, reflector, number, now, replaces=newest.id if newest else "", reason=reason)
    return _accepted(row.user_id, row.agent_id, episode_id, reflection_id)


def _queue(
    conn: Connection,
    tenant_id: str,
    episode_id: str,
    reflector: ReflectorId,
    number: int,
    now: datetime,
    *,
    replaces: str = "",
    reason: str = "",
) -> str:
    reflection_id = reflection_of(episode_id, reflector.name, reflector.model, reflector.prompt_version, number)
    reflection = Reflection(
        id=reflection_id,
        tenant_id=tenant_id,
        episode_id=episode_id,
        status=ReflectionStatus.QUEUED,
        reflector=reflector.name,
        run_number=number,
        replaces=replaces,
        created_at=now,
    )
    reflections.queue(conn, reflection, reason=reason)
    return reflection_id


def earlier_runs(conn: Connection, episode_id: str, run_number: int) -> list[str]:
    """Ids of the earlier reflections of an episode: what they concluded is replaced."""
    return [row.id for row in _EARLIER_RUNS.rows(conn, {"episode": episode_id, "number": run_number})]


def has_newer_run(conn: Connection, episode_id: str, run_number: int) -> bool:
    """Whether a later verdict started another reflection: then this one keeps nothing."""
    return _NEWER_RUN.first(conn, {"episode": episode_id, "number": run_number}) is not None
