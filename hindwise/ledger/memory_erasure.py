"""Erasing one memory: every row that holds its words, also the draft it came from. Its outbox mark makes the index forget it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, func, or_, select, update

from hindwise.errors import NotFound
from hindwise.ledger import outbox, spaces
from hindwise.ledger.memories import load, superseded_by
from hindwise.ledger.memory_changes import change
from hindwise.ledger.schema import drafts, evidence, memories, memory_events, memory_links
from hindwise.ledger.schema import embeddings as embedding_rows
from hindwise.model.memory import Memory


def erase(conn: Connection, tenant_id: str, memory_id: str, now: datetime) -> str:
    """Delete every row that holds a memory's words, also the draft it came from; return its space. Raises NotFound.

    Its outbox mark stays, so that every index forgets it too.
    """
    memory, space_no = load(conn, tenant_id, memory_id)
    spaces.lock(conn, tenant_id, [memory.space])
    text_hash = conn.execute(select(memories.c.text_hash).where(memories.c.id == memory_id)).scalar_one_or_none()
    if text_hash is None:
        raise NotFound(f"no memory {memory_id!r}")
    _detach_predecessors(conn, memory, now)
    if memory.reflection_id:
        _blank_drafts(conn, memory)
    for table, column in ((memory_events, memory_events.c.memory_id), (evidence, evidence.c.memory_id)):
        conn.execute(delete(table).where(column == memory_id))
    conn.execute(delete(memory_links).where(or_(memory_links.c.from_id == memory_id, memory_links.c.to_id == memory_id)))
    conn.execute(delete(memories).where(memories.c.id == memory_id))
    still_used = conn.execute(select(func.count()).where(memories.c.space_no == space_no, memories.c.text_hash == text_hash)).scalar_one()
    if not still_used:
        conn.execute(delete(embedding_rows).where(embedding_rows.c.space_no == space_no, embedding_rows.c.text_hash == text_hash))
    outbox.mark_dirty(conn, space_no, [memory_id], spaces.bump(conn, space_no), now)
    return memory.space


def _detach_predecessors(conn: Connection, memory: Memory, now: datetime) -> None:
    """Whoever pointed at the erased one no longer does; what it closed stays closed, with its reason in general words."""
    for older, _ in superseded_by(conn, memory.id):
        change(
            conn,
            older,
            actor="api",
            action="edited",
            why="its successor was erased",
            at=now,
            superseded_by="",
            close_reason="its successor was erased",
        )


def _blank_drafts(conn: Connection, memory: Memory) -> None:
    """Take the words out of the stored answers of its reflection; the raw answer of a model goes whole, since it may quote anything."""
    rows = conn.execute(select(drafts).where(drafts.c.reflection_id == memory.reflection_id)).all()
    for row in rows:
        kept = [draft for draft in row.answer["drafts"] if draft["conclusion"] != memory.conclusion]
        answer = row.answer | {"drafts": kept, "raw": "", "nothing_because": row.answer.get("nothing_because") or "erased"}
        grounded: Mapping[str, Any] | None = row.grounded
        if grounded is not None:
            accepted = [item for item in grounded["accepted"] if item[1]["conclusion"] != memory.conclusion]
            grounded = {**grounded, "accepted": accepted}
        conn.execute(
            update(drafts)
            .where(drafts.c.reflection_id == row.reflection_id, drafts.c.attempt == row.attempt)
            .values(answer=answer, grounded=grounded)
        )
