"""`hindwise demo`: five acts on real runs, against its own Hindwise in its own directory. Every promise is checked while it is made."""

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from hindwise.cli import console, exits, options
from hindwise.cli.exits import Ended
from hindwise.cli.interrupted import ended_like_ctrl_c

if TYPE_CHECKING:
    from hindwise.cli.demo_server import Played, Server
    from hindwise.cli.demo_stage import Stage
    from hindwise.cli.running import Running

_EXAMPLES = options.examples("hindwise demo", "hindwise demo --keep --data ./demo-data", "DEMO_LANG=zh hindwise demo")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=_EXAMPLES)(demo)


def demo(
    keep: Annotated[bool, typer.Option("--keep", help="Leave it running, and its data where they are.")] = False,
    data: Annotated[
        Path | None,
        typer.Option("--data", help="An empty directory to use and to leave behind. Default: a temporary one.", show_default=False),
    ] = None,
    lang: Annotated[
        Literal["en", "zh"] | None, typer.Option(help="Language. Default: DEMO_LANG, else the locale's.", show_default=False)
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Show it at work on real runs: five acts, under three minutes, nothing left behind. Exit code 1 when a promise does not hold."""
    from hindwise.cli import demo_words
    from hindwise.cli.demo_server import Server
    from hindwise.cli.demo_stage import Stage

    stage = Stage(console.err() if as_json else console.out(), demo_words.language(lang or ""))
    with _directory(data, keep=keep) as place, ended_like_ctrl_c():
        server = Server(place, keep=keep)
        try:
            figures, promises, links = perform(stage, server)
        except KeyboardInterrupt:
            stage.say("interrupted")
            server.stop()
            raise
        except BaseException:
            server.stop()
            raise
        if keep:
            found = server.look()
            stage.say("kept", key_file=place / "api_key", pid=found.pid if found else "?", data=place)
        else:
            promises["stopped"] = _stop(stage, server)
    if as_json:
        console.print_json({"figures": figures, "promises": promises, "links": links})
    if not all(promises.values()):
        stage.say("broken")
        raise typer.Exit(exits.FAILED)


def perform(stage: "Stage", server: "Played") -> tuple[dict[str, object], dict[str, bool], dict[str, str]]:
    """Start, play the acts, show the table. Returns figures, promises and links."""
    from hindwise.cli import demo_again, demo_arrivals, demo_data, demo_minds, running
    from hindwise.cli.client import ApiClient, Target
    from hindwise.cli.demo_show import Show

    place = demo_data.folder()
    runs = demo_data.load_runs(place)
    stage.title(runs=len(runs), failed=sum(run.failed for run in runs))
    began = time.monotonic()
    found = opened(stage, server, began)
    with ApiClient(Target(found.api_url, found.api_key)) as api:
        show = Show(stage, server, api, place, runs)
        for act in (
            demo_arrivals.runs_come_in,
            demo_arrivals.worker_is_killed,
            demo_minds.user_changes_mind,
            demo_minds.dify_run_fails,
            demo_again.second_attempts,
        ):
            act(show)
        dify = demo_data.load_dify_failure(place)["run"]
        own = demo_data.load_own_run(place, stage.lang) or {"user_id": demo_minds.USER, "agent_id": demo_data.AGENT}
        users = sorted({*(run.user_id for run in runs), demo_minds.USER, dify["user_id"], own["user_id"]})
        agents = sorted({demo_data.AGENT, dify["app_id"], own["agent_id"]})
        demo_again.closing_table(show, users, agents, time.monotonic() - began)
    # Addresses that are closed a moment later would only mislead.
    links = (
        {
            "Temporal UI": running.workflows_page(found.temporal_ui_url, options.settings_with(data=server.data).temporal_namespace),
            "API": f"{found.api_url}/docs",
        }
        if server.keep
        else {}
    )
    stage.links(links)
    if server.keep_with:
        stage.say("not_kept", command=server.keep_with)
    return show.figures, show.promises, links


def opened(stage: "Stage", server: "Played", began: float) -> "Running":
    """Start the server, or say that it runs already; where it is found. Raises Ended when it does not come up."""
    if not server.starts:
        found = server.wait_ready()
        stage.say("runs_already", url=found.api_url)
        return found
    with stage.waiting("starting", data=server.data):
        server.start()
        found = server.wait_ready()
    stage.say("ready", seconds=time.monotonic() - began, url=found.api_url)
    return found


def _stop(stage: "Stage", server: "Server") -> bool:
    with stage.waiting("stopping"):
        left = server.stop()
    if left:
        stage.say("left", pids=", ".join(map(str, left)))
    else:
        stage.say("stopped")
    return not left


@contextmanager
def _directory(asked: Path | None, *, keep: bool) -> Iterator[Path]:
    """The demo's directory: the one asked for, which stays; else a temporary one, which goes unless kept. Raises Ended if not empty."""
    if asked is not None:
        place = asked.expanduser().absolute()
        place.mkdir(parents=True, exist_ok=True)
        if any(place.iterdir()):
            raise Ended(f"{place} is not empty: the demo counts what it finds there", next_step="name an empty directory", code=exits.USAGE)
        yield place
        return
    place = Path(tempfile.mkdtemp(prefix="hindwise-demo-"))
    try:
        yield place
    finally:
        if not keep:
            shutil.rmtree(place, ignore_errors=True)
