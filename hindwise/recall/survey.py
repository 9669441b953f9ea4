"""What does the ledger know that the index need not be asked for: what the index may not know yet, and what holds whatever is asked?

Asked before the index is, so that nothing slips through: what is not in the outbox by then is in the index when that is asked afterwards.
Where the index was asked first, `ahead` says when its answer counts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import BigInteger, Connection, Text, bindparam, cast, null, select, type_coerce, union_all

from hindwise.ledger.prepared import Prepared
from hindwise.ledger.schema import outbox, spaces
from hindwise.recall.standing import what_stands

MAX_UNAPPLIED = 200


class Mark(NamedTuple):
    """Of a space: the same as before where nothing was taken out of its outbox since, for whoever brings an index up to date notes both.

    `used_at`: microseconds since 1970, None where it never was up to date.
    """

    space_no: int
    index_no: int
    used_at: int | None


@dataclass(frozen=True, slots=True)
class Survey:
    """The spaces that exist, by name; the newest memories of theirs that the index may not know yet; and their standing items."""

    marks: Mapping[str, Mark]
    unapplied: tuple[str, ...]
    standing: tuple[str, ...] = ()

    @property
    def numbers(self) -> dict[str, int]:
        """The spaces' numbers, by name."""
        return {name: mark.space_no for name, mark in self.marks.items()}

    @property
    def behind(self) -> bool:
        """Whether the index lacks more than a recall reads past it, as while a lost one is filled again: then the ledger answers alone."""
        return len(self.unapplied) >= MAX_UNAPPLIED


_OWNED = (spaces.c.tenant_id == bindparam("tenant")) & spaces.c.name.in_(bindparam("names", expanding=True))
_NEWEST = (
    select(outbox.c.space_no, outbox.c.memory_id)
    .join(spaces, spaces.c.no == outbox.c.space_no)
    .where(_OWNED)
    .order_by(outbox.c.at.desc(), outbox.c.memory_id)
    .limit(MAX_UNAPPLIED)
    .subquery()
)
_STANDS = what_stands(_OWNED).subquery()
_SURVEY = Prepared(
    # One statement: a second one would take as long as both.
    union_all(
        select(spaces.c.name, spaces.c.no, spaces.c.index_no, type_coerce(spaces.c.used_at, BigInteger), _NEWEST.c.memory_id)
        .join(_NEWEST, _NEWEST.c.space_no == spaces.c.no, isouter=True)
        .where(_OWNED),
        select(cast(null(), Text), *[cast(null(), BigInteger)] * 3, _STANDS.c.id),
    ),
    few=["names"],
)


def survey(conn: Connection, tenant_id: str, names: Sequence[str]) -> Survey:
    """Look up the spaces with their outbox, and which memories stand in them, in one statement."""
    rows = _SURVEY.rows(conn, {"tenant": tenant_id, "names": list(names)})
    of_spaces = [row for row in rows if row[0] is not None]
    marks = {name: Mark(*mark) for name, *mark, _ in of_spaces}
    unapplied = tuple(row[-1] for row in of_spaces if row[-1] is not None)
    return Survey(marks, unapplied, tuple(row[-1] for row in rows if row[0] is None))
