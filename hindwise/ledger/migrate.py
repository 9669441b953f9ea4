"""Bringing the ledger to today's shape: safe when several processes start at once, all or nothing."""

import threading
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, text

from hindwise.ledger.engine import Ledger

_LOCK = 7_240_119
"""Postgres advisory lock of migrations; on SQLite BEGIN IMMEDIATE is the lock."""
_ONE_AT_A_TIME = threading.Lock()
"""Alembic's `context` is one per process."""


def config(conn: Connection) -> Config:
    """The Alembic configuration for one connection."""
    alembic = Config()
    alembic.set_main_option("script_location", str(Path(__file__).resolve().parents[1] / "migrations"))
    alembic.attributes["connection"] = conn
    return alembic


def upgrade(conn: Connection) -> None:
    """Apply the missing migrations within the transaction of `conn`, one process after another."""
    if conn.dialect.name == "postgresql":
        conn.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
    with _ONE_AT_A_TIME:
        command.upgrade(config(conn), "head")


async def migrate(ledger: Ledger) -> None:
    """Apply the missing migrations in one transaction. Raises LedgerUnavailable."""
    await ledger.write(upgrade)
