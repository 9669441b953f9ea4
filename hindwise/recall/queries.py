"""The SQL of a recall, in two hops: what the index may not know yet, before it is asked; all that is told, after it was asked.

In this order, so that nothing slips through: what is not in the outbox at the first hop is in the index at its answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BindParameter, Connection, Row, bindparam, or_, select, union_all

from hindwise.ledger.schema import episodes, memories, outbox, spaces
from hindwise.model.memory import LIVE, Kind, Memory, Retrospective, Status
from hindwise.model.turn import Origin

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MAX_UNAPPLIED = 200
MAX_STANDING = 50
_LIVE = [str(status) for status in LIVE]
_TOLD = [
    column
    for column in memories.c
    if column.name
    not in {"duplicate_key", "closed_at", "close_reason", "freshness", "review_at", "superseded_by", "valid_to", "confidence"}
]
"""The columns that a recall looks at; decoding costs by column."""


@dataclass(frozen=True, slots=True)
class Survey:
    """Numbers of the spaces that exist, by name, and the newest memories of theirs that the index may not know yet."""

    numbers: Mapping[str, int]
    unapplied: tuple[str, ...]


# Statements are built once: building one costs as much as running it.
_IDS: BindParameter[str] = bindparam("ids", expanding=True)
_SPACES: BindParameter[int] = bindparam("spaces", expanding=True)
_LIMIT: BindParameter[int] = bindparam("count")
_OWNED = (spaces.c.tenant_id == bindparam("tenant")) & spaces.c.name.in_(bindparam("names", expanding=True))
_NEWEST_MARKS = (
    select(outbox.c.space_no, outbox.c.memory_id)
    .join(spaces, spaces.c.no == outbox.c.space_no)
    .where(_OWNED)
    .order_by(outbox.c.at.desc(), outbox.c.memory_id)
    .limit(MAX_UNAPPLIED)
    .subquery()
)
_SURVEY = (
    select(spaces.c.name, spaces.c.no, _NEWEST_MARKS.c.memory_id)
    .join(_NEWEST_MARKS, _NEWEST_MARKS.c.space_no == spaces.c.no, isouter=True)
    .where(_OWNED)
)
_TELLABLE = (memories.c.space_no.in_(_SPACES), memories.c.status.in_(_LIVE), or_(memories.c.head, memories.c.slot_key.is_(None)))
# By id alone: with more conditions SQLite may prefer the index over status, and walk through the whole space.
_BY_IDS = select(*_TOLD).where(memories.c.id.in_(_IDS))
# Three questions that have an index each: a single one with OR would read every row of the space.
_STANDING = (
    select(*_TOLD)
    .where(
        memories.c.id.in_(
            union_all(
                *(
                    select(memories.c.id).where(condition, *_TELLABLE)
                    for condition in (
                        memories.c.kind == "instruction",
                        (memories.c.kind == "preference") & (memories.c.scope == ""),
                        memories.c.pinned,
                    )
                )
            )
        )
    )
    .order_by(memories.c.importance.desc(), memories.c.recorded_at.desc(), memories.c.id)
    .limit(MAX_STANDING)
)
_NEWEST = select(*_TOLD).where(*_TELLABLE).order_by(memories.c.recorded_at.desc(), memories.c.id).limit(_LIMIT)
_EARLIER = (
    select(memories.c.superseded_by, memories.c.value, memories.c.conclusion)
    .where(
        memories.c.space_no.in_(_SPACES),
        memories.c.slot_key.in_(bindparam("slots", expanding=True)),
        memories.c.superseded_by.in_(_IDS),
        memories.c.status == str(Status.SUPERSEDED),
    )
    .order_by(memories.c.version)
)
_SESSIONS = select(episodes.c.id, episodes.c.session_id).where(
    episodes.c.tenant_id == bindparam("tenant"), episodes.c.id.in_(_IDS), episodes.c.user_id == bindparam("reader")
)


def survey(conn: Connection, tenant_id: str, names: Sequence[str]) -> Survey:
    """Look up the spaces and their outbox, in one statement."""
    rows = conn.execute(_SURVEY, {"tenant": tenant_id, "names": list(names)}).all()
    return Survey({row.name: row.no for row in rows}, tuple(row.memory_id for row in rows if row.memory_id is not None))


def live_rows(conn: Connection, space_nos: Sequence[int], ids: Sequence[str]) -> list[Row[Any]]:
    """Return what may be told of the named memories: live ones of these spaces, of a slot only its head."""
    if not ids or not space_nos:
        return []
    return [row for row in conn.execute(_BY_IDS, {"ids": list(ids)}) if _is_tellable(row, space_nos)]


def _is_tellable(row: Row[Any], space_nos: Sequence[int]) -> bool:
    return row.space_no in space_nos and row.status in _LIVE and (row.head or row.slot_key is None)


def standing_rows(conn: Connection, space_nos: Sequence[int]) -> list[Row[Any]]:
    """Return standing items: instructions, pinned ones, preferences without a narrower scope; the most important first."""
    return list(conn.execute(_STANDING, {"spaces": list(space_nos)})) if space_nos else []


def newest_rows(conn: Connection, space_nos: Sequence[int], limit: int) -> list[Row[Any]]:
    """Return what may be told, newest first: what a recall works on where the index does not answer."""
    return list(conn.execute(_NEWEST, {"spaces": list(space_nos), "count": limit})) if space_nos else []


def earlier_values(conn: Connection, space_nos: Sequence[int], heads: Mapping[str, str]) -> dict[str, str]:
    """Return what each head replaced: its value, or its conclusion where it has none. heads: slot key by memory id."""
    if not heads:
        return {}
    found = conn.execute(_EARLIER, {"spaces": list(space_nos), "slots": sorted(set(heads.values())), "ids": list(heads)})
    return {row.superseded_by: row.value or row.conclusion for row in found}


def sessions_of(conn: Connection, tenant_id: str, episode_ids: Sequence[str], reader_user: str) -> dict[str, str]:
    """Return session ids by episode id, of the reader's own episodes only."""
    if not episode_ids or not reader_user:
        return {}
    return {
        row.id: row.session_id for row in conn.execute(_SESSIONS, {"tenant": tenant_id, "ids": list(episode_ids), "reader": reader_user})
    }


_BLANK = Memory(id="", tenant_id="", space="", kind=Kind.FACT, conclusion="-", valid_from=_EPOCH, recorded_at=_EPOCH)
_NO_RETROSPECTIVE = Retrospective()
_PLAIN = [column.name for column in _TOLD if column.name in Memory.model_fields and column.name not in {"kind", "status"}]


def memory_of(row: Row[Any]) -> Memory:
    """Build the model without validating again what was validated when it was written: a recall does this for dozens of rows.

    What `_TOLD` leaves out keeps its default, so that this memory is for telling only, never for writing back.
    """
    words = row.words
    return _BLANK.model_copy(
        update={
            **words,
            **{name: getattr(row, name) for name in _PLAIN},
            "kind": Kind(row.kind),
            "status": Status(row.status),
            "origin": Origin(words["origin"]),
            "topics": tuple(words["topics"]),
            "retrospective": _NO_RETROSPECTIVE.model_copy(update=words["retrospective"]),
        }
    )
