"""Reflections: started once, their drafts stored once and whole, final when final. The ledger decides, not Temporal's retention."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, and_, bindparam, func, null, or_, select, update

from hindwise.errors import NotFound, SpaceErased
from hindwise.ledger import refusals
from hindwise.ledger.databases import insert_new
from hindwise.ledger.direct import Direct
from hindwise.ledger.newest_first import Place, newest_first
from hindwise.ledger.schema import drafts, memories, reflections
from hindwise.model.memory import Draft
from hindwise.model.reflection import FINAL, Answer, Complaint, Decision, Reflection, ReflectionStatus, Rejected, Usage

_FINAL = [str(status) for status in FINAL]

# Every step asks and says this, so the statements are built once.
_ROW = select(reflections).where(reflections.c.id == bindparam("reflection"))
_ROW_READ, _ROW_LOCKED = Direct(_ROW), Direct(_ROW.with_for_update())
_RUNNING = (
    update(reflections)
    .where(reflections.c.id == bindparam("reflection"), reflections.c.status.not_in(_FINAL))
    .values(
        status=str(ReflectionStatus.RUNNING),
        phase=bindparam("now_in"),
        error="",
        started_at=func.coalesce(reflections.c.started_at, bindparam("now", type_=reflections.c.started_at.type)),
    )
)

_TAKE_UP, _RUN = Direct(_RUNNING.returning(*reflections.c)), Direct(_RUNNING)
_EPOCHS = Direct(
    update(reflections)
    .where(reflections.c.id == bindparam("reflection"))
    .values(epochs=bindparam("noted", type_=reflections.c.epochs.type))
)


_FINISH = Direct(
    update(reflections)
    .where(reflections.c.id == bindparam("reflection"), reflections.c.status.not_in(_FINAL))
    .values(
        phase="",
        **{
            name: bindparam(f"to_{name}", type_=reflections.c[name].type)
            for name in ("status", "finished_at", "index_pending", "skip_reason", "error")
        },
    )
    .returning(reflections.c.episode_id)
)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One answer of one reflector, as it was stored. `grounded`: None until the validators ran."""

    number: int
    reflector: str
    written_by: str
    answer: Answer
    unusable: str
    grounded: dict[str, Any] | None


def queue(conn: Connection, reflection: Reflection, *, reason: str = "") -> bool:
    """Keep a new reflection as queued; False when it exists (whatever its state): it is never started twice."""
    row = {
        "id": reflection.id,
        "tenant_id": reflection.tenant_id,
        "episode_id": reflection.episode_id,
        "status": str(ReflectionStatus.QUEUED),
        "phase": "",
        "reflector": reflection.reflector,
        "written_by": "",
        "fallback_from": "",
        "run_number": reflection.run_number,
        "replaces": reflection.replaces,
        "reason": reason[:500],
        "usage": Usage().model_dump(),
        "decisions": [],
        "rejected": [],
        "due": {},
        "epochs": {},
        "index_pending": False,
        "error": "",
        "skip_reason": "",
        "created_at": reflection.created_at,
    }
    return bool(insert_new(conn, reflections, [row]).rowcount)


def row_of(conn: Connection, reflection_id: str, *, tenant_id: str | None = None, lock: bool = False) -> Row[Any]:
    """Return the bare row. Raises NotFound, also for another tenant's."""
    row: Row[Any] | None = (_ROW_LOCKED if lock else _ROW_READ).first(conn, {"reflection": reflection_id})
    if row is None or (tenant_id is not None and row.tenant_id != tenant_id):
        raise NotFound(f"no reflection {reflection_id!r}")
    return row


def same(conn: Connection, reflection_id: str, created_at: datetime) -> Row[Any]:
    """Return the row, locked, for whoever writes what was worked out outside of a transaction.

    created_at: of the row that the work began with. Ids derive, so a user who was erased meanwhile and came back with the same run has
    the same reflection again: nothing of the old one may get into it. Raises NotFound, SpaceErased.
    """
    row = row_of(conn, reflection_id, lock=True)
    if row.created_at != created_at:
        raise SpaceErased("the task was erased while this was in flight; nothing was written")
    return row


def from_row(row: Row[Any]) -> Reflection:
    """Build the model from a row."""
    return Reflection(
        id=row.id,
        tenant_id=row.tenant_id,
        episode_id=row.episode_id,
        status=ReflectionStatus(row.status),
        phase=row.phase,
        reflector=row.reflector,
        written_by=row.written_by,
        fallback_from=row.fallback_from,
        run_number=row.run_number,
        replaces=row.replaces,
        usage=Usage(**row.usage),
        index_pending=row.index_pending,
        error=row.error,
        skip_reason=row.skip_reason,
        created_at=row.created_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
    )


def newest_of_episode(conn: Connection, episode_id: str) -> Row[Any] | None:
    """Return the reflection with the highest run number, or None."""
    query = select(reflections).where(reflections.c.episode_id == episode_id).order_by(reflections.c.run_number.desc()).limit(1)
    return conn.execute(query).first()


def is_final(row: Row[Any]) -> bool:
    """Whether nothing more will happen to it."""
    return row.status in _FINAL


def set_running(conn: Connection, reflection_id: str, phase: str, now: datetime) -> bool:
    """Move to `phase`; False when it is final already (a duplicate start, however late)."""
    return bool(_RUN.run(conn, {"reflection": reflection_id, "now_in": phase, "now": now}))


def take_up(conn: Connection, reflection_id: str, phase: str, now: datetime) -> Row[Any] | None:
    """Move to `phase` and return the row, locked; None when it is final already. Raises NotFound."""
    row: Row[Any] | None = _TAKE_UP.first(conn, {"reflection": reflection_id, "now_in": phase, "now": now})
    if row is None:
        row_of(conn, reflection_id)
    return row


def set_epochs(conn: Connection, reflection_id: str, epochs: Mapping[str, int]) -> None:
    """Note the epochs of the spaces, at the first gathering of a locked row; later steps fail with SpaceErased when they differ."""
    _EPOCHS.run(conn, {"reflection": reflection_id, "noted": dict(epochs)})


def set_dispatched(conn: Connection, reflection_id: str, now: datetime) -> None:
    """Note that Temporal has it."""
    conn.execute(update(reflections).where(reflections.c.id == reflection_id).values(dispatched_at=now))


def set_parked(conn: Connection, reflection_id: str, error: str) -> None:
    """It waits for a person; `error` tells the cause and the next step."""
    conn.execute(
        update(reflections)
        .where(reflections.c.id == reflection_id, reflections.c.status.not_in(_FINAL))
        .values(status=str(ReflectionStatus.NEEDS_ATTENTION), error=error[:500])
    )


def finish(
    conn: Connection,
    reflection_id: str,
    status: ReflectionStatus,
    now: datetime,
    *,
    index_pending: bool = False,
    skip_reason: str = "",
    error: str = "",
) -> str:
    """Make it final and return its episode's id; a second call changes nothing and returns ""."""
    told = {"status": str(status), "finished_at": now, "index_pending": index_pending, "skip_reason": skip_reason, "error": error}
    finished = _FINISH.first(conn, {"reflection": reflection_id, **{f"to_{name}": value for name, value in told.items()}})
    return str(finished.episode_id) if finished else ""


def set_result(
    conn: Connection,
    reflection_id: str,
    *,
    written_by: str,
    fallback_from: str,
    usage: Usage,
    decisions: Sequence[Decision],
    rejected: Sequence[Rejected],
    due: Mapping[str, str],
) -> None:
    """Keep what the resolution decided, and that it is at that; written in the same transaction as the memories."""
    told = {
        "status": str(ReflectionStatus.RUNNING),
        "phase": "resolve",
        "error": "",
        "written_by": written_by,
        "fallback_from": fallback_from[:500],
        "usage": usage.model_dump(),
        "decisions": [item.model_dump(mode="json") for item in decisions],
        "rejected": [item.model_dump(mode="json") for item in rejected],
        "due": dict(due),
    }
    _RESULT.run(conn, {"reflection": reflection_id, **{f"to_{name}": value for name, value in told.items()}})
    # What had no owner is refused here and not before; all else was counted when it was judged.
    refusals.count(conn, [item.rule for item in rejected if item.rule == refusals.OWNER])


_RESULT = Direct(
    update(reflections)
    .where(reflections.c.id == bindparam("reflection"))
    .values(
        {
            name: bindparam(f"to_{name}", type_=reflections.c[name].type)
            for name in ("status", "phase", "error", "written_by", "fallback_from", "usage", "decisions", "rejected", "due")
        }
    )
)
_ATTEMPTS = select(drafts).where(drafts.c.reflection_id == bindparam("reflection")).order_by(drafts.c.attempt)
_JUDGED = Direct(
    select(drafts.c.grounded).where(drafts.c.reflection_id == bindparam("reflection"), drafts.c.attempt == bindparam("number"))
)
_ALL_ATTEMPTS, _ATTEMPT = Direct(_ATTEMPTS), Direct(_ATTEMPTS.where(drafts.c.attempt == bindparam("number")))
_NOTHING_ELSE: Mapping[str, list[Any]] = {"rejected": [], "complaints": []}
_GROUNDED = Direct(
    update(drafts)
    .where(drafts.c.reflection_id == bindparam("reflection"), drafts.c.attempt == bindparam("number"), drafts.c.grounded.is_(null()))
    .values(grounded=bindparam("told", type_=drafts.c.grounded.type))
)
_WITHOUT_SECRETS = (
    update(drafts)
    .where(drafts.c.reflection_id == bindparam("reflection"), drafts.c.attempt == bindparam("number"))
    .values(answer=bindparam("told", type_=drafts.c.answer.type))
)


def store_attempt(conn: Connection, reflection_id: str, attempt: Attempt, now: datetime) -> bool:
    """Keep an answer whole, once; a repeated step finds the first, and is told False."""
    row = {
        "reflection_id": reflection_id,
        "attempt": attempt.number,
        "reflector": attempt.reflector,
        "written_by": attempt.written_by,
        "answer": attempt.answer.model_dump(mode="json"),
        "unusable": attempt.unusable[:500],
        **({} if attempt.grounded is None else {"grounded": attempt.grounded}),
        "recorded_at": now,
    }
    is_new = bool(insert_new(conn, drafts, [row]).rowcount)
    if is_new and attempt.unusable:
        refusals.count(conn, [refusals.FORM])
    return is_new


def attempts(conn: Connection, reflection_id: str) -> list[Attempt]:
    """Return the stored answers in order."""
    return [_attempt(row) for row in _ALL_ATTEMPTS.rows(conn, {"reflection": reflection_id})]


def attempt_of(conn: Connection, reflection_id: str, number: int) -> Attempt:
    """Return one stored answer. Raises NotFound."""
    row = _ATTEMPT.first(conn, {"reflection": reflection_id, "number": number})
    if row is None:
        raise NotFound(f"reflection {reflection_id} has no attempt {number}")
    return _attempt(row)


def judged(conn: Connection, reflection_id: str, number: int) -> dict[str, Any] | None:
    """Return what the validators said of a stored answer; None where they did not yet, or where there is no such answer."""
    found = _JUDGED.first(conn, {"reflection": reflection_id, "number": number})
    return found.grounded if found else None


def _attempt(row: Row[Any]) -> Attempt:
    return Attempt(row.attempt, row.reflector, row.written_by, Answer(**row.answer), row.unusable, row.grounded)


def grounded_whole(answer: Answer) -> dict[str, Any]:
    """What is kept of an answer of which everything was accepted."""
    return {"accepted": [[ordinal, draft.model_dump(mode="json")] for ordinal, draft in enumerate(answer.drafts)], **_NOTHING_ELSE}


def store_grounded(
    conn: Connection,
    reflection_id: str,
    attempt: int,
    *,
    accepted: Sequence[tuple[int, Draft]],
    rejected: Sequence[Rejected],
    complaints: Sequence[Complaint],
    without_secrets: Answer | None = None,
) -> None:
    """Keep what the validators said of an answer, once, and count it by rule; what was kept before stays.

    without_secrets: the answer as it is to be kept from now on, where something of it had to be masked.
    """
    grounded = {
        "accepted": [[ordinal, draft.model_dump(mode="json")] for ordinal, draft in accepted],
        "rejected": [item.model_dump(mode="json") for item in rejected],
        "complaints": [item.model_dump(mode="json") for item in complaints],
    }
    if not _GROUNDED.run(conn, {"reflection": reflection_id, "number": attempt, "told": grounded}):
        return
    if without_secrets is not None:
        told = without_secrets.model_dump(mode="json")
        conn.execute(_WITHOUT_SECRETS, {"reflection": reflection_id, "number": attempt, "told": told})
    refusals.count(conn, [*(item.rule for item in rejected), *(item.rule for item in complaints if item.ordinal is None)])


def waiting(conn: Connection, now: datetime, queued_before: datetime, dispatched_before: datetime, limit: int) -> list[Row[Any]]:
    """Return reflections that nobody seems to work on: queued and never dispatched, or dispatched long ago without a start."""
    lost = or_(
        and_(reflections.c.dispatched_at.is_(None), reflections.c.created_at < queued_before),
        and_(reflections.c.started_at.is_(None), reflections.c.dispatched_at < dispatched_before),
    )
    query = (
        select(reflections)
        .where(reflections.c.status == str(ReflectionStatus.QUEUED), lost)
        .order_by(reflections.c.created_at)
        .limit(limit)
    )
    return list(conn.execute(query))


def stalled(conn: Connection, before: datetime, limit: int) -> list[Row[Any]]:
    """Return running reflections begun and last told to Temporal before `before`: their workflow may be lost. Longest untold first.

    Those that wait for a person are not among them.
    """
    told = func.coalesce(reflections.c.dispatched_at, reflections.c.started_at)
    query = select(reflections).where(
        reflections.c.status == str(ReflectionStatus.RUNNING), reflections.c.started_at < before, told < before
    )
    return list(conn.execute(query.order_by(told, reflections.c.id).limit(limit)))


def page(
    conn: Connection, tenant_id: str, *, status: str = "", since: datetime | None = None, after: Place | None = None, limit: int
) -> list[Row[Any]]:
    """Return bare rows, newest first."""
    query = select(reflections).where(reflections.c.tenant_id == tenant_id)
    if status:
        query = query.where(reflections.c.status == status)
    if since is not None:
        query = query.where(reflections.c.created_at >= since)
    return list(conn.execute(newest_first(query, reflections.c.created_at, reflections.c.id, after, limit)))


def memory_ids(conn: Connection, reflection_id: str) -> list[str]:
    """Ids of the memories that a reflection wrote, in order of writing."""
    query = select(memories.c.id).where(memories.c.reflection_id == reflection_id).order_by(memories.c.recorded_at, memories.c.id)
    return list(conn.execute(query).scalars())


def count_by_status(conn: Connection, tenant_id: str | None = None) -> dict[str, int]:
    """How many reflections stand where; None = of all tenants."""
    query = select(reflections.c.status, func.count()).group_by(reflections.c.status)
    if tenant_id is not None:
        query = query.where(reflections.c.tenant_id == tenant_id)
    return {status: int(number) for status, number in conn.execute(query)}
