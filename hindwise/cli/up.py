"""`hindwise up`: everything on this machine, until Ctrl-C."""

import contextlib
import os
import shlex
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TextIO

import typer

from hindwise.cli import console, options, running, words
from hindwise.cli.exits import Ended

if TYPE_CHECKING:
    from hindwise.cli.running import Running
    from hindwise.cli.supervisor.supervisor import Plan
    from hindwise.settings import Settings

_EXAMPLES = options.examples(
    "hindwise up",
    "hindwise up --data ~/hindwise --port 0 --ready-file ready.json",
    "hindwise up --json | jq -r .api_url",
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=_EXAMPLES)(up)


def up(
    data: options.Data = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on. Default: this machine only.", show_default=False)] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port of the API; 0 = any free one. Default: 8080.", show_default=False)
    ] = None,
    ready_file: Annotated[
        Path | None, typer.Option(help="Write addresses, key and pids there once everything answers.", show_default=False)
    ] = None,
    no_auth: Annotated[bool, typer.Option("--no-auth", help="No API key; only on a loopback address.")] = False,
    lang: Annotated[
        Literal["en", "zh"] | None, typer.Option(help="Language of these lines. Default: the locale's.", show_default=False)
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Run Temporal, the worker and the API together; start again what dies; end all at Ctrl-C or SIGTERM."""
    import asyncio

    from hindwise.cli.supervisor import lock

    settings = options.settings_with(data=data, host=host, port=port, auth=False if no_auth else None)
    check_exposure(settings)
    os.umask(0o077)  # all that we and our children write is private
    directory = _directory(settings)
    # Nobody serves what does not exist: then all that may be refused comes before anything is made. Else who serves it is told first.
    plan = None if directory.exists() else _plan(settings, directory, ready_file)
    prepare(settings)
    with lock.hold(directory):
        plan = plan or _plan(settings, directory, ready_file)
        voice = Voice(words.language(lang or ""), as_json, plan)
        voice.starting(settings.port)
        with plan.listening:
            asyncio.run(_supervise(plan, voice))
        voice.stopped()


def check_exposure(settings: "Settings") -> None:
    """Raises InvalidInput where the API would stand open to other machines."""
    from hindwise.cli.supervisor.ports import is_loopback
    from hindwise.errors import InvalidInput

    if not settings.auth and not is_loopback(settings.host):
        raise InvalidInput(f"without keys the API must stay on this machine: --no-auth does not go with --host {settings.host}")


def _directory(settings: "Settings") -> Path:
    return settings.data.expanduser().absolute()


def prepare(settings: "Settings") -> Path:
    """Make the data directory, for its owner alone, and return its absolute path. Raises InvalidInput."""
    from hindwise.files import make_directory

    return make_directory(_directory(settings))


def _plan(settings: "Settings", directory: Path, ready_file: Path | None) -> "Plan":
    from hindwise.cli.supervisor import ports, temporal_server
    from hindwise.cli.supervisor.supervisor import Plan
    from hindwise.errors import InvalidInput
    from workflows.policies import SEARCH_ATTRIBUTES

    if ready_file is not None and not ready_file.expanduser().absolute().parent.is_dir():
        raise InvalidInput(f"the directory of --ready-file {ready_file} does not exist: make it first")
    if not settings.temporal_address:
        temporal_server.binary()  # a missing one is told before anything starts
    listening, port = ports.listen(settings.host, settings.port, explicit="port" in settings.model_fields_set)
    return Plan(
        data=directory,
        host=settings.host,
        port=port,
        listening=listening,
        auth=settings.auth,
        namespace=settings.temporal_namespace,
        search_attributes=[attribute.name for attribute in SEARCH_ATTRIBUTES],
        temporal_address=settings.temporal_address,
        temporal_ui_url=settings.temporal_ui_url,
        ready_file=ready_file.expanduser().absolute() if ready_file else None,
    )


async def _supervise(plan: "Plan", voice: "Voice") -> None:
    import asyncio

    from hindwise.cli.readiness import first_key, is_ready
    from hindwise.cli.supervisor.child import ChildGaveUp
    from hindwise.cli.supervisor.supervisor import Supervisor, Tell

    stop = asyncio.Event()
    supervisor = Supervisor(plan, Tell(voice.event, voice.ready), is_ready, lambda: first_key(plan.data))

    def asked_to_stop() -> None:
        if stop.is_set():
            supervisor.kill()  # asked twice: this person will not wait
            return
        stop.set()
        voice.stopping()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:  # `nohup hindwise up` means it
            loop.add_signal_handler(number, asked_to_stop)
    try:
        await supervisor.run(stop)
    except ChildGaveUp as error:
        if error.tail:
            console.err().print(error.tail, markup=False, style="dim")
        raise Ended(str(error), next_step="look at the lines above; `hindwise doctor` checks the rest") from error


@contextlib.contextmanager
def _readers_may_leave(stream: TextIO) -> Iterator[None]:
    """Once nobody reads a stream any more, what is written to it goes nowhere."""
    try:
        yield
        stream.flush()
    except (OSError, SystemExit):  # Rich asks for the end of the process at a broken pipe
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def own_command() -> str:
    """How a person calls us from the folder where we were started: by name where PATH has us, else by the way to our file."""
    here = Path(sys.argv[0])
    known = shutil.which("hindwise")
    if (known and Path(known).resolve() == here.resolve()) or here.name != "hindwise":
        return "hindwise"
    return shlex.quote(str(here.absolute().relative_to(Path.cwd()) if here.absolute().is_relative_to(Path.cwd()) else here))


class Voice:
    """What `up` tells a person, or with --json a script. A reader that went away, or a closed terminal, must not end what runs."""

    def __init__(self, lang: str, as_json: bool, plan: "Plan") -> None:
        self._lang = lang
        self._as_json = as_json
        self._plan = plan
        self._told_ready = False

    def _say(self, key: str, **values: object) -> str:
        return words.say(key, self._lang, **values)

    def _hint(self, text: str) -> None:
        with _readers_may_leave(sys.stderr):
            console.err().print(text, markup=False, style="dim")

    def starting(self, wanted: int) -> None:
        """Before anything runs."""
        self._hint(self._say("starting", data=self._plan.data))
        if wanted not in {0, self._plan.port}:
            self._hint(self._say("port", wanted=wanted, port=self._plan.port))

    def event(self, text: str) -> None:
        """Something happened to a child."""
        self._hint(text)

    def ready(self, told: "Running") -> None:
        """Everything answers; the first time with all links."""
        if self._told_ready and not self._as_json:
            self._hint(self._say("again"))
        else:
            with _readers_may_leave(sys.stdout):
                if self._as_json:
                    typer.echo(told.to_json())
                else:
                    self._links(told)
        self._told_ready = True

    def _links(self, told: "Running") -> None:
        data = "" if self._plan.data == Path(".hindwise").absolute() else f" --data {self._plan.data}"
        console.line(self._say("ready"), "bold green")
        console.pairs(
            {
                "API": told.api_url,
                "docs": f"{told.api_url}/docs",
                "Temporal": running.workflows_page(told.temporal_ui_url, self._plan.namespace),
                self._say("key"): str(self._plan.data / "api_key") if told.api_key else self._say("no_key"),
                self._say("data"): self._plan.data,
                self._say("logs"): self._plan.data / "logs",
                self._say("try"): self._say("try_line", command=own_command(), data=data),
            }
        )
        console.line(self._say("stop"), "dim")

    def stopping(self) -> None:
        """A signal came."""
        self._hint(self._say("stopping"))

    def stopped(self) -> None:
        """All children ended."""
        self._hint(self._say("stopped"))
