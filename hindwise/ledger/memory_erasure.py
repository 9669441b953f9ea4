"""Erasing one memory: every row that holds its words, wherever they were repeated. Its outbox mark makes the index forget it.

Its words stand in more places than its own row: in the drafts of the reflection that wrote it and of those that only confirmed it, in
the reasons of decisions ("changed: A -> B"), and in the history of the memories that it replaced or that replaced it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, func, or_, select, update

from hindwise.ledger import outbox, spaces
from hindwise.ledger.memories import load, superseded_by
from hindwise.ledger.memory_changes import change
from hindwise.ledger.schema import credits as credit_rows
from hindwise.ledger.schema import drafts, evidence, memories, memory_events, memory_links, reflections
from hindwise.ledger.schema import embeddings as embedding_rows
from hindwise.model.memory import Memory
from hindwise.resolve.decide import brief_words

_GONE = "erased"


def erase(conn: Connection, tenant_id: str, memory_id: str, now: datetime) -> str:
    """Delete every row that holds a memory's words, and blank them where others repeat them; return its space. Raises NotFound.

    Its outbox mark stays, so that every index forgets it too.
    """
    memory, _ = load(conn, tenant_id, memory_id)
    spaces.lock(conn, tenant_id, [memory.space])
    memory, space_no = load(conn, tenant_id, memory_id)  # as it is now that nobody else changes it
    text_hash = conn.execute(select(memories.c.text_hash).where(memories.c.id == memory_id)).scalar_one()
    neighbours = _neighbours(conn, memory)
    _detach_predecessors(conn, memory, now)
    _blank_history(conn, memory, neighbours)
    _blank_reflections(conn, memory, neighbours)
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
            conn.execute(update(memories).where(memories.c.id == row.id).values(close_reason=_GONE))
    for row in conn.execute(select(memory_links).where(memory_links.c.from_id.in_(neighbours))).all():
        if words in row.reason:
            same = (memory_links.c.from_id == row.from_id, memory_links.c.to_id == row.to_id, memory_links.c.kind == row.kind)
            conn.execute(update(memory_links).where(*same).values(reason=_GONE))


def _blanked(value: Any, words: str) -> Any:
    """A text that holds the words becomes "erased"; of a lifecycle tuple, its reason does."""
    if isinstance(value, str):
        return _GONE if words in value else value
    if isinstance(value, dict):
        return {**value, "close_reason": _blanked(value.get("close_reason", ""), words)}
    return value


@dataclass(frozen=True, slots=True)
class _Words:
    """How a draft that says the same as the erased memory is recognised."""

    conclusions: frozenset[str]
    attribute: str
    value: str

    def in_draft(self, draft: Mapping[str, Any]) -> bool:
        if draft["conclusion"] in self.conclusions:
            return True
        return bool(self.value) and (draft["attribute"], draft["value"]) == (self.attribute, self.value)

    def others(self, rejected: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """The rejected drafts that say something else."""
        return [item for item in rejected if not self.in_draft(item["draft"])]


def _blank_reflections(conn: Connection, memory: Memory, neighbours: Sequence[str]) -> None:
    """Take the words out of all that the reflections keep which wrote, confirmed, replaced or were replaced by it."""
    confirmed = select(evidence.c.reflection_id).where(evidence.c.memory_id == memory.id)
    around = select(memories.c.reflection_id).where(memories.c.id.in_(neighbours))
    ids = {memory.reflection_id, *conn.execute(confirmed).scalars(), *conn.execute(around).scalars()}
    for row in conn.execute(select(reflections).where(reflections.c.id.in_(sorted(ids - {""})))).all():
        attempts = conn.execute(select(drafts).where(drafts.c.reflection_id == row.id)).all()
        ordinals = {item["ordinal"] for item in row.decisions if item["memory_id"] == memory.id}
        words = _words_of(memory, [attempt.grounded for attempt in attempts if attempt.grounded], ordinals)
        for attempt in attempts:
            _blank_attempt(conn, attempt, words)
        conn.execute(
            update(reflections)
            .where(reflections.c.id == row.id)
            .values(decisions=[_decision(item, memory) for item in row.decisions], rejected=words.others(row.rejected))
        )


def _words_of(memory: Memory, grounded: Sequence[Mapping[str, Any]], ordinals: Collection[int]) -> _Words:
    """The memory's words, and those of the drafts that became it: a shared lesson is kept with fewer words than its draft had."""
    drafted = {draft["conclusion"] for found in grounded for ordinal, draft in found["accepted"] if ordinal in ordinals}
    return _Words(frozenset({memory.conclusion, *drafted}), memory.attribute, memory.value)


def _decision(item: dict[str, Any], memory: Memory) -> dict[str, Any]:
    named = memory.id in (item["memory_id"], *item["touched"])
    return {**item, "reason": _GONE} if named or brief_words(memory) in item["reason"] else item


def _blank_attempt(conn: Connection, row: Row[Any], words: _Words) -> None:
    """The raw answer of a model goes whole, since it may quote anything; so do the complaints, which quote drafts."""
    kept = [draft for draft in row.answer["drafts"] if not words.in_draft(draft)]
    answer = row.answer | {"drafts": kept, "raw": "", "nothing_because": row.answer.get("nothing_because") or _GONE}
    grounded: dict[str, Any] | None = row.grounded
    if grounded is not None:
        grounded = {
            "accepted": [item for item in grounded["accepted"] if not words.in_draft(item[1])],
            "rejected": words.others(grounded["rejected"]),
            "complaints": [{**item, "text": _GONE} for item in grounded["complaints"]],
        }
    conn.execute(
        update(drafts)
        .where(drafts.c.reflection_id == row.reflection_id, drafts.c.attempt == row.attempt)
        .values(answer=answer, grounded=grounded)
    )
