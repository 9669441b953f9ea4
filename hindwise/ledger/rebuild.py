"""What building a new generation asks of the ledger: pages of spaces under lease, what belongs in an index, questions to try."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, select, update

from hindwise.ledger import generations, memories, outbox
from hindwise.ledger.generations import State
from hindwise.ledger.outbox import Lease
from hindwise.ledger.schema import memories as memory_rows
from hindwise.ledger.schema import outbox as outbox_rows
from hindwise.ledger.schema import recalls, spaces
from hindwise.model.memory import LIVE, Memory
from hindwise.model.space import spaces_of

_SPACES_AT_ONCE = 50
_LIVE = memory_rows.c.status.in_([str(status) for status in LIVE])


@dataclass(frozen=True, slots=True)
class Portion:
    """Some live memories of a leased space, in order of id."""

    lease: Lease
    memories: tuple[Memory, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """What is written next. `space_no`, `memory_id`: how far everything is done after it ("" = all of that space).

    `busy`: the next space is somebody else's at present. `end`: nothing comes after it.
    """

    portions: tuple[Portion, ...]
    space_no: int
    memory_id: str
    busy: bool
    end: bool


def take_page(conn: Connection, number: int, holder: str, now: datetime, seconds: float, most: int) -> Page | None:
    """Lease the next spaces of a build, and return at most `most` memories of theirs; None where it is no longer being built."""
    build = generations.build_of(conn, number)
    if build.generation.state != State.BUILDING:
        return None
    portions: list[Portion] = []
    space_no, memory_id, room = build.space_no, build.memory_id, most
    first = spaces.c.no >= space_no if memory_id else spaces.c.no > space_no
    numbers = list(conn.execute(select(spaces.c.no).where(first).order_by(spaces.c.no).limit(_SPACES_AT_ONCE)).scalars())
    for no in numbers:
        lease = outbox.lease_named(conn, holder, now, seconds, no)
        if lease is None:
            return Page(tuple(portions), space_no, memory_id, busy=True, end=False)
        found = _live_after(conn, no, memory_id if no == space_no else "", room)
        if found:
            portions.append(Portion(lease, found))
        else:
            outbox.release_space(conn, lease, holder)
        space_no, memory_id, room = no, found[-1].id if len(found) == room else "", room - len(found)
        if not room:
            return Page(tuple(portions), space_no, memory_id, busy=False, end=False)
    return Page(tuple(portions), space_no, memory_id, busy=False, end=len(numbers) < _SPACES_AT_ONCE)


def _live_after(conn: Connection, space_no: int, memory_id: str, limit: int) -> tuple[Memory, ...]:
    query = select(memory_rows).where(memory_rows.c.space_no == space_no, _LIVE, memory_rows.c.id > memory_id)
    return tuple(memories.from_row(row) for row in conn.execute(query.order_by(memory_rows.c.id).limit(limit)))


def erased_of(conn: Connection, leases: Sequence[Lease]) -> set[int]:
    """Numbers of those spaces that were erased since they were leased; the others stay locked until the transaction ends."""
    query = select(spaces.c.no, spaces.c.epoch).where(spaces.c.no.in_([lease.space_no for lease in leases])).order_by(spaces.c.no)
    now = {row.no: row.epoch for row in conn.execute(query.with_for_update())}
    return {lease.space_no for lease in leases if now.get(lease.space_no) != lease.epoch}


def keep_words(conn: Connection, documents: Mapping[str, tuple[str, str]]) -> None:
    """Store anew how memories are found: (lex, text hash) by id, where they differ from what an earlier tokeniser made of them."""
    query = select(memory_rows.c.id, memory_rows.c.lex, memory_rows.c.text_hash).where(memory_rows.c.id.in_(list(documents)))
    for row in conn.execute(query).all():
        if (row.lex, row.text_hash) != documents[row.id]:
            lex, text_hash = documents[row.id]
            conn.execute(update(memory_rows).where(memory_rows.c.id == row.id).values(lex=lex, text_hash=text_hash))


class Wanted(NamedTuple):
    """Ids of a space: which an index must hold, and of which it may hold anything, since the outbox names them."""

    live: set[str]
    waiting: set[str]


def wanted(conn: Connection, space_no: int) -> Wanted:
    """What the index of a space should hold now."""
    waiting = set(conn.execute(select(outbox_rows.c.memory_id).where(outbox_rows.c.space_no == space_no)).scalars())
    live = set(conn.execute(select(memory_rows.c.id).where(memory_rows.c.space_no == space_no, _LIVE)).scalars())
    return Wanted(live, waiting)


def settled(conn: Connection, space_no: int, ids: Sequence[str]) -> dict[str, str]:
    """Return the text hash by id of those memories that are live and that the outbox does not name: every index must know them."""
    if not ids:
        return {}
    waiting = select(outbox_rows.c.memory_id).where(outbox_rows.c.space_no == space_no)
    query = select(memory_rows.c.id, memory_rows.c.text_hash).where(
        memory_rows.c.id.in_(list(ids)), memory_rows.c.space_no == space_no, _LIVE
    )
    return {row.id: row.text_hash for row in conn.execute(query.where(memory_rows.c.id.not_in(waiting)))}


class Asked(NamedTuple):
    """A question to compare two indexes by. `space_no`: its number; `space`, `tenant_id`: its name."""

    tenant_id: str
    space: str
    space_no: int
    text: str


def questions(conn: Connection, each: int) -> list[Asked]:
    """Return at most `each` questions that were asked lately, and as many made of what memories themselves say.

    Ids are random, so the first ones in order are a sample.
    """
    query = select(memory_rows).where(_LIVE).order_by(memory_rows.c.id).limit(each)
    found = [
        Asked(memory.tenant_id, memory.space, row.space_no, memory.generalized_query or memory.conclusion)
        for row in conn.execute(query)
        for memory in [memories.from_row(row)]
    ]
    told = select(recalls.c.tenant_id, recalls.c.user_id, recalls.c.agent_id, recalls.c.query).order_by(recalls.c.at.desc()).limit(each)
    for row in conn.execute(told).all():
        names = spaces_of(row.user_id, row.agent_id)
        numbers = select(spaces.c.no, spaces.c.name).where(spaces.c.tenant_id == row.tenant_id, spaces.c.name.in_(names))
        found += [Asked(row.tenant_id, space.name, space.no, row.query) for space in conn.execute(numbers)]
    return list(dict.fromkeys(found))
