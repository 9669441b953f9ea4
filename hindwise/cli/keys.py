"""`hindwise keys`: API keys, straight in the ledger, so that the first or a lost one needs no running API."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from hindwise.cli import console, options

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from hindwise.settings import Settings

T = TypeVar("T")
_group = typer.Typer(
    help="List, make and revoke API keys.",
    epilog=options.examples("hindwise keys list", "hindwise keys create dify --scope write"),
    no_args_is_help=True,
)


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(_group, name="keys")


def _in_ledger(settings: "Settings", work: Callable[["Connection"], T], *, write: bool) -> T:
    """Run one unit of work on the data directory's ledger, migrated if it is new."""
    import asyncio

    from hindwise.cli.up import prepare
    from hindwise.ledger.engine import Ledger
    from hindwise.ledger.migrate import migrate

    async def once() -> T:
        ledger = Ledger.of(settings)
        try:
            await migrate(ledger)
            return await (ledger.write(work) if write else ledger.read(work))
        finally:
            await ledger.close()

    prepare(settings)
    return asyncio.run(once())


def _make_first_key(settings: "Settings") -> None:
    """The key of the data directory comes before all others: a first start that finds other keys would make none."""
    import asyncio

    from api.bootstrap import ensure_first_key
    from hindwise.cli import logging
    from hindwise.engine import open_engine
    from hindwise.ledger import keys

    async def once() -> None:
        async with open_engine(settings) as engine:
            await ensure_first_key(engine)

    if not _in_ledger(settings, keys.count, write=False):
        logging.set_up("warning", "cli")
        asyncio.run(once())


@_group.command("list", epilog=options.examples("hindwise keys list", "hindwise keys list --json"))
def list_keys(data: options.Data = None, as_json: options.AsJson = False) -> None:
    """List keys, newest first; their secrets are not stored and cannot be shown."""
    from hindwise.cli import overview
    from hindwise.ledger import keys

    settings = options.settings_with(data=data)
    there = overview.exists(settings)  # asking makes no ledger
    rows = _in_ledger(settings, lambda conn: keys.page(conn, settings.tenant), write=False) if there else []
    if as_json:
        console.print_json([_document(row) for row in rows])
        return
    if not rows:
        console.err().print("no key yet: the first start (hindwise up) or `hindwise keys create NAME` makes one", markup=False, style="dim")
        return
    shown = [
        [row.id, row.name, ", ".join(row.scopes), f"{row.created_at:%Y-%m-%d}", "revoked" if row.revoked_at else "live"] for row in rows
    ]
    console.table(["id", "name", "scopes", "made", "state"], shown)


def _document(row: Any) -> dict[str, Any]:
    return {"id": row.id, "name": row.name, "scopes": list(row.scopes), "created_at": row.created_at, "revoked_at": row.revoked_at}


_MAX_NAME_CHARS = 100


@_group.command(
    epilog=options.examples("hindwise keys create dify --scope write", "hindwise keys create ci --scope read --scope write --json")
)
def create(
    name: Annotated[str, typer.Argument(help="What it is for, so that you know it again.")],
    scope: Annotated[
        list[str] | None, typer.Option(help="read, write, outcome or admin; may be repeated. Default: read and write.")
    ] = None,
    data: options.Data = None,
    as_json: options.AsJson = False,
) -> None:
    """Make a key and print it: this once, because only its hash is kept."""
    from hindwise.clock import SystemClock
    from hindwise.errors import InvalidInput
    from hindwise.ledger import keys

    if not name.strip() or not name.isprintable() or len(name) > _MAX_NAME_CHARS:
        raise InvalidInput(f"the name of a key has 1 to {_MAX_NAME_CHARS} printable characters: say what the key is for")
    settings = options.settings_with(data=data)
    _make_first_key(settings)
    secret = keys.new_key()
    scopes = scope or ["read", "write"]
    now = SystemClock().now()
    row = _in_ledger(settings, lambda conn: keys.add(conn, settings.tenant, name, scopes, now, secret), write=True)
    if as_json:
        console.print_json({**_document(row), "key": secret})
        return
    console.line(secret)
    console.err().print(f"{row.id}: {name}, may {', '.join(row.scopes)}. Keep it now: it cannot be shown again.", markup=False, style="dim")


@_group.command(epilog=options.examples("hindwise keys revoke 3f2a…"))
def revoke(
    key_id: Annotated[str, typer.Argument(help="The key's id, as `hindwise keys list` shows it.", callback=options.an_id)],
    data: Annotated[Path | None, typer.Option("--data", help="Data directory.", show_default=False)] = None,
    as_json: options.AsJson = False,
) -> None:
    """End a key; running APIs refuse it within seconds."""
    from hindwise.clock import SystemClock
    from hindwise.ledger import keys

    settings = options.settings_with(data=data)
    now = SystemClock().now()
    _in_ledger(settings, lambda conn: keys.revoke(conn, settings.tenant, key_id, now), write=True)
    if as_json:
        console.print_json({"id": key_id, "revoked_at": now})
    else:
        console.line(f"revoked {key_id}")
