"""What holds whatever is asked: instructions, what is pinned, preferences without a narrower scope.

Which memories these are is asked in the survey, beside the index; their rows are read with those of the finds.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, bindparam, literal_column, or_, select, union_all

from hindwise.ledger.prepared import Prepared
from hindwise.ledger.schema import memories, spaces
from hindwise.model.memory import LIVE, Kind
from hindwise.recall.rows import Raw

MAX_STANDING = 50

# Written out, so that the planner sees them.
_LIVE: list[Any] = [literal_column(f"'{status}'") for status in sorted(LIVE)]
CURRENT = or_(memories.c.head, memories.c.slot_key.is_(None))
"""Of a slot only its head."""


def what_stands(owned: ColumnElement[bool]) -> Select[Any]:
    """Return the question for the ids of at most 50 standing items, the most important first. owned: which rows of `spaces` are asked."""
    # A join: of a list SQLite, once it has counted, takes so many spaces for granted that it would rather read every row.
    here = select(memories.c.id).join(spaces, spaces.c.no == memories.c.space_no).where(owned, CURRENT)
    return (
        select(memories.c.id)
        .where(
            memories.c.id.in_(
                # Three questions that have an index each: a single one with OR would read every row of the space.
                union_all(
                    here.where(memories.c.kind == literal_column("'instruction'"), memories.c.status.in_(_LIVE)),
                    here.where(memories.c.kind == literal_column("'preference'"), memories.c.scope == "", memories.c.status.in_(_LIVE)),
                    # The status as an expression: else SQLite takes the index over it, which holds the whole space, not the one of the
                    # pinned.
                    here.where(memories.c.pinned, memories.c.status.concat("").in_(_LIVE)),
                )
            )
        )
        .order_by(memories.c.importance.desc(), memories.c.recorded_at.desc(), memories.c.id)
        .limit(MAX_STANDING)
    )


_STANDING = Prepared(what_stands(spaces.c.no.in_(bindparam("spaces", expanding=True))), few=["spaces"])


def standing_ids(conn: Connection, space_nos: Sequence[int]) -> tuple[str, ...]:
    """Return the ids of at most 50 standing items."""
    return tuple(row[0] for row in _STANDING.rows(conn, {"spaces": list(space_nos)})) if space_nos else ()


def most_important_first(rows: Iterable[Raw]) -> list[Raw]:
    """Those of the rows that stand, in order; rows that may be told, as `queries.live_rows` has them."""
    found = [row for row in rows if row.pinned or row.kind == Kind.INSTRUCTION or (row.kind == Kind.PREFERENCE and not row.scope)]
    return sorted(found, key=lambda row: (-row.importance, -row.recorded_at, row.id))
