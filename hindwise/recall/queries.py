"""The SQL of a recall, in two hops: what the index may not know yet, before it is asked; all that is told, after it was asked.

In this order, so that nothing slips through: what is not in the outbox at the first hop is in the index at its answer.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    BindParameter,
    Column,
    Connection,
    Text,
    bindparam,
    cast,
    literal_column,
    or_,
    select,
    text,
    type_coerce,
    union_all,
)

from hindwise.ledger.prepared import Prepared, is_sqlite
from hindwise.ledger.schema import ONLY_LIVE, episodes, evidence, memories, outbox, spaces
from hindwise.ledger.times import Utc
from hindwise.model.assembled import assembled
from hindwise.model.memory import LIVE, Kind, LessonType, Memory, Retrospective, Status
from hindwise.model.turn import Origin
from hindwise.recall.outline import Outline

MAX_UNAPPLIED = 200
MAX_STANDING = 50
MAX_EVIDENCE = 20
"""Of each memory."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Survey:
    """Numbers of the spaces that exist, by name, and the newest memories of theirs that the index may not know yet."""

    numbers: Mapping[str, int]
    unapplied: tuple[str, ...]

    @property
    def behind(self) -> bool:
        """Whether the index lacks more than a recall reads past it, as while a lost one is filled again: then the ledger answers alone."""
        return len(self.unapplied) >= MAX_UNAPPLIED


class Raw(NamedTuple):
    """A row of `memories` as the driver gives it: times in microseconds, words as JSON. Most are judged by a few columns and not told."""

    id: str
    space_no: int
    space: str
    kind: str
    status: str
    head: bool
    slot_key: str | None
    scope: str
    conclusion: str
    words: str
    lex: str
    text_hash: str
    importance: int
    valid_from: int
    recorded_at: int
    version: int
    evidence_count: int
    hits: int
    last_recalled_at: int | None
    helpful: int
    expires_at: int | None
    pinned: bool
    disputed: bool
    confirmed_by: str

    @property
    def language(self) -> str:
        """en or zh. Quotes within a JSON text are escaped, so that what is looked for can only be the key and its value."""
        if '"language": "en"' in self.words:
            return "en"
        return "zh" if '"language": "zh"' in self.words else str(json.loads(self.words)["language"])

    @property
    def origin(self) -> Origin:
        """Where it was born."""
        if '"origin": "user"' in self.words:
            return Origin.USER
        return _ORIGINS[json.loads(self.words)["origin"]]

    @property
    def task(self) -> str:
        """The generalised task that a lesson was learned in; mostly "" for others."""
        return "" if '"generalized_query": ""' in self.words else str(json.loads(self.words)["generalized_query"])

    @property
    def topics(self) -> list[str]:
        """What it is about."""
        found: list[str] = json.loads(self.words)["topics"]
        return found


class Quoted(NamedTuple):
    """One place where a memory stands; turn, quote and session only of the reader's own episodes."""

    memory_id: str
    episode_id: str
    turn_id: str
    quote: str
    session_id: str


# Written out, so that the planner sees them.
_LIVE: list[Any] = [literal_column(f"'{status}'") for status in sorted(LIVE)]
_COUNT: BindParameter[int] = bindparam("count")
_IDS: BindParameter[str] = bindparam("ids", expanding=True)
_SPACES: BindParameter[int] = bindparam("spaces", expanding=True)
_FEW = ["spaces"]
_OWNED = (spaces.c.tenant_id == bindparam("tenant")) & spaces.c.name.in_(bindparam("names", expanding=True))
_NEWEST_MARKS = (
    select(outbox.c.space_no, outbox.c.memory_id)
    .join(spaces, spaces.c.no == outbox.c.space_no)
    .where(_OWNED)
    .order_by(outbox.c.at.desc(), outbox.c.memory_id)
    .limit(MAX_UNAPPLIED)
    .subquery()
)
_SURVEY = Prepared(
    select(spaces.c.name, spaces.c.no, _NEWEST_MARKS.c.memory_id)
    .join(_NEWEST_MARKS, _NEWEST_MARKS.c.space_no == spaces.c.no, isouter=True)
    .where(_OWNED),
    few=["names"],
)


def _unconverted(column: Column[Any]) -> Any:
    if isinstance(column.type, Utc):
        return type_coerce(column, BigInteger)
    return cast(column, Text) if column.name == "words" else column


_RAW = [_unconverted(memories.c[name]) for name in Raw._fields]
_IN_SPACES = memories.c.space_no.in_(_SPACES)
_CURRENT = or_(memories.c.head, memories.c.slot_key.is_(None))
_TELLABLE = (_IN_SPACES, memories.c.status.in_(_LIVE), _CURRENT)
# By id alone: with more conditions SQLite may prefer the index over status, and walk through the whole space.
_BY_IDS = Prepared(select(*_RAW).where(memories.c.id.in_(_IDS)))
_WHAT_STANDS = (
    select(*_RAW)
    .where(
        memories.c.id.in_(
            # Three questions that have an index each: a single one with OR would read every row of the space.
            union_all(
                select(memories.c.id).where(memories.c.kind == literal_column("'instruction'"), *_TELLABLE),
                select(memories.c.id).where(memories.c.kind == literal_column("'preference'"), memories.c.scope == "", *_TELLABLE),
                # The status as an expression: else SQLite takes the index over it, which holds the whole space, not the one of the pinned.
                select(memories.c.id).where(memories.c.pinned, _IN_SPACES, _CURRENT, memories.c.status.concat("").in_(_LIVE)),
            )
        )
    )
    .order_by(memories.c.importance.desc(), memories.c.recorded_at.desc(), memories.c.id)
    .limit(MAX_STANDING)
)
_STANDING, _STANDING_IDS = Prepared(_WHAT_STANDS, few=_FEW), Prepared(_WHAT_STANDS.with_only_columns(memories.c.id), few=_FEW)
_ROWS_AND_STANDING = Prepared(
    union_all(
        select(*_RAW, literal_column("0").label("stands")).where(memories.c.id.in_(_IDS)),
        select(_WHAT_STANDS.add_columns(literal_column("1").label("stands")).subquery()),
    ),
    few=_FEW,
)
_NEWEST_FIRST = (memories.c.recorded_at.desc(), memories.c.id)


@cache
def _newest(spaces_asked: int) -> Prepared:
    """The statement for so many spaces, named `space_0` and on.

    Each is asked by itself, which walks `ix_memories_newest` back from its end: asked for together, all of each would be read and put
    in order, with their words.
    """
    one = select(*_RAW).where(text(ONLY_LIVE), _CURRENT).order_by(*_NEWEST_FIRST).limit(_COUNT)
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
    few=_FEW,
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


def survey(conn: Connection, tenant_id: str, names: Sequence[str]) -> Survey:
    """Look up the spaces and their outbox, in one statement."""
    rows = _SURVEY.rows(conn, {"tenant": tenant_id, "names": list(names)})
    return Survey({name: no for name, no, _ in rows}, tuple(memory_id for _, _, memory_id in rows if memory_id is not None))


def live_rows(conn: Connection, space_nos: Sequence[int], ids: Sequence[str]) -> list[Raw]:
    """Return what may be told of the named memories: live ones of these spaces, of a slot only its head."""
    if not ids or not space_nos:
        return []
    return _tellable(_raw(_BY_IDS.rows(conn, {"ids": list(ids)})), space_nos)


def _tellable(rows: Iterable[Raw], space_nos: Sequence[int]) -> list[Raw]:
    return [row for row in rows if row.space_no in space_nos and row.status in LIVE and (row.head or row.slot_key is None)]


def _raw(rows: Iterable[tuple[Any, ...]]) -> list[Raw]:
    new = tuple.__new__  # as `Raw._make` has it, without the call
    return [new(Raw, row) for row in rows]


def standing_rows(conn: Connection, space_nos: Sequence[int]) -> list[Raw]:
    """Return standing items: instructions, pinned ones, preferences without a narrower scope; the most important first."""
    return _raw(_STANDING.rows(conn, {"spaces": list(space_nos)})) if space_nos else []


def standing_ids(conn: Connection, space_nos: Sequence[int]) -> list[str]:
    """Return their ids, in the same order; for who reads the rows later, together with others."""
    return [memory_id for (memory_id,) in _STANDING_IDS.rows(conn, {"spaces": list(space_nos)})] if space_nos else []


def rows_and_standing(
    conn: Connection, space_nos: Sequence[int], ids: Sequence[str], stands: Sequence[str] | None = None
) -> tuple[list[Raw], list[Raw]]:
    """Return `live_rows` and `standing_rows` as of one moment: one brief must not tell an old value and the new one.

    stands: what `standing_ids` said a moment ago, for less; of these, what still may be told.
    """
    if stands is not None:
        there = live_rows(conn, space_nos, list(dict.fromkeys((*ids, *stands))))
        by_id, wanted = {row.id: row for row in there}, frozenset(ids)
        return [row for row in there if row.id in wanted], [by_id[memory_id] for memory_id in stands if memory_id in by_id]
    if is_sqlite(conn) or not ids or not space_nos:
        return live_rows(conn, space_nos, ids), standing_rows(conn, space_nos)
    # Each statement sees what is committed when it begins. And one answer takes one way there and back.
    rows = _ROWS_AND_STANDING.rows(conn, {"ids": list(ids), "spaces": list(space_nos)})
    stand = _raw(row[:-1] for row in rows if row[-1])
    stand.sort(key=lambda row: (-row.importance, -row.recorded_at, row.id))
    return _tellable(_raw(row[:-1] for row in rows if not row[-1]), space_nos), stand


def newest_rows(conn: Connection, space_nos: Sequence[int], limit: int) -> list[Raw]:
    """Return what may be told, newest first: what a recall works on where the index does not answer."""
    if not space_nos:
        return []
    numbers = {f"space_{place}": number for place, number in enumerate(space_nos)}
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


_BLANK = dict(Memory(id="", tenant_id="", space="", kind=Kind.FACT, conclusion="-", valid_from=_EPOCH, recorded_at=_EPOCH))
_NO_RETROSPECTIVE = dict(Retrospective())
# Asking an enumeration by value takes as long as all else of a row together.
_KINDS = {str(kind): kind for kind in Kind}
_STATUSES = {str(status): status for status in Status}
_ORIGINS = {str(origin): origin for origin in Origin}
_SAME = [name for name in Raw._fields if name in Memory.model_fields]
_SAME_PLACES = itemgetter(*(Raw._fields.index(name) for name in _SAME))


def outline_of(row: Raw) -> Outline:
    """Return what the memory is weighed by."""
    used, ends = row.last_recalled_at, row.expires_at
    return Outline(
        row.id,
        _KINDS[row.kind],
        _STATUSES[row.status],
        row.origin,
        row.importance,
        _moment(row.recorded_at),
        None if used is None else _moment(used),
        None if ends is None else _moment(ends),
        row.hits,
        row.helpful,
        bool(row.pinned),
        row.confirmed_by,
    )


def memory_of(row: Raw) -> Memory:
    """Build the model without validating again what was validated when it was written.

    What a `Raw` leaves out keeps its default, so that this memory is for telling only, never for writing back.
    """
    words = json.loads(row.words)
    values: dict[str, Any] = _BLANK | words
    values.update(zip(_SAME, _SAME_PLACES(row), strict=True))
    values["kind"], values["status"], values["origin"] = _KINDS[row.kind], _STATUSES[row.status], _ORIGINS[words["origin"]]
    if words["lesson_type"]:
        values["lesson_type"] = LessonType(words["lesson_type"])
    values["topics"], values["entities"], values["tools"] = tuple(words["topics"]), tuple(words["entities"]), tuple(words["tools"])
    values["head"], values["pinned"], values["disputed"] = bool(row.head), bool(row.pinned), bool(row.disputed)
    values["valid_from"], values["recorded_at"] = _moment(row.valid_from), _moment(row.recorded_at)
    values["last_recalled_at"] = None if row.last_recalled_at is None else _moment(row.last_recalled_at)
    values["expires_at"] = None if row.expires_at is None else _moment(row.expires_at)
    values["retrospective"] = assembled(Retrospective, _NO_RETROSPECTIVE | words["retrospective"])
    return assembled(Memory, values)


def _moment(microseconds: int) -> datetime:
    return _EPOCH + timedelta(microseconds=microseconds)
