"""Writing memories: words once, lifecycle columns with an event for each change. All inside a transaction of the caller's."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select, update

from hindwise.index.document import document_of
from hindwise.ledger.direct import Direct
from hindwise.ledger.memories import JSON_WORDS, LIFECYCLE, superseded_by
from hindwise.ledger.schema import evidence, memories, memory_events, memory_links
from hindwise.model.memory import Evidence, Memory, Status
from hindwise.resolve.slots import duplicate_key, slot_key

# With the values beside the statement, not in it: else SQLAlchemy builds and keys some forty parameters anew for every memory.
_KEEP, _NOTE, _LINK, _EVIDENCE = (Direct(insert(table)) for table in (memories, memory_events, memory_links, evidence))
_LAST_ORDINAL = Direct(
    select(func.coalesce(func.max(evidence.c.ordinal), -1).label("last")).where(evidence.c.memory_id == bindparam("memory"))
)


def insert_memory(conn: Connection, space_no: int, memory: Memory, *, actor: str, why: str) -> None:
    """Keep a new memory with its evidence and its first event. The caller marks it dirty."""
    text = document_of(memory)
    words = memory.model_dump(mode="json", include=set(JSON_WORDS))
    row = {
        "id": memory.id,
        "tenant_id": memory.tenant_id,
        "space_no": space_no,
        "space": memory.space,
        "kind": str(memory.kind),
        "slot_key": slot_key(memory),
        "subject": memory.subject,
        "attribute": memory.attribute,
        "scope": memory.scope,
        "value": memory.value,
        "conclusion": memory.conclusion,
        "language": memory.language[:8],
        "words": words,
        "lex": " ".join(text.tokens),
        "text_hash": text.text_hash,
        "duplicate_key": duplicate_key(memory),
        "importance": memory.importance,
        "recorded_at": memory.recorded_at,
        "hits": memory.hits,
        "last_recalled_at": memory.last_recalled_at,
        "helpful": memory.helpful,
        "harmful": memory.harmful,
        "freshness": memory.freshness,
        "reflection_id": memory.reflection_id,
        **{name: _plain(getattr(memory, name)) for name in LIFECYCLE},
    }
    _KEEP.run(conn, row)
    _add_evidence(conn, memory.id, memory.evidence, memory.reflection_id, start=0)
    _event(conn, memory.id, actor, "recorded", why, None, _lifecycle_json(memory), memory.recorded_at)


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, str) else value


def _lifecycle_json(memory: Memory) -> dict[str, Any]:
    return memory.model_dump(mode="json", include=set(LIFECYCLE))


def _event(conn: Connection, memory_id: str, actor: str, action: str, why: str, before: Any, after: Any, at: datetime) -> None:
    row = {"memory_id": memory_id, "at": at, "actor": actor[:200], "action": action, "why": why[:500], "before": before, "after": after}
    _NOTE.run(conn, row)


def add_evidence(conn: Connection, memory_id: str, items: Sequence[Evidence], reflection_id: str) -> None:
    """Append evidence rows."""
    if items:
        _add_evidence(conn, memory_id, items, reflection_id, start=_LAST_ORDINAL.rows(conn, {"memory": memory_id})[0].last + 1)


def _add_evidence(conn: Connection, memory_id: str, items: Sequence[Evidence], reflection_id: str, *, start: int) -> None:
    if not items:
        return
    _EVIDENCE.run_each(
        conn,
        [
            {
                "memory_id": memory_id,
                "ordinal": start + n,
                "episode_id": item.episode_id,
                "reflection_id": reflection_id,
                "seq": item.seq,
                "turn_id": item.turn_id,
                "quote": item.quote,
            }
            for n, item in enumerate(items)
        ],
    )


def change(conn: Connection, memory: Memory, *, actor: str, action: str, why: str, at: datetime, **values: Any) -> Memory:
    """Change lifecycle columns and write the event with the whole tuple before and after. Raises KeyError for another column."""
    if other := set(values) - set(LIFECYCLE):
        raise KeyError(f"not a lifecycle column: {sorted(other)}")
    after = memory.model_copy(update=values)
    conn.execute(update(memories).where(memories.c.id == memory.id).values(**{name: _plain(value) for name, value in values.items()}))
    _event(conn, memory.id, actor, action, why, _lifecycle_json(memory), _lifecycle_json(after), at)
    return after


def changed_by(conn: Connection, memory_ids: Sequence[str], actor: str, at: datetime) -> bool:
    """Whether an event of this actor at exactly this instant stands at one of them: then what it does then was committed."""
    same = (memory_events.c.memory_id.in_(memory_ids), memory_events.c.actor == actor[:200], memory_events.c.at == at)
    return conn.execute(select(memory_events.c.no).where(*same).limit(1)).first() is not None


def link(conn: Connection, from_id: str, to_id: str, kind: str, reason: str, at: datetime) -> None:
    """Tie two memories: supersedes, retracts, precedes."""
    _LINK.run(conn, {"from_id": from_id, "to_id": to_id, "kind": kind, "reason": reason[:500], "at": at})


def reopen(conn: Connection, closed: Memory, *, actor: str, why: str, at: datetime) -> list[tuple[str, int]]:
    """What `closed` had superseded in its slot stands again, unless something newer heads it; return ids with space numbers.

    The caller marks them dirty.
    """
    key = slot_key(closed)
    reopened: list[tuple[str, int]] = []
    for older, space_no in superseded_by(conn, closed.id) if key else ():
        same_slot = (memories.c.space_no == space_no, memories.c.slot_key == key, memories.c.head)
        taken = conn.execute(select(func.count()).where(*same_slot)).scalar_one()
        if older.status is Status.SUPERSEDED and slot_key(older) == key and not taken:
            again: dict[str, Any] = {"status": Status.ACTIVE, "head": True, "valid_to": None, "closed_at": None}
            change(conn, older, actor=actor, action="reopened", why=why, at=at, **again, close_reason="", superseded_by="")
            reopened.append((older.id, space_no))
    return reopened
