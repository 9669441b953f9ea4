"""The tree of commands. Every module offers `register(app)`; none imports anything heavy before its command runs."""

from typing import Annotated

import typer

from hindwise.cli import (
    demo,
    doctor,
    erase,
    keys,
    memories,
    migrate,
    options,
    reflect,
    reflections,
    reindex,
    rerun,
    review,
    roles,
    sessions,
    setup_temporal,
    status,
    up,
)

app = typer.Typer(
    name="hindwise",
    help="Hindsight for agents: durable reflections in, short briefs out.",
    epilog=options.examples(
        "hindwise up", "hindwise reflect run.json --user ana --outcome failure", "hindwise recall 'book a flight' --user ana"
    ),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"hindwise {version('hindwise')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")] = False,
) -> None:
    """Hindsight for agents: durable reflections in, short briefs out."""


for module in (
    up,
    demo,
    status,
    reflect,
    memories,
    review,
    sessions,
    reflections,
    rerun,
    erase,
    keys,
    doctor,
    migrate,
    reindex,
    roles,
    setup_temporal,
):
    module.register(app)
