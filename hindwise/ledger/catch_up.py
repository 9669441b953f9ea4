"""What processes of the version before wrote after a migration, put right once the last of them has ended.

They go on with the columns and tables that they know. What is new stands at its default, and readers take that as it stands: a Chinese
lesson counts as English, a model's cost lies in its days and not in its sum, and a new key of a slot is one of the older lexicon. Only
refusals cannot be put right: on Postgres those may have been counted more than once.
"""

from dataclasses import dataclass

from sqlalchemy import Connection, func, select, update

from hindwise.ledger import spending
from hindwise.ledger.schema import memories, spaces

LIMIT_S = 600.0
"""All memories are looked through, in one transaction."""


@dataclass(frozen=True, slots=True)
class CaughtUp:
    """How many memories had another language than their words say, models a sum that lacked something, and spaces are looked through."""

    languages: int
    sums: int
    spaces: int


def catch_up(conn: Connection) -> CaughtUp:
    """Put it right; slots are named anew by whoever writes a space next. Repeated, it finds nothing but the spaces. Locks all of them."""
    # As every writer does it, in order of number and before anything else: nobody waits for another in a circle.
    held = conn.execute(select(spaces.c.no).order_by(spaces.c.no).with_for_update()).all()
    told = func.substr(memories.c.words["language"].as_string(), 1, 8)
    languages = conn.execute(update(memories).where(memories.c.language != told).values(language=told)).rowcount
    conn.execute(update(spaces).values(slot_keys=""))
    return CaughtUp(languages, spending.complete_sums(conn), len(held))
