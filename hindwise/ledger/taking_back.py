"""What did an earlier look at the same task teach, and how is it taken back where the new one does not say it again?

Only what nobody else says is closed; what others say too loses this one confirmation. All inside a transaction of the caller's.
"""

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, func, select, update

from hindwise.ledger import memories as rows
from hindwise.ledger import memory_changes as changes
from hindwise.ledger.schema import evidence, memories
from hindwise.ledger.writing import Writing
from hindwise.model.memory import LIVE, Draft, Memory, Status
from hindwise.resolve.slots import duplicate_key, same_value, slot_key

Known = Sequence[tuple[Memory, int]]
"""Memories, each with the number of its space."""


def written_by(conn: Connection, reflections: Sequence[str]) -> Known:
    """What earlier looks wrote."""
    return [found for reflection_id in reflections for found in rows.of_reflection(conn, reflection_id)]


def confirmed_by(conn: Connection, tenant_id: str, reflections: Sequence[str]) -> Known:
    """Memories of others that earlier looks confirmed."""
    if not reflections:
        return []
    query = (
        select(evidence.c.memory_id)
        .join(memories, memories.c.id == evidence.c.memory_id)
        .where(
            evidence.c.reflection_id.in_(list(reflections)),
            memories.c.reflection_id.not_in(list(reflections)),
            evidence.c.withdrawn_at.is_(None),
        )
    )
    return [rows.load(conn, tenant_id, memory_id) for memory_id in sorted(set(conn.execute(query).scalars()))]


def said_again(draft: Draft, space: str, old: Known) -> Memory | None:
    """Which of the old memories a new draft says again, in the same space."""
    for memory, _ in old:
        if memory.space != space or memory.kind != draft.kind or memory.status not in LIVE:
            continue
        key = slot_key(draft)
        if key is not None and key == slot_key(memory) and same_value(draft, memory):
            return memory
        if key is None and duplicate_key(draft) == duplicate_key(memory):
            return memory
    return None


def take_back(writing: Writing, memory: Memory, space_no: int, reflections: Sequence[str], why: str, written: Collection[str]) -> None:
    """Withdraw what others say too, close what nobody else says. written: ids of what the new look says."""
    if _others_say_so(writing.conn, memory.id, reflections):
        withdraw(writing, memory, space_no, reflections, why)
    else:
        _replace(writing, memory, space_no, why, written)


def _others_say_so(conn: Connection, memory_id: str, reflections: Sequence[str]) -> bool:
    query = select(func.count()).where(
        evidence.c.memory_id == memory_id, evidence.c.withdrawn_at.is_(None), evidence.c.reflection_id.not_in(list(reflections))
    )
    return bool(conn.execute(query).scalar_one())


def withdraw(writing: Writing, memory: Memory, space_no: int, reflections: Sequence[str], why: str) -> None:
    """What others say too stays, without the earlier looks' confirmation."""
    writing.change(memory, space_no, "evidence-withdrawn", why, evidence_count=max(1, memory.evidence_count - 1))
    writing.conn.execute(
        update(evidence)
        .where(evidence.c.memory_id == memory.id, evidence.c.reflection_id.in_(list(reflections)), evidence.c.withdrawn_at.is_(None))
        .values(withdrawn_at=writing.now)
    )


def _replace(writing: Writing, memory: Memory, space_no: int, why: str, written: Collection[str]) -> None:
    """Close what an earlier look taught; what it had closed itself comes back, unless something newer stands there."""
    conn = writing.conn
    writing.close(memory, space_no, Status.SUPERSEDED, why, superseded_by="", valid_to=writing.now)
    for new_id in sorted(set(written) - {memory.id}):
        kind = conn.execute(select(memories.c.kind).where(memories.c.id == new_id)).scalar_one()
        if kind == str(memory.kind):
            writing.link(new_id, memory.id, "supersedes", why)
            break
    if memory.head:
        for older_id, older_space_no in changes.reopen(conn, memory, actor=writing.actor, why=why, at=writing.now):
            writing.touch(older_space_no, older_id)
