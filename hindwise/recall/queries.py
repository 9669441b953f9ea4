"""The SQL of a recall, in two hops: what the index may not know yet, before it is asked; all that is told, after it was asked.

In this order, so that nothing slips through: what is not in the outbox at the first hop is in the index at its answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, or_, select, union_all

from hindwise.ledger.schema import episodes, memories, outbox, spaces
from hindwise.model.memory import LIVE, SLOTTED, Kind, Memory, Retrospective, Status
from hindwise.model.turn import Origin

MAX_UNAPPLIED = 200
MAX_STANDING = 50
_LIVE = [str(status) for status in LIVE]
_TOLD = [
    column
    for column in memories.c
    if column.name not in {"duplicate_key", "closed_at", "close_reason", "freshness", "review_at", "superseded_by"}
]
"""The columns that a recall looks at; decoding costs by column."""


@dataclass(frozen=True, slots=True)
class Survey:
    """Numbers of the spaces that exist, by name, and the newest memories of theirs that the index may not know yet."""

    numbers: Mapping[str, int]
    unapplied: tuple[str, ...]


def survey(conn: Connection, tenant_id: str, names: Sequence[str]) -> Survey:
    """Look up the spaces and their outbox, in one statement."""
    owned = (spaces.c.tenant_id == tenant_id) & spaces.c.name.in_(list(names))
    newest = (
        select(outbox.c.space_no, outbox.c.memory_id)
        .join(spaces, spaces.c.no == outbox.c.space_no)
        .where(owned)
        .order_by(outbox.c.at.desc(), outbox.c.memory_id)
        .limit(MAX_UNAPPLIED)
        .subquery()
    )
    query = select(spaces.c.name, spaces.c.no, newest.c.memory_id).join(newest, newest.c.space_no == spaces.c.no, isouter=True).where(owned)
    rows = conn.execute(query).all()
    return Survey({row.name: row.no for row in rows}, tuple(row.memory_id for row in rows if row.memory_id is not None))


def live_rows(conn: Connection, space_nos: Sequence[int], ids: Sequence[str]) -> list[Row[Any]]:
    """Return what may be told of the named memories: live ones of these spaces, of a slot only its head."""
    if not ids or not space_nos:
        return []
    return list(conn.execute(select(*_TOLD).where(memories.c.id.in_(list(ids)), *_tellable(space_nos))))


def standing_rows(conn: Connection, space_nos: Sequence[int]) -> list[Row[Any]]:
    """Return standing items: instructions, pinned ones, preferences without a narrower scope; the most important first.

    Three questions that each have an index, as one statement: a single one with OR would read every row of a space.
    """
    if not space_nos:
        return []
    parts = [
        select(memories.c.id).where(condition, *_tellable(space_nos))
        for condition in (
            memories.c.kind == "instruction",
            (memories.c.kind == "preference") & (memories.c.scope == ""),
            memories.c.pinned,
        )
    ]
    query = (
        select(*_TOLD)
        .where(memories.c.id.in_(union_all(*parts)))
        .order_by(memories.c.importance.desc(), memories.c.recorded_at.desc(), memories.c.id)
        .limit(MAX_STANDING)
    )
    return list(conn.execute(query))


def newest_rows(conn: Connection, space_nos: Sequence[int], limit: int) -> list[Row[Any]]:
    """Return what may be told, newest first: what a recall works on where the index does not answer."""
    if not space_nos:
        return []
    query = select(*_TOLD).where(*_tellable(space_nos)).order_by(memories.c.recorded_at.desc(), memories.c.id).limit(limit)
    return list(conn.execute(query))


def _tellable(space_nos: Sequence[int]) -> tuple[ColumnElement[bool], ...]:
    return (
        memories.c.space_no.in_(list(space_nos)),
        memories.c.status.in_(_LIVE),
        or_(memories.c.head, memories.c.slot_key.is_(None)),
    )


def earlier_values(conn: Connection, memory_ids: Sequence[str]) -> dict[str, str]:
    """Return what each of the named heads replaced: its value, or its conclusion where it has none."""
    if not memory_ids:
        return {}
    query = (
        select(memories.c.superseded_by, memories.c.value, memories.c.conclusion)
        .where(
            memories.c.superseded_by.in_(list(memory_ids)), memories.c.status == str(Status.SUPERSEDED), memories.c.slot_key.is_not(None)
        )
        .order_by(memories.c.version)
    )
    return {row.superseded_by: row.value or row.conclusion for row in conn.execute(query)}


def sessions_of(conn: Connection, tenant_id: str, episode_ids: Sequence[str], reader_user: str) -> dict[str, str]:
    """Return session ids by episode id, of the reader's own episodes only."""
    if not episode_ids or not reader_user:
        return {}
    query = select(episodes.c.id, episodes.c.session_id).where(
        episodes.c.tenant_id == tenant_id, episodes.c.id.in_(list(episode_ids)), episodes.c.user_id == reader_user
    )
    return {row.id: row.session_id for row in conn.execute(query)}


def memory_of(row: Row[Any]) -> Memory:
    """Build the model without validating again what was validated when it was written: a recall does this for dozens of rows."""
    words = row.words
    return Memory.model_construct(
        **{
            **words,
            "retrospective": Retrospective.model_construct(**words["retrospective"]),
            "origin": Origin(words["origin"]),
            "topics": tuple(words["topics"]),
        },
        id=row.id,
        tenant_id=row.tenant_id,
        space=row.space,
        kind=Kind(row.kind),
        status=Status(row.status),
        head=row.head,
        subject=row.subject,
        attribute=row.attribute,
        scope=row.scope,
        value=row.value,
        conclusion=row.conclusion,
        importance=row.importance,
        confidence=row.confidence,
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        recorded_at=row.recorded_at,
        version=row.version,
        evidence_count=row.evidence_count,
        hits=row.hits,
        last_recalled_at=row.last_recalled_at,
        helpful=row.helpful,
        harmful=row.harmful,
        expires_at=row.expires_at,
        pinned=row.pinned,
        disputed=row.disputed,
        confirmed_by=row.confirmed_by,
        reflection_id=row.reflection_id,
    )


def has_earlier(memory: Memory) -> bool:
    """Whether a memory may have replaced another one: only then it is worth a look."""
    return memory.kind in SLOTTED and memory.version > 1
