"""What a person says of one memory: confirm, edit, reject. Each inside a transaction of the caller's, with an event, marked dirty at once.

Called again with the same words each changes nothing. What is history already is not judged any more: NotAllowed says what stands there.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, exists, select, text

from hindwise.errors import NotAllowed
from hindwise.ledger import memories as rows
from hindwise.ledger import memory_changes as changes
from hindwise.ledger import outbox, spaces
from hindwise.ledger.databases import read_in_order
from hindwise.ledger.direct import Direct
from hindwise.ledger.memory_tables import CONFIRMED, SHARED_LESSON
from hindwise.ledger.newest_first import Place, newest_first
from hindwise.ledger.schema import memories, memory_events
from hindwise.ledger.schema import spaces as space_rows
from hindwise.model.ids import derive, digest
from hindwise.model.memory import SLOTTED, Memory, Status, Words
from hindwise.resolve.decide import brief_words
from hindwise.resolve.slots import same_value, slot_key

REJECTED = "rejected"
"""Action of the event by which a person's no is known from what a reflection took back."""
WAITING = (Status.PENDING, Status.QUARANTINED)
SURE = 0.95
"""Confidence of what a person confirmed or wrote."""

_OPEN = frozenset({Status.ACTIVE, *WAITING})

_BY_PERSON = exists().where(memory_events.c.memory_id == memories.c.id, memory_events.c.action == REJECTED)
_NO = (
    select(memories)
    .where(memories.c.space_no == bindparam("space"), memories.c.status == str(Status.RETRACTED), _BY_PERSON)
    .order_by(memories.c.closed_at.desc())
    .limit(20)
)
# Built once: every draft of every reflection asks.
_NO_IN_SLOT = Direct(_NO.where(memories.c.slot_key == bindparam("key")))
_NO_ALIKE = Direct(_NO.where(memories.c.duplicate_key == bindparam("key"), memories.c.slot_key.is_(None)))

_IN_SPACE = select(space_rows.c.no).where(space_rows.c.tenant_id == bindparam("tenant"), space_rows.c.name == bindparam("own"))
_EXAMPLES = (
    select(memories)
    .where(text(CONFIRMED), memories.c.language == bindparam("lang"))
    .order_by(memories.c.recorded_at.desc(), memories.c.id.desc())
    .limit(bindparam("most"))
)
# Each walks one index, whose conditions it repeats, and ends after `most` rows.
_OWN_EXAMPLES = Direct(_EXAMPLES.where(memories.c.space_no == _IN_SPACE.scalar_subquery()))
_SHARED_EXAMPLES = Direct(_EXAMPLES.where(memories.c.tenant_id == bindparam("tenant"), text(SHARED_LESSON)))


def confirm(
    conn: Connection, tenant_id: str, memory_id: str, *, actor: str, now: datetime, why: str = ""
) -> tuple[Memory, tuple[str, ...]]:
    """A person vouches for it: it is active, heads its slot, and does not expire. Returns it and the ids of what it replaced.

    Raises NotFound; NotAllowed for history.
    """
    memory, space_no = _held(conn, tenant_id, memory_id)
    if memory.confirmed_by and memory.status is Status.ACTIVE:
        return memory, ()
    _still_open(memory, "confirmed")
    heads = _heads_a_slot(memory)
    replaced = _close_head(conn, space_no, memory, actor, now) if heads and not memory.head else set()
    confirmed = changes.change(
        conn,
        memory,
        actor=actor,
        action="confirmed",
        why=why or "a person confirmed it",
        at=now,
        status=Status.ACTIVE,
        head=heads,
        confirmed_by=actor[:200],
        confidence=max(SURE, memory.confidence),
        review_at=None,
        expires_at=None,
    )
    for older in replaced:
        changes.link(conn, memory.id, older, "supersedes", why or "a person confirmed it", now)
    _mark(conn, space_no, {memory.id, *replaced}, now)
    return confirmed, tuple(sorted(replaced))


def reject(conn: Connection, tenant_id: str, memory_id: str, *, actor: str, now: datetime, reason: str = "") -> Memory:
    """A person says that it is not so: retracted, kept as history, never told again; what it had closed in its slot stands again.

    Raises NotFound; NotAllowed for what something else replaced.
    """
    memory, space_no = _held(conn, tenant_id, memory_id)
    if memory.status is Status.RETRACTED:
        return memory
    _still_open(memory, REJECTED)
    why = f"rejected: {reason}" if reason else "a person rejected it"
    rejected = changes.change(
        conn,
        memory,
        actor=actor,
        action=REJECTED,
        why=why,
        at=now,
        status=Status.RETRACTED,
        head=False,
        valid_to=memory.valid_from,
        closed_at=now,
        close_reason=why[:500],
        confirmed_by="",
    )
    touched = {memory.id}
    if memory.head:
        touched |= {older for older, _ in changes.reopen(conn, memory, actor=actor, why="what replaced it was rejected", at=now)}
    _mark(conn, space_no, touched, now)
    return rejected


def edit(
    conn: Connection, tenant_id: str, memory_id: str, words: Mapping[str, Any], *, actor: str, now: datetime, why: str = ""
) -> tuple[Memory, tuple[str, ...]]:
    """A person words it anew: a new memory with the same evidence supersedes the old, and counts as confirmed.

    words: fields of `Words` to change. Returns the new memory and the ids of what it replaced. Raises NotFound, NotAllowed (history, or
    nothing changed); pydantic.ValidationError where the new words do not fit.
    """
    memory, space_no = _held(conn, tenant_id, memory_id)
    new_words = Words.model_validate({**memory.model_dump(include=set(Words.model_fields)), **words})
    new_id = derive("edit", memory_id, digest(new_words.model_dump(mode="json", exclude={"evidence"})))
    if conn.execute(select(memories.c.id).where(memories.c.id == new_id)).first():
        return rows.load(conn, tenant_id, new_id)[0], (memory_id,)
    _still_open(memory, "edited")
    old_words = memory.model_dump(include=set(Words.model_fields))
    if new_words.model_dump() == old_words:
        raise NotAllowed("the words are the same: to keep them as they are, confirm the memory")
    told = why or "a person edited it"
    close_at = max(now, memory.valid_from)
    _supersede(conn, memory, new_id, actor, told, close_at, now)
    edited = Memory(
        **new_words.model_dump(),
        id=new_id,
        tenant_id=tenant_id,
        space=memory.space,
        status=Status.ACTIVE,
        confidence=SURE,
        valid_from=memory.valid_from,
        said_at=memory.said_at,
        recorded_at=now,
        evidence_count=memory.evidence_count,
        pinned=memory.pinned,
        helpful=memory.helpful,
        harmful=memory.harmful,
        confirmed_by=actor[:200],
    )
    key, replaced = slot_key(edited), [memory.id]
    if key is not None and edited.kind in SLOTTED:
        replaced += sorted(_close_head(conn, space_no, edited, actor, now))
        version = max((known.version for known in rows.in_slot(conn, space_no, key)), default=0) + 1
        edited = edited.model_copy(update={"head": True, "version": version})
    changes.insert_memory(conn, space_no, edited, actor=actor, why=told)
    for older in replaced:
        changes.link(conn, new_id, older, "supersedes", told, now)
    _mark(conn, space_no, {new_id, *replaced}, now)
    return edited, tuple(replaced)


def waiting(
    conn: Connection, tenant_id: str, space_names: Sequence[str] | None, *, after: Place | None = None, limit: int
) -> list[Row[Any]]:
    """Return bare rows that wait for a person, newest first. space_names: None = of every space of the tenant."""
    query = select(memories).where(memories.c.tenant_id == tenant_id, memories.c.status.in_([str(status) for status in WAITING]))
    if space_names is not None:
        query = query.where(memories.c.space.in_(list(space_names)))
    return list(conn.execute(newest_first(query, memories.c.recorded_at, memories.c.id, after, limit)))


def confirmed_examples(conn: Connection, tenant_id: str, lang: str, limit: int, *, own: str) -> list[Memory]:
    """Return what people of this tenant confirmed, in one language, the newest first, with evidence: examples of what is worth keeping.

    own: a user's space, empty for nobody's. Of no other user's space is anything read; of agents' spaces lessons, whose quotes the caller
    takes out.
    """
    asked = {"tenant": tenant_id, "lang": lang, "most": limit}
    with read_in_order(conn):
        found = list(_SHARED_EXAMPLES.rows(conn, asked))
        if own:
            found += _OWN_EXAMPLES.rows(conn, {**asked, "own": own})
    found = sorted(found, key=lambda row: (row.recorded_at, row.id), reverse=True)[:limit]
    places = rows.evidence_of(conn, [row.id for row in found])
    return [rows.from_row(row, places.get(row.id, ())) for row in found]


def was_rejected(conn: Connection, space_no: int, words: Words, key: str | None, duplicate: str, said_at: datetime) -> str:
    """Return the id of a memory by which a person said no to these words already; empty where nobody did.

    Of a slot only what was said before the no counts, or in the same task: who says it again later means it. A lesson in the same words
    stays rejected.
    """
    statement, asked = (_NO_IN_SLOT, {"key": key}) if key else (_NO_ALIKE, {"key": duplicate})
    for row in statement.rows(conn, {"space": space_no, **asked}):
        memory = rows.from_row(row)
        if key is None:
            return memory.id
        if same_value(words, memory) and (memory.closed_at is None or said_at <= memory.closed_at or _same_task(conn, words, memory.id)):
            return memory.id
    return ""


def _same_task(conn: Connection, words: Words, memory_id: str) -> bool:
    held = {place.episode_id for place in rows.evidence_of(conn, [memory_id]).get(memory_id, ())}
    return bool(held & {place.episode_id for place in words.evidence})


def _held(conn: Connection, tenant_id: str, memory_id: str) -> tuple[Memory, int]:
    """The memory as it is now that nobody else changes its space."""
    memory, _ = rows.load(conn, tenant_id, memory_id)
    spaces.lock(conn, tenant_id, [memory.space])
    return rows.load(conn, tenant_id, memory_id)


def _still_open(memory: Memory, what: str) -> None:
    if memory.status not in _OPEN:
        successor = f"; look at {memory.superseded_by}" if memory.superseded_by else ""
        raise NotAllowed(f"the memory is {memory.status}, which is history: it cannot be {what}{successor}")


def _heads_a_slot(memory: Memory) -> bool:
    return memory.kind in SLOTTED and slot_key(memory) is not None


def _close_head(conn: Connection, space_no: int, successor: Memory, actor: str, now: datetime) -> set[str]:
    """Supersede whatever heads the successor's slot; return its id."""
    key = slot_key(successor)
    head = next((known for known in rows.in_slot(conn, space_no, key) if known.head), None) if key else None
    if head is None or head.id == successor.id:
        return set()
    why = f"changed: {brief_words(head)} -> {brief_words(successor)}"
    _supersede(conn, head, successor.id, actor, why, max(head.valid_from, successor.valid_from), now)
    return {head.id}


def _supersede(conn: Connection, memory: Memory, by: str, actor: str, why: str, valid_to: datetime, now: datetime) -> None:
    changes.change(
        conn,
        memory,
        actor=actor,
        action=str(Status.SUPERSEDED),
        why=why,
        at=now,
        status=Status.SUPERSEDED,
        head=False,
        valid_to=valid_to,
        closed_at=now,
        close_reason=why[:500],
        superseded_by=by,
    )


def _mark(conn: Connection, space_no: int, ids: set[str], now: datetime) -> None:
    outbox.mark_dirty(conn, space_no, sorted(ids), spaces.bump(conn, space_no), now)
