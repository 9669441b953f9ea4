"""Reading memories: by id, slot, likeness, space. What changes them stands in `memory_changes` and `memory_erasure`."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, func, select, text

from hindwise.errors import NotFound
from hindwise.ledger.databases import read_in_order
from hindwise.ledger.direct import Direct
from hindwise.ledger.memory_tables import ONLY_LIVE
from hindwise.ledger.newest_first import Place, newest_first
from hindwise.ledger.schema import episodes, evidence, memories, memory_events
from hindwise.model.memory import LIVE, Evidence, Memory, Status, Words

_LIVE = [str(status) for status in LIVE]
COLUMN_WORDS = {"kind", "subject", "attribute", "scope", "value", "conclusion", "importance"}
JSON_WORDS = sorted(set(Words.model_fields) - COLUMN_WORDS - {"evidence"})
LIFECYCLE = (
    "status",
    "head",
    "confidence",
    "valid_from",
    "valid_to",
    "said_at",
    "closed_at",
    "close_reason",
    "version",
    "evidence_count",
    "review_at",
    "expires_at",
    "pinned",
    "disputed",
    "confirmed_by",
    "superseded_by",
)
"""Columns that may change; each change writes them all, before and after, into an event."""


def from_row(row: Row[Any], found: Sequence[Evidence] = ()) -> Memory:
    """Build the model from a row; the row was validated when it was written."""
    return Memory(
        **row.words,
        **{name: getattr(row, name) for name in COLUMN_WORDS},
        **{name: getattr(row, name) for name in LIFECYCLE},
        id=row.id,
        tenant_id=row.tenant_id,
        space=row.space,
        recorded_at=row.recorded_at,
        hits=row.hits,
        last_recalled_at=row.last_recalled_at,
        helpful=row.helpful,
        harmful=row.harmful,
        freshness=row.freshness,
        reflection_id=row.reflection_id,
        evidence=tuple(found),
    )


def load(conn: Connection, tenant_id: str, memory_id: str, *, lock: bool = False) -> tuple[Memory, int]:
    """Return a memory with evidence, and its space number. Raises NotFound."""
    query = select(memories).where(memories.c.tenant_id == tenant_id, memories.c.id == memory_id)
    row = conn.execute(query.with_for_update() if lock else query).first()
    if row is None:
        raise NotFound(f"no memory {memory_id!r}")
    return from_row(row, evidence_of(conn, [memory_id]).get(memory_id, ())), row.space_no


_MAX_EVIDENCE = 20
_MAX_VERSIONS = 200

# Built once: every recall asks it, and building it costs as much as running it.
_PLACE = func.row_number().over(partition_by=evidence.c.memory_id, order_by=evidence.c.ordinal).label("place")
_STANDING = (
    select(evidence, _PLACE)
    .where(evidence.c.memory_id.in_(bindparam("ids", expanding=True)), evidence.c.withdrawn_at.is_(None))
    .subquery("standing")
)
_EVIDENCE = (
    select(_STANDING, episodes.c.user_id)
    .join(episodes, episodes.c.id == _STANDING.c.episode_id, isouter=True)
    .where(_STANDING.c.place <= _MAX_EVIDENCE)
    .order_by(_STANDING.c.memory_id, _STANDING.c.ordinal)
)


def evidence_of(conn: Connection, memory_ids: Sequence[str], *, reader_user: str | None = None) -> dict[str, tuple[Evidence, ...]]:
    """Return standing evidence by memory id, at most 20 each.

    reader_user: quotes of other users' episodes are left out, because a shared lesson's evidence stays readable only
    with the space of the user it came from, so to nobody where the episode named no user; None = all quotes (the engine itself).
    """
    found: dict[str, list[Evidence]] = {}
    for row in conn.execute(_EVIDENCE, {"ids": list(memory_ids)}):
        own = reader_user is None or (row.user_id == reader_user != "")
        found.setdefault(row.memory_id, []).append(
            Evidence(
                episode_id=row.episode_id, seq=row.seq if own else None, turn_id=row.turn_id if own else "", quote=row.quote if own else ""
            )
        )
    return {memory_id: tuple(items) for memory_id, items in found.items()}


_BY_IDS = Direct(
    select(memories).where(
        memories.c.id.in_(bindparam("ids", expanding=True)), memories.c.space_no.in_(bindparam("spaces", expanding=True))
    )
)


def rows_by_ids(conn: Connection, space_nos: Sequence[int], ids: Sequence[str]) -> list[Row[Any]]:
    """Return bare rows of the named spaces in one statement: hydration, where the ledger has the last word."""
    return list(_BY_IDS.rows(conn, {"ids": list(ids), "spaces": list(space_nos)}))


# What the settling of every draft asks, built once.
_IN_SLOT = Direct(
    select(memories)
    .where(memories.c.space_no == bindparam("space"), memories.c.slot_key == bindparam("key"))
    .order_by(memories.c.head.desc(), memories.c.version.desc())
    .limit(_MAX_VERSIONS)
)
_ALIKE = Direct(
    select(memories)
    .where(
        memories.c.space_no == bindparam("space"),
        memories.c.duplicate_key == bindparam("key"),
        memories.c.status.in_(_LIVE),
        memories.c.slot_key.is_(None),
    )
    .order_by(memories.c.recorded_at, memories.c.id)
    .limit(5)
)
_IN_QUARANTINE = Direct(
    select(memories)
    .where(
        memories.c.space_no == bindparam("space"),
        memories.c.duplicate_key == bindparam("key"),
        memories.c.status == str(Status.QUARANTINED),
        memories.c.slot_key.is_(None),
    )
    .order_by(memories.c.recorded_at, memories.c.id)
    .limit(5)
)
_OF_REFLECTION = Direct(
    select(memories).where(memories.c.reflection_id == bindparam("reflection")).order_by(memories.c.recorded_at, memories.c.id)
)
_DUE = Direct(select(memories.c.review_at, memories.c.expires_at).where(memories.c.reflection_id == bindparam("reflection")))


def in_slot(conn: Connection, space_no: int, key: str) -> list[Memory]:
    """Return the head of a slot and the newest versions kept in it, at most 200, in order of version."""
    found = _IN_SLOT.rows(conn, {"space": space_no, "key": key})
    return sorted((from_row(row) for row in found), key=lambda memory: memory.version)


def alike(conn: Connection, space_no: int, key: str) -> list[Memory]:
    """Return live items with the same duplicate key, oldest first."""
    return [from_row(row) for row in _ALIKE.rows(conn, {"space": space_no, "key": key})]


def quarantined(conn: Connection, space_no: int, key: str) -> list[Memory]:
    """Return items in quarantine with the same duplicate key, oldest first: another task may bear one out."""
    return [from_row(row) for row in _IN_QUARANTINE.rows(conn, {"space": space_no, "key": key})]


def due_of_reflection(conn: Connection, reflection_id: str) -> list[tuple[datetime | None, datetime | None]]:
    """When what a reflection wrote is to be reviewed, and when it expires."""
    return [(row.review_at, row.expires_at) for row in _DUE.rows(conn, {"reflection": reflection_id})]


def of_reflection(conn: Connection, reflection_id: str) -> list[tuple[Memory, int]]:
    """Return what a reflection wrote, with space numbers, whatever its status now."""
    return [(from_row(row), row.space_no) for row in _OF_REFLECTION.rows(conn, {"reflection": reflection_id})]


def superseded_by(conn: Connection, memory_id: str) -> list[tuple[Memory, int]]:
    """Return the memories that a memory closed."""
    return [(from_row(row), row.space_no) for row in conn.execute(select(memories).where(memories.c.superseded_by == memory_id))]


_NEWEST_LIVE = Direct(
    select(memories)
    .where(memories.c.space_no == bindparam("space"), text(ONLY_LIVE))
    .order_by(memories.c.recorded_at.desc(), memories.c.id)
    .limit(bindparam("most"))
)


def newest_live(conn: Connection, space_nos: Sequence[int], limit: int) -> list[Row[Any]]:
    """Return live rows of these spaces, newest first. Each space is asked by itself: so an index is walked from its end."""
    with read_in_order(conn):
        found = [row for number in space_nos for row in _NEWEST_LIVE.rows(conn, {"space": number, "most": limit})]
    found.sort(key=lambda row: row.id)
    found.sort(key=lambda row: row.recorded_at, reverse=True)
    return found[:limit]


def page(
    conn: Connection,
    tenant_id: str,
    space_names: Sequence[str],
    *,
    kind: str = "",
    status: str = "",
    containing: str = "",
    after: Place | None = None,
    limit: int,
) -> list[Row[Any]]:
    """Return bare rows of the named spaces, newest first. `containing`: part of the conclusion."""
    query = select(memories).where(memories.c.tenant_id == tenant_id, memories.c.space.in_(list(space_names)))
    if kind:
        query = query.where(memories.c.kind == kind)
    if status:
        query = query.where(memories.c.status == status)
    if containing:
        query = query.where(memories.c.conclusion.icontains(containing, autoescape=True))
    return list(conn.execute(newest_first(query, memories.c.recorded_at, memories.c.id, after, limit)))


def history(conn: Connection, memory_id: str, limit: int = 200) -> list[Row[Any]]:
    """Return the events of a memory, oldest first."""
    query = select(memory_events).where(memory_events.c.memory_id == memory_id).order_by(memory_events.c.no).limit(limit)
    return list(conn.execute(query))
