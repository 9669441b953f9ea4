"""`hindwise migrate`: bring the ledger's tables to what this release wants, before or without starting anything."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

from hindwise.cli import console, options
from hindwise.cli.exits import FAILED

if TYPE_CHECKING:
    from hindwise.ledger.migrate import Revisions
    from hindwise.settings import Settings

_EXAMPLES = options.examples(
    "hindwise migrate",
    "HINDWISE_DATABASE_URL=postgresql+psycopg://hindwise:secret@db/hindwise hindwise migrate",
    "hindwise migrate --check --json",
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=_EXAMPLES)(migrate)


def migrate(
    data: options.Data = None,
    check: Annotated[bool, typer.Option("--check", help="Change nothing; exit code 1 where something is missing.")] = False,
    as_json: options.AsJson = False,
) -> None:
    """Apply the ledger's missing migrations, all or nothing. Every start does so too; several at once wait for each other."""
    settings = options.settings_with(data=data)
    found = _look(settings) if check else _apply(settings)
    if as_json:
        steps = [{"revision": revision, "title": title} for revision, title in found.missing]
        console.print_json({"from": found.present, "to": found.wanted, "missing" if check else "applied": steps})
    elif not found.missing:
        console.line(f"Nothing to do: the ledger is at {found.wanted}.")
    elif check:
        console.line(f"{len(found.missing)} missing, from {found.present or 'an empty ledger'} to {found.wanted}: hindwise migrate")
    else:
        console.line(f"Done: the ledger is at {found.wanted}.")
    if check and found.missing:
        raise typer.Exit(FAILED)


def _look(settings: "Settings") -> "Revisions":
    import asyncio

    from hindwise.cli import overview
    from hindwise.ledger.engine import Ledger
    from hindwise.ledger.migrate import revisions

    if not overview.exists(settings):  # SQLite would make the file that it is asked about
        return revisions(None)

    async def look() -> "Revisions":
        ledger = Ledger.of(settings)
        try:
            return await ledger.read(revisions)
        finally:
            await ledger.close()

    return asyncio.run(look())


def _apply(settings: "Settings") -> "Revisions":
    import asyncio

    from hindwise.cli.up import prepare
    from hindwise.ledger.engine import Ledger
    from hindwise.ledger.migrate import migrate as apply

    started = time.monotonic()

    def told(revision: str, title: str) -> None:
        console.err().print(f"  {revision}  {title}  ({time.monotonic() - started:.1f} s)", markup=False)

    async def run() -> "Revisions":
        ledger = Ledger.of(settings)
        try:
            return await apply(ledger, told)
        finally:
            await ledger.close()

    if not settings.database_url.get_secret_value():
        prepare(settings)
    return asyncio.run(run())
