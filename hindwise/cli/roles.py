"""`hindwise api` and `hindwise worker`: single roles in the foreground, for clusters and for the supervisor."""

import contextlib
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from hindwise.cli import exits, options
from hindwise.cli.settling import loading, settle

if TYPE_CHECKING:
    import asyncio

    from hindwise.settings import Settings


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(epilog=options.examples("hindwise api --port 8080", "HINDWISE_TEMPORAL_ADDRESS=temporal:7233 hindwise api --host 0.0.0.0"))(
        api
    )
    app.command(epilog=options.examples("hindwise worker", "HINDWISE_TEMPORAL_ADDRESS=temporal:7233 hindwise worker"))(worker)


def api(
    data: options.Data = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on. Default: this machine only.", show_default=False)] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port; 0 = any free one. Default: 8080.", show_default=False)] = None,
    no_auth: Annotated[bool, typer.Option("--no-auth", help="No API key; only on a loopback address.")] = False,
    fd: Annotated[int | None, typer.Option(hidden=True, help="A listening socket inherited from the supervisor.")] = None,
) -> None:
    """Serve the API alone, in the foreground. Temporal: HINDWISE_TEMPORAL_ADDRESS, else that of `hindwise up` in the data directory."""
    import asyncio
    import socket

    from hindwise.cli import logging, serving
    from hindwise.cli.supervisor import ports
    from hindwise.cli.up import check_exposure, prepare

    settings = options.settings_with(data=data, host=host, port=port, auth=False if no_auth else None)
    check_exposure(settings)
    if fd is not None:
        listening, url = socket.socket(fileno=fd), ""  # `up` tells of it
    else:
        listening, bound = ports.listen(settings.host, settings.port, explicit="port" in settings.model_fields_set)
        url = f"http://{ports.reachable_host(settings.host)}:{bound}"
    directory, settings = prepare(settings), _beside_up(settings)
    logging.set_up(settings.log_level, "api")
    with loading():
        from api.serve import serve

    async def answer(stop: asyncio.Event) -> None:
        ready = asyncio.Event()
        settling = asyncio.create_task(_settle_when(ready))
        try:
            with serving.told(directory, url) if url else contextlib.nullcontext():
                await serve(settings, ready=ready, stop=stop, sockets=[listening])
        finally:
            settling.cancel()

    if url:
        sys.stderr.write(f"listening on {url}\n")
    _run(answer)


def worker(
    data: options.Data = None,
    ready_file: Annotated[
        Path | None, typer.Option(help="Make this file once work is taken, and remove it at the end.", show_default=False)
    ] = None,
) -> None:
    """Run the worker alone, in the foreground: it does what the workflows ask for. Temporal is found as by `hindwise api`."""
    from hindwise.cli import logging
    from hindwise.cli.up import prepare

    settings = options.settings_with(data=data)
    prepare(settings)
    settings = _beside_up(settings)
    logging.set_up(settings.log_level, "worker")
    with loading():
        from hindwise.cli.worker_process import run_worker

    def ready() -> None:
        settle()
        if ready_file:
            ready_file.touch()

    async def work(stop: "asyncio.Event") -> None:
        try:
            await run_worker(settings, stop, ready)
        finally:
            if ready_file:
                ready_file.unlink(missing_ok=True)

    _run(work)


def _beside_up(settings: "Settings") -> "Settings":
    """The settings with the Temporal of an `up` that runs in the same data directory, where they name none; which one it is, is said."""
    from hindwise.cli import running
    from workflows.connection import DEFAULT_ADDRESS

    if settings.temporal_address:
        return settings
    found = running.with_temporal(settings)
    whose = "the one of the `hindwise up` that runs here" if found.temporal_address else "where one usually listens"
    sys.stderr.write(f"Temporal: {found.temporal_address or DEFAULT_ADDRESS}, {whose}; another one: set HINDWISE_TEMPORAL_ADDRESS\n")
    return found


async def _settle_when(ready: "asyncio.Event") -> None:
    await ready.wait()
    settle()


def _run(role: Callable[["asyncio.Event"], Awaitable[Any]]) -> NoReturn:
    """Run a role until SIGTERM or Ctrl-C, let it finish what it holds, and exit."""
    import asyncio

    async def until_told() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        await role(stop)

    code = exits.OK
    try:
        if sys.platform == "win32":
            asyncio.run(until_told())
        else:
            import uvloop

            uvloop.run(until_told())
    except Exception as error:  # whatever ends a role: told once, in the log, as an exit code
        code = _told(error)
    # Temporal's core may still hold a Python callback while the interpreter ends, which aborts the process with code 134
    # now and then. Everything of ours is closed here, so nothing is lost by leaving at once.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _told(error: Exception) -> int:
    """Say why a role ended; of what nobody foresaw only class and place, because this goes into a log."""
    import structlog

    from hindwise.errors import HindwiseError

    if isinstance(error, HindwiseError):
        ended = exits.explain(error)
        exits.report(ended)
        return ended.code
    structlog.get_logger("hindwise.cli").error("role_failed", exc_info=error)
    return exits.FAILED
