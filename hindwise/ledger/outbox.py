"""The outbox says "memory X of space S is dirty", not what to write: whoever leases a space re-reads the ledger.

Leases go by the clock that all processes of the ledger share (`engine.shared_now`), however wrong the `now` of one of them is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from sqlalchemy import Connection, Select, and_, bindparam, case, delete, exists, func, or_, select, update

from hindwise.ledger.databases import shared_until, upsert
from hindwise.ledger.direct import Direct
from hindwise.ledger.leases import is_over
from hindwise.ledger.prepared import Prepared
from hindwise.ledger.schema import outbox, spaces

LONGEST = timedelta(minutes=10)
"""No space is leased for longer."""


@dataclass(frozen=True, slots=True)
class Lease:
    """A space whose index someone may bring up to date until the lease ends."""

    space_no: int
    space: str
    tenant_id: str
    epoch: int
    ledger_no: int


def mark_dirty(conn: Connection, space_no: int, memory_ids: Sequence[str], mark: int, now: datetime) -> None:
    """Mark memories as dirty. `mark`: the space's ledger number, so that a change made meanwhile is not lost."""
    rows = [{"space_no": space_no, "memory_id": memory_id, "mark": mark, "at": now} for memory_id in memory_ids]
    upsert(conn, outbox, rows, keys=("space_no", "memory_id"))


_LEASE = update(spaces).where(spaces.c.no == bindparam("space")).values(leased_by=bindparam("holder"), leased_until=shared_until())
_RELEASE = (
    update(spaces)
    .where(spaces.c.no == bindparam("space"), spaces.c.leased_by == bindparam("holder"))
    .values(leased_by="", leased_until=None)
)
_DIRTY = Prepared(
    select(outbox.c.memory_id, outbox.c.mark)
    .where(outbox.c.space_no == bindparam("space"))
    .order_by(outbox.c.mark)
    .limit(bindparam("most"))
)
_DIRTY_SPACES = select(outbox.c.space_no).distinct().limit(bindparam("most"))
_DIRTY_LONGER = _DIRTY_SPACES.where(outbox.c.at < bindparam("before"))
_DONE = Direct(
    delete(outbox).where(
        outbox.c.space_no == bindparam("space"), outbox.c.memory_id == bindparam("memory"), outbox.c.mark == bindparam("taken")
    )
)


@cache
def _free_space(*, named: bool) -> Select[Any]:
    """The space with the oldest dirty row that nobody else leases. Built once: it is asked many times a second."""
    free = or_(spaces.c.leased_until.is_(None), is_over(spaces.c.leased_until, LONGEST), spaces.c.leased_by == bindparam("holder"))
    query = select(spaces.c.no, spaces.c.name, spaces.c.tenant_id, spaces.c.epoch, spaces.c.ledger_no)
    if named:
        query = query.where(and_(free, spaces.c.no == bindparam("space"), exists().where(outbox.c.space_no == spaces.c.no)))
    else:
        oldest = select(outbox.c.space_no, func.min(outbox.c.at).label("at")).group_by(outbox.c.space_no).subquery()
        query = query.join(oldest, oldest.c.space_no == spaces.c.no).where(free).order_by(oldest.c.at).limit(1)
    return query.with_for_update(skip_locked=True, of=spaces)  # on SQLite the write lock excludes others already


@cache
def _lease_free(*, named: bool) -> Direct:
    free = _free_space(named=named).with_only_columns(spaces.c.no).correlate(None).scalar_subquery()
    held = update(spaces).where(spaces.c.no == free).values(leased_by=bindparam("holder"), leased_until=shared_until())
    return Direct(held.returning(spaces.c.no, spaces.c.name, spaces.c.tenant_id, spaces.c.epoch, spaces.c.ledger_no))


def _times(now: datetime, seconds: float) -> dict[str, Any]:
    return {"now": now, "until": now + timedelta(seconds=seconds), "seconds": seconds}


def lease_space(conn: Connection, holder: str, now: datetime, seconds: float, *, space_no: int | None = None) -> Lease | None:
    """Lease the space with the oldest dirty row (or the named one); None when there is none, or others hold it."""
    asked = _times(now, seconds) | {"holder": holder} | ({} if space_no is None else {"space": space_no})
    row = _lease_free(named=space_no is not None).first(conn, asked)
    return Lease(*row) if row else None


_ANY_NAMED = (
    select(spaces.c.no, spaces.c.name, spaces.c.tenant_id, spaces.c.epoch, spaces.c.ledger_no)
    .where(
        spaces.c.no == bindparam("space"),
        or_(spaces.c.leased_until.is_(None), is_over(spaces.c.leased_until, LONGEST), spaces.c.leased_by == bindparam("holder")),
    )
    .with_for_update(skip_locked=True)
)


def lease_named(conn: Connection, holder: str, now: datetime, seconds: float, space_no: int) -> Lease | None:
    """Lease a space, dirty or not; None while somebody else has it. Renews an own lease."""
    asked = _times(now, seconds) | {"space": space_no, "holder": holder}
    row = conn.execute(_ANY_NAMED, asked).first()
    if row is None:
        return None
    conn.execute(_LEASE, asked)
    return Lease(row.no, row.name, row.tenant_id, row.epoch, row.ledger_no)


def is_known(conn: Connection, space_no: int) -> bool:
    """Whether there is such a space: where a lease cannot be had, it may be erased instead of held."""
    return conn.execute(select(spaces.c.no).where(spaces.c.no == space_no)).first() is not None


_RELEASE_AT = Direct(
    _RELEASE.values(
        index_no=case((spaces.c.index_no < bindparam("up_to"), bindparam("up_to")), else_=spaces.c.index_no), used_at=bindparam("now")
    )
)


def release_space_at(conn: Connection, lease: Lease, holder: str, index_no: int, now: datetime) -> None:
    """Give a space back, with what `spaces.set_index_no` notes, in one statement."""
    _RELEASE_AT.run(conn, {"space": lease.space_no, "holder": holder, "up_to": index_no, "now": now})


def release_space(conn: Connection, lease: Lease, holder: str) -> None:
    """Give a space back."""
    conn.execute(_RELEASE, {"space": lease.space_no, "holder": holder})


def dirty(conn: Connection, space_no: int, limit: int) -> list[tuple[str, int]]:
    """Return (memory id, mark) of dirty memories, oldest first."""
    return [(memory_id, mark) for memory_id, mark in _DIRTY.rows(conn, {"space": space_no, "most": limit})]


def done(conn: Connection, space_no: int, taken: Sequence[tuple[str, int]]) -> None:
    """Remove what was applied; a row that was marked again meanwhile stays."""
    if taken:
        _DONE.run_each(conn, [{"space": space_no, "memory": memory_id, "taken": mark} for memory_id, mark in taken])


def depth(conn: Connection) -> tuple[int, datetime | None]:
    """How many rows wait, and since when the oldest."""
    number, oldest = conn.execute(select(func.count(), func.min(outbox.c.at))).one()
    return int(number), oldest


def space_numbers(conn: Connection, limit: int = 500, before: datetime | None = None) -> list[int]:
    """Return the numbers of spaces with dirty memories; `before`: with one that was marked before."""
    query = _DIRTY_SPACES if before is None else _DIRTY_LONGER
    return list(conn.execute(query, {"most": limit} if before is None else {"most": limit, "before": before}).scalars())
