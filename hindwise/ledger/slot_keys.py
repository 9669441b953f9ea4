"""Keys of slots that an older lexicon made are made anew, under the lock of their space, before anything is looked up in it.

A key depends on the words that `hindwise.text.bilingual` knows. Each space notes with which of them its keys were made; whoever locks it to
write and knows others makes all of them anew in the same transaction. So any lexicon may follow, and processes of two versions at once
cost time, but part no slot.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from hindwise.ledger.schema import memories, spaces
from hindwise.model.memory import Kind, Words
from hindwise.resolve.slots import key_version, slot_key

_BATCH = 1_000
_KEPT = (
    select(
        memories.c.id,
        memories.c.kind,
        memories.c.subject,
        memories.c.attribute,
        memories.c.scope,
        memories.c.head,
        memories.c.slot_key,
        memories.c.said_at,
        memories.c.valid_from,
    )
    .where(memories.c.space_no == bindparam("space"), memories.c.slot_key.is_not(None), memories.c.id > bindparam("after"))
    .order_by(memories.c.id)
    .limit(_BATCH)
)
_SET = update(memories).where(memories.c.id == bindparam("memory")).values(slot_key=bindparam("key"))


def renew(conn: Connection, space_no: int) -> int:
    """Make the keys of a locked space with today's lexicon, and note so; return how many changed.

    Two heads that meet by it stay both: the one said last takes the key, the other stands beside it under a key of its own, and nobody's
    memory is closed by a lexicon. What parts stands where its own words belong.
    """
    told = _told(conn, space_no)
    heads = sorted((row for row, _ in told if row.head), key=lambda row: (row.said_at or row.valid_from, row.id), reverse=True)
    made = {row.id: key for row, key in told}
    taken: set[str] = set()
    for row in heads:
        if made[row.id] in taken:
            made[row.id] += f"\x1fbeside {row.id}"
        taken.add(made[row.id])
    changed = [row for row, _ in told if made[row.id] != row.slot_key]
    # Out of each other's way first: one may come where another one leaves.
    _set(conn, [(row.id, f"\x1f{row.id}") for row in changed if row.head])
    _set(conn, [(row.id, made[row.id]) for row in changed])
    conn.execute(update(spaces).where(spaces.c.no == space_no).values(slot_keys=key_version()))
    return len(changed)


def _told(conn: Connection, space_no: int) -> list[tuple[Any, str]]:
    """All rows in a slot, each with the key that its words have today."""
    found: list[tuple[Any, str]] = []
    after = ""
    while page := conn.execute(_KEPT, {"space": space_no, "after": after}).all():
        found += [(row, _key_of(row)) for row in page]
        after = page[-1].id
    return found


def _key_of(row: Any) -> str:
    words = Words.model_construct(kind=Kind(row.kind), subject=row.subject, attribute=row.attribute, scope=row.scope, conclusion="")
    return slot_key(words) or row.slot_key


def _set(conn: Connection, keys: Sequence[tuple[str, str]]) -> None:
    if keys:
        conn.execute(_SET, [{"memory": memory_id, "key": key} for memory_id, key in keys])
