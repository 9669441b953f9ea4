"""Receipts of erasures: asked for, under way, done. Whose it was stands there as a keyed hash; in clear only until it is wiped."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import Connection, and_, func, insert, or_, select, update

from hindwise.errors import NotFound
from hindwise.ledger import leases
from hindwise.ledger.schema import erasures
from hindwise.model.ids import keyed_hash
from hindwise.model.space import user_space

Status = Literal["queued", "running", "completed", "needs_attention"]

_CLOCKS_DIFFER = timedelta(seconds=60)
"""How far the clocks of two machines may be apart."""


@dataclass(frozen=True, slots=True)
class Erasure:
    """One erasure. `user_id`: empty once wiped; `space_no`, `epoch`: of the erased space, from the raising of its epoch on.

    counts: {"ledger": {table: rows}, "index": {generation: objects}, "searched": {store: found again}, "shared_lessons_kept": n,
    "cancelled": workflows asked to stop}.
    """

    id: str
    tenant_id: str
    user_hash: str
    user_id: str
    space_no: int | None
    epoch: int | None
    status: Status
    error: str
    counts: dict[str, Any]
    requested_by: str
    requested_at: datetime
    dispatched_at: datetime | None
    started_at: datetime | None
    wiped_at: datetime | None
    finished_at: datetime | None


_COLUMNS = [erasures.c[name] for name in Erasure.__dataclass_fields__]
_UNFINISHED = ("queued", "running", "needs_attention")


def hash_of(secret: bytes, tenant_id: str, user_id: str) -> str:
    """The name of a user in receipts: the same keyed hash by which Temporal knows the user's space."""
    return keyed_hash(secret, "space", tenant_id, user_space(user_id))


def wiped_since(conn: Connection, since: datetime) -> dict[str, str]:
    """Receipt -> the name of the erased space in an index, of those that were wiped at `since` or after it by whatever clock."""
    query = select(erasures.c.id, erasures.c.index_name).where(erasures.c.wiped_at >= since - _CLOCKS_DIFFER)
    return {row.id: row.index_name for row in conn.execute(query)}


def request(conn: Connection, erasure_id: str, tenant_id: str, user_id: str, user_hash: str, by: str, now: datetime) -> Erasure:
    """Accept an erasure. One that is not wiped yet covers what came since: then that one is returned, and so is one of this id."""
    leases.alone(conn, "erasures")  # of two that ask at once the later finds the first
    if (known := conn.execute(select(*_COLUMNS).where(erasures.c.id == erasure_id)).first()) is not None:
        return Erasure(*known)
    query = select(*_COLUMNS).where(erasures.c.tenant_id == tenant_id, erasures.c.user_hash == user_hash, erasures.c.wiped_at.is_(None))
    if (known := conn.execute(query.order_by(erasures.c.requested_at).limit(1)).first()) is not None:
        return Erasure(*known)
    values = {
        "id": erasure_id,
        "tenant_id": tenant_id,
        "user_hash": user_hash,
        "user_id": user_id,
        "status": "queued",
        "counts": {},
        "requested_by": by[:200],
        "requested_at": now,
    }
    conn.execute(insert(erasures).values(**values))
    return get(conn, erasure_id)


def unfinished(conn: Connection) -> dict[str, int]:
    """How many erasures of all tenants are not done yet, by status; every such status is named, 0 where there is none."""
    query = select(erasures.c.status, func.count()).where(erasures.c.status.in_(_UNFINISHED)).group_by(erasures.c.status)
    return dict.fromkeys(_UNFINISHED, 0) | {status: int(number) for status, number in conn.execute(query)}


def get(conn: Connection, erasure_id: str, *, tenant_id: str | None = None, lock: bool = False) -> Erasure:
    """Return an erasure. Raises NotFound, also for another tenant's."""
    query = select(*_COLUMNS).where(erasures.c.id == erasure_id)
    row = conn.execute(query.with_for_update() if lock else query).first()
    if row is None or (tenant_id is not None and row.tenant_id != tenant_id):
        raise NotFound(f"no erasure {erasure_id!r}")
    return Erasure(*row)


def change(conn: Connection, erasure_id: str, **values: Any) -> None:
    """Set columns of an erasure."""
    conn.execute(update(erasures).where(erasures.c.id == erasure_id).values(**values))


def add_counts(conn: Connection, erasure: Erasure, part: str, more: Mapping[str, int]) -> None:
    """Add to the counts of a part, in the transaction that deleted the rows. The erasure is locked by the caller."""
    counts = get(conn, erasure.id).counts
    known = dict(counts.get(part, {}))
    for name, number in more.items():
        known[name] = known.get(name, 0) + number
    change(conn, erasure.id, counts={**counts, part: known})


def set_counts(conn: Connection, erasure_id: str, **parts: Any) -> None:
    """Set parts of the counts."""
    change(conn, erasure_id, counts={**get(conn, erasure_id, lock=True).counts, **parts})


def set_dispatched(conn: Connection, erasure_id: str, now: datetime) -> None:
    """Note that Temporal has it."""
    change(conn, erasure_id, dispatched_at=now)


def set_parked(conn: Connection, erasure_id: str, error: str) -> None:
    """It cannot go on by itself at present; `error` says why and what to do. Without effect once completed."""
    unfinished = and_(erasures.c.id == erasure_id, erasures.c.status != "completed")
    conn.execute(update(erasures).where(unfinished).values(status="needs_attention", error=error[:500]))


def waiting(conn: Connection, queued_before: datetime, lost_before: datetime, limit: int) -> list[Erasure]:
    """Return erasures that nobody seems to work on: never told to Temporal, or told long ago and not finished; the oldest first."""
    never = and_(erasures.c.dispatched_at.is_(None), erasures.c.requested_at < queued_before)
    query = select(*_COLUMNS).where(erasures.c.status.in_(_UNFINISHED), or_(never, erasures.c.dispatched_at < lost_before))
    return [Erasure(*row) for row in conn.execute(query.order_by(erasures.c.requested_at, erasures.c.id).limit(limit))]


def wiped(conn: Connection, tenant_id: str, user_hash: str) -> int:
    """How often a user was wiped: whoever sees another number later than before was overtaken by an erasure."""
    query = select(func.count()).where(
        erasures.c.tenant_id == tenant_id, erasures.c.user_hash == user_hash, erasures.c.wiped_at.is_not(None)
    )
    return int(conn.execute(query).scalar_one())


def lately(conn: Connection, hashes: Sequence[str], since: datetime) -> set[str]:
    """Those of the users that are being erased, or were wiped at `since` or after it by whatever clock."""
    late = or_(erasures.c.wiped_at.is_(None), erasures.c.wiped_at >= since - _CLOCKS_DIFFER)
    return set(conn.execute(select(erasures.c.user_hash).where(erasures.c.user_hash.in_(list(hashes)), late)).scalars())
