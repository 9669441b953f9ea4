"""Bringing the ledger to today's shape: safe when several processes start at once, all or nothing."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, exists, select

from hindwise.errors import InvalidInput
from hindwise.ledger.databases import alone_in_migrating, stop_statement
from hindwise.ledger.engine import Ledger
from hindwise.ledger.schema import metadata

_ONE_AT_A_TIME = threading.Lock()
"""Alembic's `context` is one per process."""
_LIMIT_S = 3600.0
"""A migration of a large ledger may take long; whoever waits for another's does so too."""

Told = Callable[[str, str], None]
"""Called with revision and title of each migration, right after it was applied."""


@dataclass(frozen=True, slots=True)
class Revisions:
    """Which migration the tables have (empty: there are none yet), which this release wants, and what is missing, in order."""

    present: str
    wanted: str
    missing: tuple[tuple[str, str], ...]


def config(conn: Connection | None, told: Told | None = None) -> Config:
    """The Alembic configuration for one connection; without one it only knows the scripts."""
    alembic = Config()
    alembic.set_main_option("script_location", str(Path(__file__).resolve().parents[1] / "migrations"))
    alembic.attributes["connection"] = conn
    alembic.attributes["told"] = told
    return alembic


def revisions(conn: Connection | None) -> Revisions:
    """Compare the tables with this release; None = there are none. Raises InvalidInput where a newer release migrated them."""
    present = MigrationContext.configure(conn).get_current_revision() or "" if conn is not None else ""
    steps = _steps()
    known = [revision for revision, _ in steps]
    if present and present not in known:
        raise InvalidInput(f"the ledger was migrated by a newer Hindwise (to {present}, which this one does not know): upgrade this one")
    missing = steps[known.index(present) + 1 :] if present else steps
    return Revisions(present, known[-1], missing)


@cache
def _steps() -> tuple[tuple[str, str], ...]:
    """Revision and title of each migration of this release, in order: read once, for they lie beside this file."""
    scripts: list[Any] = list(ScriptDirectory.from_config(config(None)).walk_revisions())
    return tuple((script.revision, script.doc) for script in reversed(scripts))


def upgrade(conn: Connection, told: Told | None = None) -> Revisions:
    """Apply the missing migrations within the transaction of `conn`, one process after another; return what there was to do.

    Where nothing is missing no lock is taken, and no right to change tables is needed. Raises InvalidInput for a newer ledger.
    Of tables that are not what their revision says, the driver's error comes through, which `Ledger` tells as LedgerMismatch.
    """
    with _ONE_AT_A_TIME:
        found = revisions(conn)
        if found.missing:
            alone_in_migrating(conn)
            found = revisions(conn)  # whoever held the lock may have done it
        if found.missing:
            command.upgrade(config(conn, told), "head")
        _ask_for_all(conn)
        return found


def _ask_for_all(conn: Connection) -> None:
    """Name every column once, so that a ledger which only says that it is of this version ends the start, and not the first task."""
    conn.execute(select(*(exists(select(table)) for table in metadata.sorted_tables)))


async def migrate(ledger: Ledger, told: Told | None = None) -> Revisions:
    """Apply the missing migrations in one transaction. Raises LedgerUnavailable, LedgerMismatch; InvalidInput for a newer release's.

    Cancelled it ends at once, and nothing was changed: the thread that migrates, or waits for who does, would go on for an hour else.
    """
    at_work: list[Any] = []

    def work(conn: Connection) -> Revisions:
        at_work.append(conn.connection.driver_connection)
        try:
            return upgrade(conn, told)
        finally:
            at_work.clear()

    try:
        return await ledger.write(work, within_s=_LIMIT_S)
    except asyncio.CancelledError:
        for driver in list(at_work):
            await asyncio.to_thread(stop_statement, driver)
        raise
