"""What does a whole index hold? All live memories of the ledger: how many, in which spaces for sure, and marked anew where they lack."""

from collections.abc import Sequence
from datetime import datetime
from typing import TypeVar

from sqlalchemy import Connection, func, literal, select, union_all

from hindwise.ledger import outbox, spaces
from hindwise.ledger.schema import memories
from hindwise.ledger.schema import outbox as outbox_rows
from hindwise.ledger.schema import spaces as space_rows
from hindwise.model.memory import LIVE

T = TypeVar("T")

_MARKED_AT_ONCE = 50
_LOOKED_AT = 100
_LIVE_MEMORIES = memories.c.status.in_([str(status) for status in LIVE])


def has_memories(conn: Connection) -> bool:
    """Whether any memory is live."""
    return conn.execute(select(memories.c.id).where(_LIVE_MEMORIES).limit(1)).first() is not None


def live_memories(conn: Connection) -> int:
    """How many memories an index of everything holds."""
    return int(conn.execute(select(func.count()).select_from(memories).where(_LIVE_MEMORIES)).scalar_one())


def settled_spaces(conn: Connection, limit: int) -> list[tuple[str, str]]:
    """Return (tenant, name) of some spaces of which every live index holds something, since no mark waits; the newest first.

    Half are of the newest, which an older copy of an index lacks, half of every age; more of the one where the other lacks. Looked at are
    the same few rows of any ledger.
    """
    number = space_rows.c.no
    newest = list(conn.execute(select(number).order_by(number.desc()).limit(_LOOKED_AT)).scalars())
    if not newest:
        return []
    looked_at = {*newest, *_of_every_age(conn, newest[0])}
    waits = select(outbox_rows.c.space_no).where(outbox_rows.c.space_no == number).exists()
    holds = select(memories.c.id).where(memories.c.space_no == number, _LIVE_MEMORIES).exists()
    query = select(number, space_rows.c.tenant_id, space_rows.c.name).where(
        number.in_(sorted(looked_at)), space_rows.c.index_no > 0, ~waits, holds
    )
    found = conn.execute(query.order_by(number.desc())).all()
    new = [row for row in found if row.no >= newest[-1]]
    old = _evenly(found[len(new) :], max(limit // 2, limit - len(new)))
    return [(row.tenant_id, row.name) for row in (*new[: limit - len(old)], *old)]


def _of_every_age(conn: Connection, last: int) -> list[int]:
    """The number that is there at, or next below, each of as many points: ever wider apart, since numbers lack where many were erased."""
    number = space_rows.c.no
    span = last - conn.execute(select(func.min(number))).scalar_one()
    if span <= _LOOKED_AT:
        return []
    back = (round(_LOOKED_AT * (span / _LOOKED_AT) ** (part / _LOOKED_AT)) for part in range(_LOOKED_AT + 1))
    point = union_all(*(select(literal(last - each).label("at")) for each in back)).subquery()
    return list(conn.execute(select(select(func.max(number)).where(number <= point.c.at).scalar_subquery()).select_from(point)).scalars())


def _evenly(rows: Sequence[T], most: int) -> list[T]:
    """At most so many of the rows, the last among them, in their order."""
    most = min(most, len(rows))
    return [rows[(part + 1) * len(rows) // most - 1] for part in range(most)]


def mark_all_dirty(conn: Connection, now: datetime) -> None:
    """Mark every live memory, so that the dispatcher writes it into the index anew."""
    after: int | None = 0
    while after is not None:
        after = mark_dirty_after(conn, after, now)


def mark_dirty_after(conn: Connection, space_no: int, now: datetime, most: int = _MARKED_AT_ONCE) -> int | None:
    """Mark the live memories of the next spaces above this number, at most `most` spaces; return the last one's, None at the end.

    A large ledger is marked in many transactions: in one, nobody could write meanwhile, and it would not end within its limit.
    """
    query = select(space_rows.c.no).where(space_rows.c.no > space_no).order_by(space_rows.c.no).limit(most)
    numbers = list(conn.execute(query).scalars())
    for number in numbers:
        ids = list(conn.execute(select(memories.c.id).where(memories.c.space_no == number, _LIVE_MEMORIES)).scalars())
        if ids and spaces.is_there(conn, number):  # an erasure may have ended since the memories were read
            outbox.mark_dirty(conn, number, ids, spaces.bump(conn, number), now)
    return numbers[-1] if len(numbers) == most else None
