"""The recall log: which memories were told, to whom, for which session or run, and what came of it."""

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, bindparam, delete, or_, select, update

from hindwise.errors import NotFound
from hindwise.ledger.databases import insert_new
from hindwise.ledger.direct import Direct
from hindwise.ledger.schema import credits as credit_rows
from hindwise.ledger.schema import memories, recalls


def log(conn: Connection, rows: Sequence[dict[str, Any]]) -> None:
    """Keep recall rows; known ids are passed over."""
    if rows:
        insert_new(conn, recalls, rows)


def row_of(conn: Connection, tenant_id: str, recall_id: str, *, lock: bool = False) -> Row[Any]:
    """Return a logged recall; lock: for whoever writes what came of it, so that an erasure takes that along. Raises NotFound."""
    query = select(recalls).where(recalls.c.tenant_id == tenant_id, recalls.c.id == recall_id)
    row = conn.execute(query.with_for_update() if lock else query).first()
    if row is None:
        raise NotFound(f"no recall {recall_id!r}: ids are logged within a second of the answer")
    return row


def purge(conn: Connection, before: datetime, limit: int) -> int:
    """Delete the oldest recalls logged before `before`; return how many. What came of them stays counted on the memories.

    What was said about them goes too: nobody could tell any more whose words they are.
    """
    oldest = list(conn.execute(select(recalls.c.id).where(recalls.c.at < before).order_by(recalls.c.at).limit(limit)).scalars())
    if not oldest:
        return 0
    said = update(credit_rows).where(credit_rows.c.source_id.in_(oldest), credit_rows.c.note != "")
    conn.execute(said.values(note=""))
    return int(conn.execute(delete(recalls).where(recalls.c.id.in_(oldest))).rowcount)


def told_to_task(
    conn: Connection,
    tenant_id: str,
    *,
    session_id: str,
    run_id: str,
    recall_ids: Sequence[str],
    user_id: str,
    after: datetime | None = None,
    until: datetime | None = None,
) -> set[str]:
    """Return the ids of memories that the brief of one task held: joined by session, run or named recall, same user.

    after, until: when the session's task before this one ended, and when this one did; a session has many tasks, and each
    brief belongs to the first that ended after it. Named recalls and runs need no such bound.
    """
    asked = {"ids": list(recall_ids), "session": session_id, "run": run_id, "after": after, "until": until}
    given = {name: value for name, value in asked.items() if value}
    if not given.keys() & {"ids", "session", "run"}:
        return set()
    rows = _told(frozenset(given)).rows(conn, {"tenant": tenant_id, "user": user_id, **given})
    return {memory_id for row in rows for memory_id in row.memory_ids}


@cache
def _told(by: frozenset[str]) -> Direct:
    """What tells the briefs of a task, by what is known of it. Built once for each: building takes longer than asking."""
    joins: list[ColumnElement[bool]] = []
    if "ids" in by:
        joins.append(recalls.c.id.in_(bindparam("ids", expanding=True)))
    if "session" in by:
        within = [recalls.c.session_id == bindparam("session")]
        within += [recalls.c.at > bindparam("after")] if "after" in by else []
        within += [recalls.c.at <= bindparam("until")] if "until" in by else []
        joins.append(and_(*within))
    if "run" in by:
        joins.append(recalls.c.run_id == bindparam("run"))
    own = (recalls.c.tenant_id == bindparam("tenant"), recalls.c.user_id == bindparam("user"))
    return Direct(select(recalls.c.memory_ids).where(*own, or_(*joins)).limit(500))


def credit_use(conn: Connection, tenant_id: str, episode_id: str, memory_ids: Sequence[str], verdict: str, now: datetime) -> int:
    """Count one finished task for each memory its brief held, once per task; return how many were counted."""
    counted = 0
    for memory_id in sorted(memory_ids):
        row = {"memory_id": memory_id, "source_id": episode_id, "kind": "use", "verdict": verdict, "note": "", "at": now}
        if insert_new(conn, credit_rows, [row]).rowcount:
            conn.execute(
                update(memories)
                .where(memories.c.id == memory_id, memories.c.tenant_id == tenant_id)
                .values(hits=memories.c.hits + 1, last_recalled_at=now)
            )
            counted += 1
    return counted


def feedback(conn: Connection, tenant_id: str, recall_id: str, memory_ids: Sequence[str], verdict: str, note: str, now: datetime) -> int:
    """Count a verdict (helpful, harmful, neutral) on told memories at once; a changed verdict replaces the first. Return how many."""
    for memory_id in sorted(set(memory_ids)):
        row = {"memory_id": memory_id, "source_id": recall_id, "kind": "feedback", "verdict": verdict, "note": note, "at": now}
        found = None
        # The first of two that come at once writes the row, the other waits here and then changes it.
        if not insert_new(conn, credit_rows, [row]).rowcount:
            this = (credit_rows.c.memory_id == memory_id, credit_rows.c.source_id == recall_id, credit_rows.c.kind == "feedback")
            found = conn.execute(select(credit_rows.c.verdict).where(*this).with_for_update()).scalar_one_or_none()
            if found == verdict:
                continue
            conn.execute(update(credit_rows).where(*this).values(verdict=verdict, note=note, at=now))
        change = {"helpful": 0, "harmful": 0}
        if found in change:
            change[found] -= 1
        if verdict in change:
            change[verdict] += 1
        conn.execute(
            update(memories)
            .where(memories.c.id == memory_id, memories.c.tenant_id == tenant_id)
            .values(helpful=memories.c.helpful + change["helpful"], harmful=memories.c.harmful + change["harmful"])
        )
    return len(set(memory_ids))
