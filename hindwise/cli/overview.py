"""Counts straight from the ledger: true also while nothing runs, and without migrating or making anything."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, func, inspect, select

from hindwise.ledger import generations, keys, outbox, spending
from hindwise.ledger import reflections as reflection_rows
from hindwise.ledger.engine import Ledger
from hindwise.ledger.schema import installation, memories, model_days, reflections, sessions
from hindwise.model.reflection import ReflectionStatus
from hindwise.reflect.budget import day_of

if TYPE_CHECKING:
    from hindwise.settings import Settings


def exists(settings: "Settings") -> bool:
    """Whether there is a ledger to read: asking SQLite for one would make an empty file."""
    return bool(settings.database_url.get_secret_value()) or (settings.data / "ledger.db").exists()


async def counts(settings: "Settings") -> dict[str, Any]:
    """Return sessions, reflections and memories by state, the outbox and what is parked; {} without a ledger."""
    if not exists(settings):
        return {}
    ledger = Ledger.of(settings)
    try:
        return await ledger.read(lambda conn: {**_counts(conn, settings.tenant), **model_today(conn, settings)})
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


def model_today(conn: Connection, settings: "Settings") -> dict[str, Any]:
    """What models cost the tenant today (UTC) and what is left: {"model_today": {…}}; {} where no model was asked and no ceiling is set."""
    day = day_of(datetime.now(UTC))
    if not inspect(conn).has_table(model_days.name):
        return {}
    spent, room = spending.by_day(conn, settings.tenant, day), spending.room(conn, settings.tenant, day)
    ceiling = settings.llm_daily_tokens
    if not (spent or ceiling):
        return {}
    costs = [one.cost for one in spent if one.cost is not None]
    counts = {name: sum(getattr(one, name) for one in spent) for name in ("calls", "reasks", "priced_calls", "saved", "refused")}
    told = {"day": day, "used_tokens": room.used, "held_tokens": room.held, "ceiling": ceiling or None, **counts}
    return {"model_today": {**told, "cost": sum(costs) if costs else None}}


def _grouped(conn: Connection, column: Any, tenant_column: Any, tenant: str) -> dict[str, int]:
    query = select(column, func.count()).where(tenant_column == tenant).group_by(column)
    return {str(name): int(number) for name, number in conn.execute(query)}


async def revisions(settings: "Settings") -> tuple[str | None, str | None]:
    """Return (the revision this release wants, the one the ledger has); None for a ledger without tables.

    Raises InvalidInput where a newer release migrated it.
    """
    from hindwise.ledger import migrate

    def look(conn: Connection) -> tuple[str | None, str | None]:
        found = migrate.revisions(conn)
        return found.wanted, found.present or None

    ledger = Ledger.of(settings)
    try:
        return await ledger.read(look)
    finally:
        await ledger.close()


async def first_key_place(settings: "Settings") -> str:
    """Where the first key was put, `machine:path`; "" where no ledger says so."""
    if not exists(settings):
        return ""

    def look(conn: Connection) -> str:
        return keys.first_lies_at(conn) if inspect(conn).has_table(installation.name) else ""

    ledger = Ledger.of(settings)
    try:
        return await ledger.read(look)
    finally:
        await ledger.close()


async def index_state(settings: "Settings") -> tuple[str, str]:
    """Return which kind of index serves ("" = none yet), and in words what is being built or waits for a person ("" = nothing)."""

    def look(conn: Connection) -> tuple[str, str]:
        if not inspect(conn).has_table(memories.name):
            return "", ""
        live, builds = generations.live_of(generations.kept(conn)), generations.open_builds(conn)
        told = ""
        if builds:
            one, build = builds[0].generation, builds[0]
            told = f"generation {one.no} ({one.kind}) is being built, {build.done} of {build.total} memories: hindwise reindex --status"
            if build.phase == "needs_attention":
                told = f"generation {one.no} ({one.kind}) waits for you: {build.note}"
        return (live.kind if live else ""), told

    ledger = Ledger.of(settings)
    try:
        return await ledger.read(look)
    finally:
        await ledger.close()
