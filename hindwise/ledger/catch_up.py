"""What processes of the version before wrote after a migration, put right once the last of them has ended.

They go on with the columns and tables that they know. What is new stands at its default, and readers take that as it stands: a Chinese
lesson counts as English, a model's cost lies in its days and not in its sum, and a new key of a slot is one of the older lexicon. Only
refusals cannot be put right: on Postgres those may have been counted more than once.

Space by space, each in a transaction of its own: who writes waits for one space at most. Where it ended early, what was put right stays,
and the next run passes over it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from sqlalchemy import BindParameter, Connection, bindparam, func, select, update

from hindwise.ledger import spending
from hindwise.ledger.databases import alone_in_migrating
from hindwise.ledger.engine import Ledger
from hindwise.ledger.schema import memories, spaces

R = TypeVar("R")
Work = Callable[[Connection], R]
_PAGE = 100
"""Spaces that are looked through at once, without a lock."""
_ROWS = 2_000
"""Memories that are put right at once: a space has any number, and who writes it waits meanwhile."""
_LIMIT_S = 60.0
"""For one transaction."""

Told = Callable[[int, int], None]
"""Called after each page with how many spaces were looked through, and how many there are."""


@dataclass(frozen=True, slots=True)
class CaughtUp:
    """How many memories had another language than their words say, models a sum that lacked something, and spaces wait to be named anew."""

    languages: int = 0
    sums: int = 0
    spaces: int = 0


_NUMBER: BindParameter[int] = bindparam("number")
_SAYS = func.substr(memories.c.words["language"].as_string(), 1, 8)
_SPACES = select(spaces.c.no, spaces.c.slot_keys).where(spaces.c.no > bindparam("after")).order_by(spaces.c.no).limit(_PAGE)
_WITH_WRONG_ONES = select(memories.c.space_no).where(
    memories.c.space_no.in_(bindparam("numbers", expanding=True)), memories.c.language != _SAYS
)
_WRONG = select(memories.c.id).where(memories.c.space_no == _NUMBER, memories.c.language != _SAYS).limit(_ROWS)
_LOCK = select(spaces.c.no).where(spaces.c.no == _NUMBER).with_for_update()
_LANGUAGES = update(memories).where(memories.c.id.in_(_WRONG)).values(language=_SAYS)
_NAME_ANEW = update(spaces).where(spaces.c.no == _NUMBER, spaces.c.slot_keys != "").values(slot_keys="")


async def catch_up(ledger: Ledger, told: Told | None = None) -> CaughtUp:
    """Put it right; slots are named anew by whoever writes their space next. Safe beside processes of this version, and other such runs.

    Raises LedgerUnavailable: run again, it goes on.
    """
    looked, languages, named = 0, 0, 0
    total = await ledger.read(lambda conn: int(conn.execute(select(func.count()).select_from(spaces)).scalar_one()))
    after = 0
    while page := await ledger.read(_page(after)):
        for space in page:
            if space.has_keys:
                named += await ledger.write(_name_anew(space.no), within_s=_LIMIT_S)
            while space.has_wrong and (changed := await ledger.write(_change_languages(space.no), within_s=_LIMIT_S)):
                languages += changed
        looked, after = looked + len(page), page[-1].no
        if told:
            told(looked, max(looked, total))
    return CaughtUp(languages, await ledger.write(_complete_sums, within_s=_LIMIT_S), named)


class _Space(NamedTuple):
    """What is to be put right in it: slots that do not wait for new names yet, memories of another language than their words say."""

    no: int
    has_keys: bool
    has_wrong: bool


def _page(after: int) -> Work[list[_Space]]:
    def work(conn: Connection) -> list[_Space]:
        found = conn.execute(_SPACES, {"after": after}).all()
        wrong = set(conn.execute(_WITH_WRONG_ONES.distinct(), {"numbers": [row.no for row in found]}).scalars()) if found else set()
        return [_Space(row.no, row.slot_keys != "", row.no in wrong) for row in found]

    return work


def _name_anew(number: int) -> Work[int]:
    return lambda conn: conn.execute(_NAME_ANEW, {"number": number}).rowcount


def _change_languages(number: int) -> Work[int]:
    def work(conn: Connection) -> int:
        conn.execute(_LOCK, {"number": number})  # as every writer does it, before anything else: nobody waits for another in a circle
        return conn.execute(_LANGUAGES, {"number": number}).rowcount

    return work


def _complete_sums(conn: Connection) -> int:
    alone_in_migrating(conn)  # two runs at once would both add what is lacking
    return spending.complete_sums(conn)
