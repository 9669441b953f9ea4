"""Counts straight from the ledger: true also while nothing runs, and without migrating or making anything."""

from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, func, inspect, select

from hindwise.ledger import outbox
from hindwise.ledger import reflections as reflection_rows
from hindwise.ledger.engine import Ledger
from hindwise.ledger.schema import memories, reflections, sessions
from hindwise.model.reflection import ReflectionStatus

if TYPE_CHECKING:
    from hindwise.settings import Settings


def exists(settings: "Settings") -> bool:
    """Whether there is a ledger to read: asking SQLite for one would make an empty file."""
    return bool(settings.database_url) or (settings.data / "ledger.db").exists()


async def counts(settings: "Settings") -> dict[str, Any]:
    """Return sessions, reflections and memories by state, the outbox and what is parked; {} without a ledger."""
    if not exists(settings):
        return {}
    ledger = Ledger(settings.ledger_url())
    try:
        return await ledger.read(lambda conn: _counts(conn, settings.tenant))
    finally:
        await ledger.close()


def _counts(conn: Connection, tenant: str) -> dict[str, Any]:
    if not inspect(conn).has_table(memories.name):
        return {}
    waiting, oldest = outbox.depth(conn)
    parked = reflection_rows.page(conn, tenant, status=str(ReflectionStatus.NEEDS_ATTENTION), limit=20)
    return {
        "sessions": _grouped(conn, sessions.c.state, sessions.c.tenant_id, tenant),
        "reflections": _grouped(conn, reflections.c.status, reflections.c.tenant_id, tenant),
        "memories": _grouped(conn, memories.c.status, memories.c.tenant_id, tenant),
        "outbox": waiting,
        "outbox_since": oldest,
        "parked": [{"id": row.id, "error": row.error} for row in parked],
    }


def _grouped(conn: Connection, column: Any, tenant_column: Any, tenant: str) -> dict[str, int]:
    query = select(column, func.count()).where(tenant_column == tenant).group_by(column)
    return {str(name): int(number) for name, number in conn.execute(query)}


async def revisions(settings: "Settings") -> tuple[str | None, str | None]:
    """Return (the revision this release wants, the one the ledger has); None for a ledger without tables."""
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory

    from hindwise.ledger.migrate import config

    def look(conn: Connection) -> tuple[str | None, str | None]:
        return ScriptDirectory.from_config(config(conn)).get_current_head(), MigrationContext.configure(conn).get_current_revision()

    ledger = Ledger(settings.ledger_url())
    try:
        return await ledger.read(look)
    finally:
        await ledger.close()
