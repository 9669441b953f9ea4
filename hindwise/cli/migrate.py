"""`hindwise migrate`: bring the ledger's tables to what this release wants, before or without starting anything."""

import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from hindwise.cli import console, exits, options
from hindwise.cli.exits import FAILED, Ended

if TYPE_CHECKING:
    from hindwise.ledger.catch_up import CaughtUp
    from hindwise.ledger.migrate import Revisions
    from hindwise.settings import Settings

_EXAMPLES = options.examples(
    "hindwise migrate",
    "HINDWISE_DATABASE_URL=postgresql+psycopg://hindwise:secret@db/hindwise hindwise migrate",
    "hindwise migrate --check --json",
    "hindwise migrate --catch-up",
)
_SAY_EVERY_S = 2.0


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=_EXAMPLES)(migrate)


def migrate(
    data: options.Data = None,
    check: Annotated[bool, typer.Option("--check", help="Change nothing; exit code 1 where something is missing.")] = False,
    catch_up: Annotated[
        bool,
        typer.Option("--catch-up", help="After it, once no process of the version before runs: put right what those wrote meanwhile."),
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Apply the ledger's missing migrations, all or nothing. Every start does so too; several at once wait for each other."""
    settings = options.settings_with(data=data)
    if check and catch_up:
        raise Ended("--check changes nothing, and --catch-up does", next_step="give one of them", code=exits.USAGE)
    if data is not None and not data.exists():
        raise Ended(f"no such directory: {data}", next_step="`hindwise up` makes a new one; nothing was made here", code=exits.USAGE)
    found, caught = (_look(settings), None) if check else _apply(settings, catch_up=catch_up)
    if as_json:
        steps = [{"revision": revision, "title": title} for revision, title in found.missing]
        told = {"from": found.present, "to": found.wanted, "missing" if check else "applied": steps}
        console.print_json(told | ({"caught_up": asdict(caught)} if caught else {}))
    elif not found.missing:
        console.line(f"Nothing to do: the ledger is at {found.wanted}.")
    elif check:
        console.line(f"{len(found.missing)} missing, from {found.present or 'an empty ledger'} to {found.wanted}: hindwise migrate")
    else:
        console.line(f"Done: the ledger is at {found.wanted}.")
    if caught and not as_json:
        console.line(
            f"Caught up with languages of memories: {caught.languages}; sums of models: {caught.sums};"
            f" spaces whose slots are named anew as they are written: {caught.spaces}."
        )
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


def _apply(settings: "Settings", *, catch_up: bool) -> "tuple[Revisions, CaughtUp | None]":
    import asyncio

    from hindwise.cli.up import prepare
    from hindwise.ledger.catch_up import catch_up as put_right
    from hindwise.ledger.engine import Ledger
    from hindwise.ledger.migrate import migrate as apply

    started = time.monotonic()

    def told(revision: str, title: str) -> None:
        console.err().print(f"  {revision}  {title}  ({time.monotonic() - started:.1f} s)", markup=False)

    said = started

    def looked_through(spaces: int, of: int) -> None:
        nonlocal said
        if (now := time.monotonic()) - said >= _SAY_EVERY_S:
            said = now
            console.err().print(f"  {spaces:,} of {of:,} spaces  ({now - started:.1f} s)", markup=False)

    async def run() -> "tuple[Revisions, CaughtUp | None]":
        ledger = Ledger.of(settings)
        try:
            found = await apply(ledger, told)
            return found, await put_right(ledger, looked_through) if catch_up else None
        finally:
            await ledger.close()

    if not settings.database_url.get_secret_value():
        prepare(settings)
    return asyncio.run(run())
