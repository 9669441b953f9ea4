"""What upkeep asks and changes: due rows in batches, each change with its event, spaces locked in order of number.

Every function takes a page of rows, judges each again under the lock, and returns how many it handled. All inside a transaction
of the caller's.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Integer,
    and_,
    bindparam,
    case,
    cast,
    func,
    literal,
    or_,
    select,
    type_coerce,
    update,
)

from hindwise.ledger import memories as rows
from hindwise.ledger import memory_changes as changes
from hindwise.ledger import outbox
from hindwise.ledger import spaces as space_rows
from hindwise.ledger.prepared import Prepared
from hindwise.ledger.schema import memories, spaces
from hindwise.ledger.schema import outbox as outbox_rows
from hindwise.lifecycle.aging import AgingRules, decay, is_archivable, is_expired
from hindwise.lifecycle.freshness import band_of
from hindwise.model.memory import LIVE, Kind, Memory, Status

ACTOR = "upkeep"
REVIEW_FACTOR = 0.9
"""What a review takes from the confidence of a memory that one task said once and nobody needed since."""

_LIVE = [str(status) for status in LIVE]
_BEHIND = Prepared(
    select(outbox_rows.c.memory_id).where(outbox_rows.c.space_no == bindparam("space"), outbox_rows.c.mark <= bindparam("up_to")).limit(1)
)
_DAY_US = 86_400_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def _due(conn: Connection, condition: ColumnElement[bool], order: ColumnElement[Any], page: int) -> list[tuple[Memory, int]]:
    """Return live memories that satisfy `condition`, with space numbers, their spaces locked in order of number.

    Read twice: what another transaction changed before the lock was had is not due any more.
    """
    live = and_(memories.c.status.in_(_LIVE), condition)
    found = list(conn.execute(select(memories.c.id, memories.c.space_no).where(live).order_by(order, memories.c.id).limit(page)))
    if not found:
        return []
    numbers = sorted({row.space_no for row in found})
    conn.execute(select(spaces.c.no).where(spaces.c.no.in_(numbers)).order_by(spaces.c.no).with_for_update()).all()
    again = select(memories).where(memories.c.id.in_([row.id for row in found]), live).order_by(memories.c.space_no, memories.c.id)
    return [(rows.from_row(row), row.space_no) for row in conn.execute(again)]


def _mark(conn: Connection, touched: Sequence[tuple[Memory, int]], now: datetime) -> None:
    by_space: dict[int, list[str]] = {}
    for memory, space_no in touched:
        by_space.setdefault(space_no, []).append(memory.id)
    for space_no, ids in sorted(by_space.items()):
        outbox.mark_dirty(conn, space_no, ids, space_rows.bump(conn, space_no), now)


def expire(conn: Connection, now: datetime, page: int) -> int:
    """Close what is past its time; pinned and confirmed memories stay. Its slot is free again."""
    condition = and_(memories.c.expires_at <= now, ~memories.c.pinned, memories.c.confirmed_by == "")
    due = [(memory, no) for memory, no in _due(conn, condition, memories.c.expires_at, page) if is_expired(memory, now)]
    for memory, _ in due:
        changes.change(
            conn,
            memory,
            actor=ACTOR,
            action="expired",
            why="its time is over and nothing confirmed it",
            at=now,
            status=Status.EXPIRED,
            head=False,
            closed_at=now,
            close_reason="expired",
        )
    _mark(conn, due, now)
    return len(due)


def archive(conn: Connection, rules: AgingRules, now: datetime, page: int) -> int:
    """Take out of the index what no finished task was told for long; it stays in the ledger and can be restored."""
    before = now - timedelta(days=rules.archive_after)
    unused = or_(memories.c.last_recalled_at.is_(None), memories.c.last_recalled_at <= before)
    condition = and_(memories.c.recorded_at <= before, unused, ~memories.c.pinned)
    due = [(memory, no) for memory, no in _due(conn, condition, memories.c.recorded_at, page) if is_archivable(memory, rules, now)]
    for memory, _ in due:
        changes.change(
            conn,
            memory,
            actor=ACTOR,
            action="archived",
            why=f"not told for {rules.archive_after} days",
            at=now,
            status=Status.ARCHIVED,
            head=False,
        )
    _mark(conn, due, now)
    return len(due)


def reverify(conn: Connection, rules: AgingRules, now: datetime, page: int) -> int:
    """Look again at what is due for review: what one task said once and nobody needed since loses a tenth of its confidence."""
    due = _due(conn, memories.c.review_at <= now, memories.c.review_at, page)
    for memory, _ in due:
        changes.change(conn, memory, actor=ACTOR, at=now, **_reviewed(memory, rules, now))
    return len(due)


def _reviewed(memory: Memory, rules: AgingRules, now: datetime) -> dict[str, Any]:
    if memory.pinned or memory.confirmed_by:
        return {"action": "reviewed", "why": "a person confirmed it: no review any more", "review_at": None}
    later = now + timedelta(days=rules.review_after)
    if memory.evidence_count > 1 or memory.helpful:
        why = f"stands: {memory.evidence_count} tasks say so, helped {memory.helpful} times"
        return {"action": "reviewed", "why": why, "review_at": later}
    return {
        "action": "doubted",
        "why": "one task said it once and none needed it since",
        "review_at": later,
        "confidence": memory.confidence * REVIEW_FACTOR,
    }


def refresh(conn: Connection, rules: AgingRules, now: datetime, page: int) -> int:
    """Store the coarse freshness of memories whose band changed. No event: it can be computed at any time."""
    query = select(memories).where(memories.c.status.in_(_LIVE), _stored_band_differs(rules, now)).order_by(memories.c.id).limit(page)
    changed = 0
    for row in conn.execute(query).all():
        memory = rows.from_row(row)
        band = band_of(decay(memory, rules, now))
        if band != memory.freshness:
            conn.execute(update(memories).where(memories.c.id == memory.id).values(freshness=band))
            changed += 1
    return changed


def _stored_band_differs(rules: AgingRules, now: datetime) -> ColumnElement[bool]:
    """Near enough to `lifecycle.aging.decay` to find the rows; the function itself decides.

    Ages in half-lives: 0.415 is log2(1/0.75), 3.32 is log2(1/0.1).
    """
    recorded, told = type_coerce(memories.c.recorded_at, BigInteger), type_coerce(memories.c.last_recalled_at, BigInteger)
    used = and_(memories.c.helpful > 0, memories.c.last_recalled_at.is_not(None), told > recorded)
    age_us = literal((now - _EPOCH) // _MICROSECOND, BigInteger) - case((used, told), else_=recorded)
    doubled = literal(1).op("<<")(case((memories.c.helpful > 8, 8), else_=cast(memories.c.helpful, Integer)))
    lesson = memories.c.kind == str(Kind.LESSON)
    half_life_us = case((lesson, rules.half_life_lesson * _DAY_US * doubled), else_=rules.half_life_episodic * _DAY_US)
    lives = age_us / half_life_us
    band = case((lives < 0.41504, 1.0), (lives < 1.0, 0.75), (lives < 2.0, 0.5), (lives < 3.32193, 0.25), else_=0.1)
    fades = and_(memories.c.kind.in_([str(Kind.LESSON), str(Kind.EVENT), str(Kind.SNIPPET)]), ~memories.c.pinned)
    return and_(fades, func.abs(band - memories.c.freshness) > 0.01)


def spaces_after(conn: Connection, cursor: int, page: int) -> list[tuple[int, str, str]]:
    """Return (number, tenant, name) of spaces with a number above `cursor`, in order."""
    query = select(spaces.c.no, spaces.c.tenant_id, spaces.c.name).where(spaces.c.no > cursor).order_by(spaces.c.no).limit(page)
    return [(row.no, row.tenant_id, row.name) for row in conn.execute(query)]


def live_ids(conn: Connection, space_no: int) -> set[str]:
    """Ids of the live memories of a space that the outbox does not name: those the index must hold."""
    waiting = select(outbox_rows.c.memory_id).where(outbox_rows.c.space_no == space_no)
    query = select(memories.c.id).where(memories.c.space_no == space_no, memories.c.status.in_(_LIVE), memories.c.id.not_in(waiting))
    return set(conn.execute(query).scalars())


def mark_differences(conn: Connection, space_no: int, indexed: set[str], now: datetime) -> int:
    """Mark dirty what the index of a space lacks or holds too much of; return how many.

    indexed: the ids it held a moment ago. What the outbox names already is being taken care of.
    """
    if not space_rows.is_there(conn, space_no):
        return 0  # erased since its index was read
    waiting = set(conn.execute(select(outbox_rows.c.memory_id).where(outbox_rows.c.space_no == space_no)).scalars())
    wrong = sorted((live_ids(conn, space_no) ^ indexed) - waiting)
    if wrong:
        outbox.mark_dirty(conn, space_no, wrong, space_rows.bump(conn, space_no), now)
    return len(wrong)


def ledger_numbers(conn: Connection, tenant_id: str, names: Sequence[str]) -> dict[int, int]:
    """Return space number -> present ledger number of the spaces that exist."""
    return {row.no: row.ledger_no for row in space_rows.find(conn, tenant_id, names).values()}


def behind(conn: Connection, numbers: dict[int, int]) -> list[int]:
    """Return those space numbers whose index lacks a change up to the given ledger number."""
    return [no for no, ledger_no in sorted(numbers.items()) if _BEHIND.rows(conn, {"space": no, "up_to": ledger_no})]
