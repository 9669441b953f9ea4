"""Erasing a user from the ledger: first the epoch, then the bulk in pages, in the end one transaction after which nothing is left.

The last transaction takes the locks that writers take (session, episode, reflection, space, recall), in their order. Whoever held one
is waited for and erased; whoever comes later finds no row, and either stops or begins the user anew. Index and embeddings are written
outside of such locks; they carry number and epoch of the space, and a number is never given twice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, Table, delete, exists, func, literal, or_, select, update

from hindwise.errors import LedgerUnavailable
from hindwise.ledger import erasures, spaces
from hindwise.ledger.databases import shared_now
from hindwise.ledger.erasures import Erasure
from hindwise.ledger.schema import credits as credit_rows
from hindwise.ledger.schema import (
    drafts,
    embeddings,
    episodes,
    evidence,
    idempotency_keys,
    memories,
    memory_events,
    memory_links,
    outbox,
    recalls,
    reflections,
    sessions,
    turns,
)
from hindwise.ledger.schema import spaces as space_rows
from hindwise.model.reflection import FINAL
from hindwise.model.space import user_space

_KEYS, _MEMORIES, _RECALLS = 20, 300, 1_000
"""Of one page: sessions and runs whose turns go, memories, logged recalls. As many need no page."""
_MANY_TURNS = 1_000
_CHUNK = 400
_GONE = "reflection:erased"


def begin(conn: Connection, erasure_id: str, now: datetime) -> Erasure:
    """Raise the epoch of the user's space, once: what began before it is known by the older one. Called again it changes nothing."""
    erasure = erasures.get(conn, erasure_id, lock=True)
    if erasure.wiped_at is not None:
        return erasure
    name = user_space(erasure.user_id)
    space = spaces.lock(conn, erasure.tenant_id, [name])[name]
    if (erasure.space_no, erasure.epoch) != (space.no, space.epoch):
        conn.execute(update(space_rows).where(space_rows.c.no == space.no).values(epoch=space.epoch + 1))
        erasures.change(conn, erasure_id, space_no=space.no, epoch=space.epoch + 1)
    erasures.change(conn, erasure_id, status="running", error="", started_at=erasure.started_at or now)
    return erasures.get(conn, erasure_id)


def open_sessions(conn: Connection, erasure: Erasure, after: str, limit: int) -> list[str]:
    """Handles of the user's sessions that may have a running workflow, in order, above `after`."""
    query = select(sessions.c.handle).where(_owned(sessions, erasure), sessions.c.state != "closed", sessions.c.handle > after)
    return list(conn.execute(query.order_by(sessions.c.handle).limit(limit)).scalars())


def open_reflections(conn: Connection, erasure: Erasure, after: str, limit: int) -> list[str]:
    """Ids of the user's reflections that are not final, in order, above `after`."""
    query = select(reflections.c.id).where(
        reflections.c.episode_id.in_(_episodes(erasure)),
        reflections.c.status.not_in([str(status) for status in FINAL]),
        reflections.c.id > after,
    )
    return list(conn.execute(query.order_by(reflections.c.id).limit(limit)).scalars())


def _owned(table: Table, erasure: Erasure) -> ColumnElement[bool]:
    return (table.c.tenant_id == erasure.tenant_id) & (table.c.user_id == erasure.user_id)


def _episodes(erasure: Erasure) -> Select[Any]:
    return select(episodes.c.id).where(_owned(episodes, erasure))


def _reflections(erasure: Erasure) -> Select[Any]:
    return select(reflections.c.id).where(reflections.c.episode_id.in_(_episodes(erasure)))


def _turns(erasure: Erasure) -> ColumnElement[bool]:
    keys = (
        select(sessions.c.session_id)
        .where(_owned(sessions, erasure))
        .union(select(episodes.c.session_key).where(_owned(episodes, erasure)))
    )
    return (turns.c.tenant_id == erasure.tenant_id) & turns.c.session_key.in_(keys)


def _memories(erasure: Erasure) -> Select[Any]:
    return select(memories.c.id).where(memories.c.space_no == erasure.space_no)


def bulk(conn: Connection, erasure: Erasure) -> set[str]:
    """Which tables hold so much of the user that it goes in pages first."""
    asked = {
        "turns": (select(turns.c.seq).where(_turns(erasure)), _MANY_TURNS),
        "memories": (_memories(erasure), _MEMORIES),
        "recalls": (select(recalls.c.id).where(_owned(recalls, erasure)), _RECALLS),
    }
    return {name for name, (query, most) in asked.items() if conn.execute(query.offset(most).limit(1)).first() is not None}


# ---- the bulk, in pages: each is a transaction of its own, so that nobody waits long -----------------------------------------


def turns_page(conn: Connection, erasure_id: str) -> bool:
    """Delete the turns of a few sessions and runs; True where more may be left."""
    erasure = erasures.get(conn, erasure_id, lock=True)
    keys = list(conn.execute(select(turns.c.session_key).where(_turns(erasure)).distinct().limit(_KEYS)).scalars())
    gone = delete(turns).where(turns.c.tenant_id == erasure.tenant_id, turns.c.session_key.in_(keys))
    erasures.add_counts(conn, erasure, "ledger", {"turns": conn.execute(gone).rowcount})
    return len(keys) == _KEYS


def memories_page(conn: Connection, erasure_id: str) -> bool:
    """Delete some memories with all that hangs on them; True where more may be left."""
    erasure = erasures.get(conn, erasure_id, lock=True)
    if erasure.space_no is not None:
        # As who settles a statement there: else one would repeat a memory that is gone when it says so.
        spaces.is_there(conn, erasure.space_no)
    ids = list(conn.execute(_memories(erasure).limit(_MEMORIES)).scalars())
    erasures.add_counts(conn, erasure, "ledger", _delete_memories(conn, memories.c.id.in_(ids), ids))
    return len(ids) == _MEMORIES


def _delete_memories(conn: Connection, which: ColumnElement[bool], ids: Select[Any] | Sequence[str]) -> dict[str, int]:
    gone = {
        "credits": conn.execute(delete(credit_rows).where(credit_rows.c.memory_id.in_(ids))).rowcount,
        "evidence": conn.execute(delete(evidence).where(evidence.c.memory_id.in_(ids))).rowcount,
        "memory_events": conn.execute(delete(memory_events).where(memory_events.c.memory_id.in_(ids))).rowcount,
        "memory_links": conn.execute(
            delete(memory_links).where(or_(memory_links.c.from_id.in_(ids), memory_links.c.to_id.in_(ids)))
        ).rowcount,
    }
    return {**gone, "memories": conn.execute(delete(memories).where(which)).rowcount}


def recalls_page(conn: Connection, erasure_id: str) -> bool:
    """Delete some logged recalls with what was said about them; True where more may be left."""
    erasure = erasures.get(conn, erasure_id, lock=True)
    ids = list(conn.execute(select(recalls.c.id).where(_owned(recalls, erasure)).limit(_RECALLS).with_for_update()).scalars())
    erasures.add_counts(conn, erasure, "ledger", _delete_recalls(conn, ids))
    return len(ids) == _RECALLS


def _delete_recalls(conn: Connection, ids: Sequence[str]) -> dict[str, int]:
    gone = {"credits": 0, "recalls": 0}
    for chunk in _chunks(ids):
        gone["credits"] += conn.execute(delete(credit_rows).where(credit_rows.c.source_id.in_(chunk))).rowcount
        gone["recalls"] += conn.execute(delete(recalls).where(recalls.c.id.in_(chunk))).rowcount
    return gone


def _chunks(ids: Sequence[str]) -> list[Sequence[str]]:
    return [ids[at : at + _CHUNK] for at in range(0, len(ids), _CHUNK)]


# ---- the end -----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Held:
    """What the last transaction locked."""

    episodes: list[str]
    recalls: list[str]


def wipe(conn: Connection, erasure_id: str, holder: str, now: datetime, searched: Mapping[str, int]) -> Erasure:
    """Delete all that is left, the space's row and the user's name in the receipt with it. Called again it changes nothing.

    searched: what was found again in each index, for the receipt. The caller holds the space's lease as `holder` and has dropped the
    space from every index. Raises LedgerUnavailable where the lease was lost, or where a row is found again: then nothing was changed,
    and the whole is tried anew.
    """
    erasure = erasures.get(conn, erasure_id, lock=True)
    if erasure.wiped_at is not None:
        return erasure
    held = _lock(conn, erasure, holder, now)
    shared = _shared(conn, erasure)
    gone = dict.fromkeys(("evidence", "credits"), 0)
    for chunk in _chunks(held.episodes):
        gone["evidence"] += conn.execute(delete(evidence).where(evidence.c.episode_id.in_(chunk))).rowcount
        gone["credits"] += conn.execute(delete(credit_rows).where(credit_rows.c.source_id.in_(chunk))).rowcount
    kept = _let_go(conn, erasure, shared)
    parts = (gone, _delete_recalls(conn, held.recalls), _delete_memories(conn, memories.c.space_no == erasure.space_no, _memories(erasure)))
    for part in parts:
        erasures.add_counts(conn, erasure, "ledger", part)
    erasures.add_counts(conn, erasure, "ledger", _delete_rest(conn, erasure))
    if left := {name: number for name, number in search(conn, erasure).items() if number}:
        raise LedgerUnavailable(f"rows are left in {', '.join(sorted(left))}: erased again", retry_after_s=1)
    erasures.set_counts(conn, erasure_id, shared_lessons_kept=kept, searched=dict(searched))
    erasures.change(conn, erasure_id, user_id="", wiped_at=now)
    return erasures.get(conn, erasure_id)


def _lock(conn: Connection, erasure: Erasure, holder: str, now: datetime) -> _Held:
    """Wait for every writer at work on the user, in the order in which writers lock: sessions, episodes, reflections, space, recalls."""
    conn.execute(select(sessions.c.session_id).where(_owned(sessions, erasure)).order_by(sessions.c.session_id).with_for_update()).all()
    mine = _episodes(erasure).order_by(episodes.c.id).with_for_update()
    conn.execute(mine).all()
    their = reflections.c.episode_id.in_(_episodes(erasure))
    conn.execute(select(reflections.c.id).where(their).order_by(reflections.c.id).with_for_update()).all()
    held = (space_rows.c.no == erasure.space_no) & (space_rows.c.leased_by == holder) & (space_rows.c.leased_until >= shared_now())
    if conn.execute(select(space_rows.c.no).where(held).with_for_update(), {"now": now}).first() is None:
        raise LedgerUnavailable("the lease of the erased space was lost: erased again", retry_after_s=1)
    # A run that came between the first look and the lock of the space: nothing more of it can be settled there.
    found = list(conn.execute(mine).scalars())
    conn.execute(select(reflections.c.id).where(their).order_by(reflections.c.id).with_for_update()).all()
    asked = select(recalls.c.id).where(_owned(recalls, erasure)).order_by(recalls.c.id).with_for_update()
    return _Held(found, list(conn.execute(asked).scalars()))


def _shared(conn: Connection, erasure: Erasure) -> list[str]:
    """Ids of memories in other spaces that the user's tasks taught or confirmed."""
    elsewhere = memories.c.space_no != erasure.space_no
    taught = select(memories.c.id).where(memories.c.reflection_id.in_(_reflections(erasure)), elsewhere)
    confirmed = (
        select(memories.c.id)
        .join(evidence, evidence.c.memory_id == memories.c.id)
        .where(evidence.c.episode_id.in_(_episodes(erasure)), elsewhere)
    )
    return sorted(conn.execute(taught.union(confirmed)).scalars())


def _let_go(conn: Connection, erasure: Erasure, shared: Sequence[str]) -> int:
    """Shared lessons stay, without a trace of the reflections that wrote them; return how many stand on no other user's task."""
    alone = 0
    actors = select(literal("reflection:").concat(reflections.c.id)).where(reflections.c.episode_id.in_(_episodes(erasure)))
    for chunk in _chunks(shared):
        events = update(memory_events).where(memory_events.c.memory_id.in_(chunk), memory_events.c.actor.in_(actors))
        conn.execute(events.values(actor=_GONE))
        taught = update(memories).where(memories.c.id.in_(chunk), memories.c.reflection_id.in_(_reflections(erasure)))
        conn.execute(taught.values(reflection_id=""))
        others = exists().where(evidence.c.memory_id == memories.c.id)
        alone += int(conn.execute(select(func.count()).where(memories.c.id.in_(chunk), ~others)).scalar_one())
    return alone


def _delete_rest(conn: Connection, erasure: Erasure) -> dict[str, int]:
    """In the order that foreign keys ask for."""
    here, mine = erasure.space_no, (idempotency_keys.c.tenant_id == erasure.tenant_id, idempotency_keys.c.owner == erasure.user_id)
    statements = {
        "embeddings": delete(embeddings).where(embeddings.c.space_no == here),
        "outbox": delete(outbox).where(outbox.c.space_no == here),
        "drafts": delete(drafts).where(drafts.c.reflection_id.in_(_reflections(erasure))),
        "reflections": delete(reflections).where(reflections.c.episode_id.in_(_episodes(erasure))),
        "turns": delete(turns).where(_turns(erasure)),
        "episodes": delete(episodes).where(_owned(episodes, erasure)),
        "sessions": delete(sessions).where(_owned(sessions, erasure)),
        "idempotency_keys": delete(idempotency_keys).where(*mine),
        "spaces": delete(space_rows).where(space_rows.c.no == here),
    }
    return {name: conn.execute(statement).rowcount for name, statement in statements.items()}


def search(conn: Connection, erasure: Erasure) -> dict[str, int]:
    """How many rows of the user each table holds; once wiped, the user's name is not known any more and the space's number is asked for."""
    asked = {
        "memories": select(func.count()).where(memories.c.space_no == erasure.space_no),
        "embeddings": select(func.count()).where(embeddings.c.space_no == erasure.space_no),
        "outbox": select(func.count()).where(outbox.c.space_no == erasure.space_no),
        "spaces": select(func.count()).where(space_rows.c.no == erasure.space_no),
    }
    if erasure.user_id:
        by_name = {"sessions": sessions, "episodes": episodes, "recalls": recalls}
        asked |= {name: select(func.count()).where(_owned(table, erasure)) for name, table in by_name.items()}
        asked["idempotency_keys"] = select(func.count()).where(
            idempotency_keys.c.tenant_id == erasure.tenant_id, idempotency_keys.c.owner == erasure.user_id
        )
    row = conn.execute(select(*(query.scalar_subquery().label(name) for name, query in asked.items()))).one()
    return {name: int(number) for name, number in row._mapping.items()}
