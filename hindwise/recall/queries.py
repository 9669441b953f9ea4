"""The SQL of a recall after the index was asked: all that is judged and told, and the ledger alone where the index does not answer."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    BindParameter,
    Column,
    Connection,
    Text,
    bindparam,
    case,
    cast,
    select,
    text,
    type_coerce,
    union_all,
)

from hindwise.embed.base import Vector
from hindwise.ledger.databases import read_in_order
from hindwise.ledger.embeddings import read_vectors
from hindwise.ledger.memory_tables import ONLY_LIVE
from hindwise.ledger.prepared import Prepared
from hindwise.ledger.schema import embeddings, episodes, evidence, memories
from hindwise.ledger.times import Utc
from hindwise.model.memory import LIVE, Status
from hindwise.recall.rows import Raw
from hindwise.recall.standing import CURRENT, most_important_first, standing_ids

MAX_EVIDENCE = 20
"""Of each memory."""
_TRIES = 4
"""How often what stands is read where it changes in between."""


class Quoted(NamedTuple):
    """One place where a memory stands; turn, quote and session only of the reader's own episodes."""

    memory_id: str
    episode_id: str
    turn_id: str
    quote: str
    session_id: str


_COUNT: BindParameter[int] = bindparam("count")
_IDS: BindParameter[str] = bindparam("ids", expanding=True)
_SPACES: BindParameter[int] = bindparam("spaces", expanding=True)


def _unconverted(column: Column[Any]) -> Any:
    if isinstance(column.type, Utc):
        return type_coerce(column, BigInteger)
    return cast(column, Text) if column.name == "words" else column


_RAW = [_unconverted(memories.c[name]) for name in Raw._fields]
# By id alone: with more conditions SQLite may prefer the index over status, and walk through the whole space.
_BY_IDS = Prepared(select(*_RAW).where(memories.c.id.in_(_IDS)))
_VECTOR = (
    select(embeddings.c.vector)
    .where(
        embeddings.c.space_no == memories.c.space_no,
        embeddings.c.model == bindparam("model"),
        embeddings.c.text_hash == memories.c.text_hash,
    )
    .scalar_subquery()
)
_IF_WANTED = case((memories.c.id.in_(bindparam("vectors", expanding=True)), _VECTOR))
_BY_IDS_WITH_VECTORS = Prepared(select(*_RAW, _IF_WANTED).where(memories.c.id.in_(_IDS)))
_NEWEST_FIRST = (memories.c.recorded_at.desc(), memories.c.id)


@cache
def _newest(spaces_asked: int) -> Prepared:
    """The statement for so many spaces, named `space_0` and on.

    Each is asked by itself, which walks `ix_memories_newest` back from its end: asked for together, all of each would be read and put
    in order, with their words.
    """
    one = select(*_RAW).where(text(ONLY_LIVE), CURRENT).order_by(*_NEWEST_FIRST).limit(_COUNT)
    each = [one.where(memories.c.space_no == bindparam(f"space_{place}")).subquery() for place in range(spaces_asked)]
    found = union_all(*map(select, each)).subquery()
    return Prepared(select(found).order_by(found.c.recorded_at.desc(), found.c.id).limit(_COUNT))


_EARLIER = Prepared(
    select(memories.c.superseded_by, memories.c.value, memories.c.conclusion)
    .where(
        memories.c.space_no.in_(_SPACES),
        memories.c.slot_key.in_(bindparam("slots", expanding=True)),
        memories.c.superseded_by.in_(_IDS),
        memories.c.status.concat("") == str(Status.SUPERSEDED),
    )
    .order_by(memories.c.version),
    few=["spaces"],
)
_EVIDENCE = Prepared(
    select(
        evidence.c.memory_id,
        evidence.c.episode_id,
        evidence.c.turn_id,
        evidence.c.quote,
        episodes.c.user_id,
        episodes.c.tenant_id,
        episodes.c.session_id,
    )
    .join(episodes, episodes.c.id == evidence.c.episode_id, isouter=True)
    # Bounded by number, not by a window: numbers of withdrawn places are not given again, and a recall must stay cheap.
    .where(evidence.c.memory_id.in_(_IDS), evidence.c.withdrawn_at.is_(None), evidence.c.ordinal < 5 * MAX_EVIDENCE)
    .order_by(evidence.c.memory_id, evidence.c.ordinal)
)


class Vectors(NamedTuple):
    """Of which of the asked memories the vectors are wanted, and of which model."""

    of: Sequence[str] = ()
    model: str = ""


_NO_VECTORS = Vectors()


class Read(NamedTuple):
    """What was asked for, what stands, and vectors (float32 [dim]) by memory id, where the ledger has them."""

    rows: list[Raw]
    standing: list[Raw]
    vectors: Mapping[str, Vector]


def live_rows(
    conn: Connection, space_nos: Sequence[int], ids: Sequence[str], vectors: Vectors = _NO_VECTORS
) -> tuple[list[Raw], dict[str, Vector]]:
    """Return what may be told of the named memories: live ones of these spaces, of a slot only its head. And the wanted vectors."""
    if not ids or not space_nos:
        return [], {}
    if not vectors.of:
        return _tellable(_raw(_BY_IDS.rows(conn, {"ids": list(ids)})), space_nos), {}
    found = _BY_IDS_WITH_VECTORS.rows(conn, {"ids": list(ids), "vectors": list(vectors.of), "model": vectors.model})
    rows = _tellable(_raw(row[:-1] for row in found), space_nos)
    return rows, _vectors_of(rows, found)


def _tellable(rows: Iterable[Raw], space_nos: Sequence[int]) -> list[Raw]:
    return [row for row in rows if row.space_no in space_nos and row.status in LIVE and (row.head or row.slot_key is None)]


def _raw(rows: Iterable[tuple[Any, ...]]) -> list[Raw]:
    new = tuple.__new__  # as `Raw._make` has it, without the call
    return [new(Raw, row) for row in rows]


def rows_and_standing(
    conn: Connection, space_nos: Sequence[int], ids: Sequence[str], standing: Sequence[str], vectors: Vectors = _NO_VECTORS
) -> Read:
    """Return `live_rows` of `ids`, and of `standing` what stands, the most important first, as of one moment.

    One brief must not tell an old value and the new one. standing: as `standing_ids` told it a moment ago; of what stands no longer
    another may have taken the place, so that all is asked again, a few times at most.
    """
    for _ in range(_TRIES):
        read = _read(conn, space_nos, ids, standing, vectors)
        if len(read.standing) == len(set(standing)):
            break
        standing = standing_ids(conn, space_nos)
    return read


def _read(conn: Connection, space_nos: Sequence[int], ids: Sequence[str], standing: Sequence[str], vectors: Vectors) -> Read:
    rows, known = live_rows(conn, space_nos, list({**dict.fromkeys(ids), **dict.fromkeys(standing)}), vectors)
    if not standing:
        return Read(rows, [], known)
    wanted, held = set(ids), set(standing)
    return Read([row for row in rows if row.id in wanted], most_important_first(row for row in rows if row.id in held), known)


def _vectors_of(rows: Sequence[Raw], found: Iterable[tuple[Any, ...]]) -> dict[str, Vector]:
    told = {row.id for row in rows}
    stored = {one[0]: one[-1] for one in found if one[-1] is not None and one[0] in told}
    return dict(zip(stored, read_vectors(list(stored.values())), strict=True))


def newest_rows(conn: Connection, space_nos: Sequence[int], limit: int) -> list[Raw]:
    """Return what may be told, newest first: what a recall works on where the index does not answer."""
    if not space_nos:
        return []
    numbers = {f"space_{place}": number for place, number in enumerate(space_nos)}
    with read_in_order(conn):
        return _raw(_newest(len(space_nos)).rows(conn, {**numbers, "count": limit}))


def earlier_values(conn: Connection, space_nos: Sequence[int], heads: Mapping[str, str]) -> dict[str, str]:
    """Return what each head replaced: its value, or its conclusion where it has none. heads: slot key by memory id."""
    if not heads:
        return {}
    found = _EARLIER.rows(conn, {"spaces": list(space_nos), "slots": sorted(set(heads.values())), "ids": list(heads)})
    return {head: value or conclusion for head, value, conclusion in found}


Evidence = Mapping[str, Sequence[Quoted]]


@contextmanager
def evidence_sent(conn: Connection, tenant_id: str, memory_ids: Sequence[str], reader_user: str) -> Iterator[Callable[[], Evidence]]:
    """Ask for standing evidence, and give what takes it: by memory id, at most 20 places each, as this reader may see it.

    Of other users' episodes only the id: a shared lesson's evidence stays readable only with the space of the user it came from. Nothing
    else may be asked of the connection before it is taken.
    """
    if not memory_ids:
        yield dict
        return
    with _EVIDENCE.sent(conn, {"ids": list(memory_ids)}) as rows:
        yield lambda: _evidence_of(rows(), tenant_id, reader_user)


def _evidence_of(rows: Iterable[tuple[Any, ...]], tenant_id: str, reader_user: str) -> Evidence:
    found: dict[str, list[Quoted]] = {}
    for memory_id, episode_id, turn_id, quote, user, tenant, session in rows:
        places = found.setdefault(memory_id, [])
        if len(places) < MAX_EVIDENCE:
            own = user == reader_user != ""  # what named no user is nobody's own
            known = session if own and tenant == tenant_id else ""
            places.append(Quoted(memory_id, episode_id, turn_id, quote, known) if own else Quoted(memory_id, episode_id, "", "", ""))
    return found
