"""Where does a reflection stand? Started once, final when final: the ledger decides, not Temporal's retention."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, and_, bindparam, func, or_, select, update

from hindwise.errors import NotFound, SpaceErased
from hindwise.ledger import refusals
from hindwise.ledger.databases import insert_new
from hindwise.ledger.direct import Direct
from hindwise.ledger.newest_first import Place, newest_first
from hindwise.ledger.schema import memories, reflections
from hindwise.model.reflection import FINAL, Decision, Reflection, ReflectionStatus, Rejected, Usage

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
