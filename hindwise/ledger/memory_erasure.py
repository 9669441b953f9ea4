"""Erasing one memory: every row that holds its words, wherever they were repeated. Its outbox mark makes the index forget it.

Its words stand in more places than its own row: in the drafts of the reflections over the same tasks (`draft_erasure`), in the reasons
of decisions ("changed: A -> B"), and in the history of the memories that it replaced or that replaced it.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, func, or_, select, update

from hindwise.ledger import draft_erasure, outbox, spaces
from hindwise.ledger.draft_erasure import GONE
from hindwise.ledger.memories import load, superseded_by
from hindwise.ledger.memory_changes import change
from hindwise.ledger.schema import credits as credit_rows
from hindwise.ledger.schema import embeddings as embedding_rows
from hindwise.ledger.schema import evidence, memories, memory_events, memory_links
from hindwise.model.memory import Memory
from hindwise.resolve.decide import brief_words


def erase(conn: Connection, tenant_id: str, memory_id: str, now: datetime) -> str:
    """Delete every row that holds a memory's words, and blank them where others repeat them; return its space. Raises NotFound.

    Its outbox mark stays, so that every index forgets it too.
    """
    memory, _ = load(conn, tenant_id, memory_id)
    draft_erasure.lock(conn, memory, _neighbours(conn, memory))
    spaces.lock(conn, tenant_id, [memory.space])
    memory, space_no = load(conn, tenant_id, memory_id)  # as it is now that nobody else changes it
    text_hash = conn.execute(select(memories.c.text_hash).where(memories.c.id == memory_id)).scalar_one()
    neighbours = _neighbours(conn, memory)
    # Again: whoever settled while the space was waited for is seen only now, and has let go of its reflection.
    reflection_ids = draft_erasure.lock(conn, memory, neighbours)
    _detach_predecessors(conn, memory, now)
    _blank_history(conn, memory, neighbours)
    draft_erasure.blank(conn, memory, reflection_ids)
    for table in (memory_events, evidence, credit_rows):
        conn.execute(delete(table).where(table.c.memory_id == memory_id))
    conn.execute(delete(memory_links).where(or_(memory_links.c.from_id == memory_id, memory_links.c.to_id == memory_id)))
    conn.execute(delete(memories).where(memories.c.id == memory_id))
    still_used = conn.execute(select(func.count()).where(memories.c.space_no == space_no, memories.c.text_hash == text_hash)).scalar_one()
    if not still_used:
        conn.execute(delete(embedding_rows).where(embedding_rows.c.space_no == space_no, embedding_rows.c.text_hash == text_hash))
    outbox.mark_dirty(conn, space_no, [memory_id], spaces.bump(conn, space_no), now)
    return memory.space


def _neighbours(conn: Connection, memory: Memory) -> list[str]:
    """Ids of the memories whose history may tell this one's words: what it replaced, what replaced it, what it is linked to."""
    links = select(memory_links.c.from_id, memory_links.c.to_id).where(
        or_(memory_links.c.from_id == memory.id, memory_links.c.to_id == memory.id)
    )
    found = {memory_id for row in conn.execute(links) for memory_id in row}
    found |= {older.id for older, _ in superseded_by(conn, memory.id)} | {memory.superseded_by}
    return sorted(found - {memory.id, ""})


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


def _blank_history(conn: Connection, memory: Memory, neighbours: Sequence[str]) -> None:
    """Take its words out of the reasons that its neighbours' history gives; what happened, and when, stays."""
    words = brief_words(memory)
    for row in conn.execute(select(memory_events).where(memory_events.c.memory_id.in_(neighbours))).all():
        told = {"why": row.why, "before": row.before, "after": row.after}
        if (blanked := {name: _blanked(value, words) for name, value in told.items()}) != told:
            conn.execute(update(memory_events).where(memory_events.c.no == row.no).values(**blanked))
    for row in conn.execute(select(memories.c.id, memories.c.close_reason).where(memories.c.id.in_(neighbours))).all():
        if words in row.close_reason:
            conn.execute(update(memories).where(memories.c.id == row.id).values(close_reason=GONE))
    for row in conn.execute(select(memory_links).where(memory_links.c.from_id.in_(neighbours))).all():
        if words in row.reason:
            same = (memory_links.c.from_id == row.from_id, memory_links.c.to_id == row.to_id, memory_links.c.kind == row.kind)
            conn.execute(update(memory_links).where(*same).values(reason=GONE))


def _blanked(value: Any, words: str) -> Any:
    """A text that holds the words becomes "erased"; of a lifecycle tuple, its reason does."""
    if isinstance(value, str):
        return GONE if words in value else value
    if isinstance(value, dict):
        return {**value, "close_reason": _blanked(value.get("close_reason", ""), words)}
    return value
