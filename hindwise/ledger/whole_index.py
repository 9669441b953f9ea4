"""What does a whole index hold? All live memories of the ledger: how many, in which spaces for sure, and marked anew where they lack."""

from datetime import datetime

from sqlalchemy import Connection, func, select

from hindwise.ledger import outbox, spaces
from hindwise.ledger.schema import memories
from hindwise.ledger.schema import outbox as outbox_rows
from hindwise.ledger.schema import spaces as space_rows
from hindwise.model.memory import LIVE

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

    Looked for among the newest, which an older copy of an index lacks, and among as many of every age: the same few rows of any ledger.
    """
    # Two questions in one: SQLite would read every row to tell the ends together.
    ends = (select(func.coalesce(end(space_rows.c.no), 0)).scalar_subquery() for end in (func.min, func.max))
    first, last = conn.execute(select(*ends)).one()
    newest = range(last, max(first - 1, last - _LOOKED_AT), -1)
    numbers = {*newest, *(first + (last - first) * part // _LOOKED_AT for part in range(_LOOKED_AT))}
    waits = select(outbox_rows.c.space_no).where(outbox_rows.c.space_no == space_rows.c.no).exists()
    holds = select(memories.c.id).where(memories.c.space_no == space_rows.c.no, _LIVE_MEMORIES).exists()
    query = select(space_rows.c.tenant_id, space_rows.c.name).where(
        space_rows.c.no.in_(sorted(numbers)), space_rows.c.index_no > 0, ~waits, holds
    )
    return [(row.tenant_id, row.name) for row in conn.execute(query.order_by(space_rows.c.no.desc()).limit(limit))]


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
