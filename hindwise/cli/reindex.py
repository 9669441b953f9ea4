"""`hindwise reindex`: build the index anew beside the one that serves, or in another place, and let it take over.

The request is a row of the ledger, which a worker picks up; this command only watches it, so it may be ended and started at will.
"""

import os
import sys
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from hindwise.cli import console, exits, options
from hindwise.cli.exits import Ended

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from hindwise.ledger.engine import Ledger
    from hindwise.ledger.generations import Build, Generation
    from hindwise.settings import Settings

_EXAMPLES = options.examples(
    "hindwise reindex",
    "hindwise reindex --to weaviate",
    "hindwise reindex --status --json | jq .done",
    "hindwise reindex --answer retry",
    "hindwise reindex --drop-old",
    "hindwise reindex --drop-old --gone",
)
_LOOK_S = 0.3
_NO_WORKER_S = 15.0
"""So long a request may wait before we say that no worker took it."""
_PHASES = {
    "": "waiting for a worker",
    "fill": "writing memories",
    "check": "checking against the ledger",
    "compare": "asking both the same questions",
    "drain": "serving",
    "done": "serving",
    "abandoned": "given up",
    "needs_attention": "waiting for you",
}
_NOW = {
    "live": "serving",
    "draining": "replaced a moment ago, still follows",
    "old": "kept until --drop-old",
    "abandoned": "given up, kept until --drop-old",
}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=_EXAMPLES)(reindex)


def reindex(
    to: Annotated[
        Literal["embedded", "weaviate"] | None,
        typer.Option(help="Where the new index lies. Default: where the present one does.", show_default=False),
    ] = None,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Follow the build until it serves.")] = True,
    status: Annotated[bool, typer.Option("--status", help="Start nothing: show which indexes there are, and how far a build is.")] = False,
    answer: Annotated[
        Literal["retry", "switch", "drop"] | None,
        typer.Option(help="Release a build that waits for you: try again, let it serve as it is, or give it up.", show_default=False),
    ] = None,
    cancel: Annotated[bool, typer.Option("--cancel", help="Give up the build that is under way; what serves goes on.")] = False,
    drop_old: Annotated[bool, typer.Option("--drop-old", help="Remove the indexes that serve no longer.")] = False,
    gone: Annotated[
        bool, typer.Option("--gone", help="With --drop-old: one that does not answer is gone for good, and counts as removed.")
    ] = False,
    data: options.Data = None,
    as_json: options.AsJson = False,
) -> None:
    """Build the index anew from the ledger, while everything goes on; it takes over once it answers alike.

    After a lost volume, for a new embedding model, or to move between the embedded index and Weaviate. Safe to end and run again.
    """
    if sum((status, answer is not None, cancel, drop_old)) > 1:
        raise Ended("--status, --answer, --cancel and --drop-old do not go together", code=exits.USAGE)
    import asyncio

    from hindwise.cli import logging

    if gone and not drop_old:
        raise Ended("--gone goes with --drop-old", code=exits.USAGE)
    settings = options.settings_with(data=data)
    logging.set_up("warning", "cli")
    code = exits.OK
    try:
        asyncio.run(
            _run(settings, to=to, wait=wait, status=status, answer=answer, cancel=cancel, drop_old=drop_old, gone=gone, as_json=as_json)
        )
    except Exception as error:  # told as any command's, then out by the back door: see below
        ended = exits.explain(error)
        exits.report(ended)
        code = ended.code
    # Temporal's client may abort the interpreter while it ends; nothing of ours is open any more.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


async def _run(
    settings: "Settings",
    *,
    to: str | None,
    wait: bool,
    status: bool,
    answer: str | None,
    cancel: bool,
    drop_old: bool,
    gone: bool,
    as_json: bool,
) -> None:
    from hindwise.cli import overview
    from hindwise.ledger import generations
    from hindwise.ledger.engine import Ledger

    if not overview.exists(settings) or not await overview.counts(settings):
        raise Ended("there is no ledger here yet", next_step="start it with: hindwise up", code=exits.UNREACHABLE)
    ledger = Ledger.of(settings)
    try:
        if status:
            _show_all(await ledger.read(_all), as_json=as_json)
        elif drop_old:
            await _drop_old(settings, ledger, gone=gone, as_json=as_json)
        elif cancel:
            await _cancel(settings, ledger, await _one_open(ledger), as_json=as_json)
        else:
            if answer is not None:
                build = await _one_open(ledger)
                if build.generation.state == generations.State.WANTED:
                    raise Ended(f"generation {build.generation.no} was not begun yet. {build.note}", next_step=_way_out(build))
                await _signal(settings, build.generation.no, answer)
                number = build.generation.no
                await ledger.write(lambda conn: generations.release(conn, number))
            else:
                number = (await ledger.write(lambda conn: _request(conn, settings, to))).no
            await _follow(settings, ledger, number, wait=wait, as_json=as_json)
    finally:
        await ledger.close()


def _request(conn: "Connection", settings: "Settings", to: str | None) -> "Generation":
    from hindwise.clock import SystemClock
    from hindwise.ledger import generations
    from hindwise.ledger.databases import is_server

    live = generations.live_of(generations.kept(conn))
    kind = to or (live.kind if live else settings.index)
    if kind == "embedded" and is_server(settings.ledger_url()):
        raise Ended(
            "with a ledger on Postgres the index cannot be embedded: a file serves one machine",
            next_step="hindwise reindex --to weaviate",
            code=exits.USAGE,
        )
    asked = generations.request(conn, kind, SystemClock().now())
    if asked.state == generations.State.WANTED:
        generations.note(conn, asked.no, "")  # what kept it from being begun may be mended: it is looked at again
    return asked


def _all(conn: "Connection") -> list["Build"]:
    from sqlalchemy import select

    from hindwise.ledger import generations
    from hindwise.ledger.schema import generations as rows

    numbers = conn.execute(select(rows.c.no).where(rows.c.state != str(generations.State.DROPPED)).order_by(rows.c.no)).scalars()
    return [generations.build_of(conn, number) for number in list(numbers)]


async def _one_open(ledger: "Ledger") -> "Build":
    from hindwise.ledger import generations

    found = await ledger.read(generations.open_builds)
    if not found:
        raise Ended("no index is being built", next_step="begin with: hindwise reindex")
    return found[0]


async def _cancel(settings: "Settings", ledger: "Ledger", build: "Build", *, as_json: bool) -> None:
    """Give a build up. Raises Ended where it serves, or was given up, since it was looked at."""
    from hindwise.ledger import generations

    number, begun = build.generation.no, build.generation.state != generations.State.WANTED
    if not await ledger.write(lambda conn: generations.abandon(conn, number, "given up by a person")):
        raise Ended(f"generation {number} is not being built any more: nothing was given up", next_step="see: hindwise reindex --status")
    if build.phase == "needs_attention" and begun:
        try:
            await _signal(settings, number, "drop")
        except Ended as untold:
            console.err().print(f"{untold.message}; it still waits in Temporal: terminate reindex/{number} there", markup=False)
    if as_json:
        console.print_json(document_of(await ledger.read(lambda conn: generations.build_of(conn, number))))
    else:
        console.line(f"generation {number} is given up{'; hindwise reindex --drop-old removes it' if begun else ''}")


async def _signal(settings: "Settings", number: int, signal: str) -> None:
    from hindwise.cli import running
    from workflows import connection
    from workflows.start_reindex import signal_reindex

    told = running.read(settings.data)
    address = settings.temporal_address or (told.temporal_address if told else "")
    try:
        client = await connection.connect(settings, address=address)
        delivered = await signal_reindex(client, number, signal, queue_prefix=settings.task_queue_prefix)
    except connection.NotDelivered as error:
        raise Ended(f"Temporal did not take the answer ({error})", next_step="see: hindwise status", code=exits.UNREACHABLE) from error
    if not delivered:
        raise Ended(f"no workflow of generation {number} is open", next_step="a running worker starts it again within a minute")


async def _follow(settings: "Settings", ledger: "Ledger", number: int, *, wait: bool, as_json: bool) -> None:
    """Show how far a build comes, until it serves, waits for a person or was given up."""
    import asyncio

    from hindwise.cli import serving
    from hindwise.ledger import generations
    from hindwise.ledger.generations import OPEN

    build = await ledger.read(lambda conn: generations.build_of(conn, number))
    nobody = not settings.temporal_address and serving.local(settings.data) is None
    if not wait or nobody:
        _show_one(build, as_json=as_json)
        if nobody:
            raise Ended("nothing runs here, so the build waits", next_step="start it with: hindwise up", code=exits.UNREACHABLE)
        return
    with _bar(quiet=as_json) as progress:
        shown = progress.add_task("", total=None)
        waited, told, note = 0.0, False, ""
        while build.generation.state in OPEN and build.phase != "needs_attention":
            progress.update(shown, description=_PHASES.get(build.phase, build.phase), completed=build.done, total=build.total or None)
            if build.note != note:
                note = build.note
                console.err().print(note, markup=False) if note else None
            await asyncio.sleep(_LOOK_S)
            waited += _LOOK_S
            if waited > _NO_WORKER_S and not build.phase and not told:
                told = True
                console.err().print("no worker has taken it yet: is `hindwise up`, or a `hindwise worker`, running?")
            build = await ledger.read(lambda conn: generations.build_of(conn, number))
    _show_one(build, as_json=as_json)
    if build.phase == "needs_attention":
        raise Ended(f"generation {number} waits for you: {build.note}", next_step=_way_out(build))
    if build.generation.state not in (generations.State.LIVE, generations.State.DRAINING, generations.State.OLD):
        raise Ended(f"generation {number} was given up: {build.note}")


def _way_out(build: "Build") -> str:
    from hindwise.ledger import generations

    if build.generation.state == generations.State.WANTED:  # no workflow of it is open that could be answered
        return "mend that; workers (or `hindwise up`) read settings when they start, so start them again; or: hindwise reindex --cancel"
    return "hindwise reindex --answer retry | switch | drop"


def _bar(*, quiet: bool) -> Any:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=console.err(), transient=True, disable=quiet or not console.err().is_terminal)


async def _drop_old(settings: "Settings", ledger: "Ledger", *, gone: bool, as_json: bool) -> None:
    """Remove every index that serves no longer, and the vectors of models that none is made with.

    gone: what does not answer is taken off the list, else erasures would wait for it for ever.
    """
    import asyncio

    from hindwise.engine import installation_secret
    from hindwise.errors import HindwiseError
    from hindwise.index.factory import remove_index
    from hindwise.ledger import embeddings, generations

    secret = await asyncio.to_thread(installation_secret, settings)
    dropped, failed = [], ""
    for generation in await ledger.read(generations.droppable):
        try:
            await remove_index(settings, generation.kind, generation.no, secret)
        except HindwiseError as error:
            if not gone:
                failed = f"generation {generation.no} ({generation.kind}) cannot be removed: {error.detail}"
                continue
        await ledger.write(lambda conn, no=generation.no: generations.set_dropped(conn, no))  # type: ignore[misc]
        dropped.append(generation)
    vectors = 0
    while purged := await ledger.write(lambda conn: embeddings.purge_models(conn, generations.models_in_use(conn), 2_000)):
        vectors += purged
    if as_json:
        console.print_json({"dropped": [{"generation": one.no, "index": one.kind} for one in dropped], "vectors": vectors})
    elif dropped:
        console.line(f"removed {', '.join(f'generation {one.no} ({one.kind})' for one in dropped)}, and {vectors} vectors of old models")
    else:
        draining = [one.no for one in await ledger.read(generations.kept) if one.state == generations.State.DRAINING]
        nothing = f"generation {draining[0]} was replaced a moment ago: try again in a minute" if draining else "only what serves is kept"
        console.line("nothing was removed" if failed else f"nothing to remove: {nothing}")
    if failed:
        raise Ended(failed, next_step="run it again once it answers, or with --gone where it never will", code=exits.UNREACHABLE)


def document_of(build: "Build") -> dict[str, Any]:
    """A generation as `--json` tells it."""
    one = build.generation
    return {
        "generation": one.no,
        "index": one.kind,
        "state": one.state,
        "phase": build.phase,
        "embedding_model": one.model,
        "dimensions": one.dim,
        "tokenizer": one.tokenizer,
        "done": build.done,
        "total": build.total,
        "note": build.note,
        "report": dict(build.report),
        "created_at": build.created_at.isoformat(),
        "switched_at": build.switched_at.isoformat() if build.switched_at else None,
    }


def _show_all(builds: list["Build"], *, as_json: bool) -> None:
    if as_json:
        console.print_json({"generations": [document_of(build) for build in builds]})
        return
    rows = [
        [
            str(build.generation.no),
            build.generation.kind,
            build.generation.state,
            f"{build.done}/{build.total}" if build.total else "",
            build.generation.model or "words only",
            build.note or _NOW.get(build.generation.state) or _PHASES.get(build.phase, build.phase),
        ]
        for build in builds
    ]
    console.table(["generation", "index", "state", "memories", "made with", "now"], rows)


def _show_one(build: "Build", *, as_json: bool) -> None:
    if as_json:
        console.print_json(document_of(build))
        return
    one, checked, compared = build.generation, build.report.get("checked", {}), build.report.get("compared", {})
    alike = f"{compared['same']} of {compared['asked']} questions have the same first five answers" if compared.get("asked") else ""
    console.pairs(
        {
            "generation": f"{one.no} ({one.kind}, {one.model or 'words only'})",
            "state": f"{one.state}, {_PHASES.get(build.phase, build.phase)}" if build.phase else one.state,
            "memories": checked.get("memories") or (f"{build.done} of {build.total}" if build.total else ""),
            "compared": alike,
        }
    )
    if one.state in ("live", "draining"):
        console.line("The index before is kept: hindwise reindex --drop-old removes it.", "dim")
