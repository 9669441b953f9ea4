"""Options that many commands share, and how settings are read with what was given on the command line."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from hindwise.settings import Settings

Data = Annotated[
    Path | None, typer.Option("--data", help="Data directory. Default: HINDWISE_DATA, else .hindwise here.", show_default=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document, for scripts.")]


def _not_blank(context: typer.Context, option: typer.CallbackParam, value: str) -> str:
    """An empty variable of a script must not read or write in the space of somebody else."""
    if not value.strip() and option.name and getattr(context.get_parameter_source(option.name), "name", "") == "COMMANDLINE":
        raise typer.BadParameter("it is empty: give an id, or leave the option out")
    return value


def an_id(value: str) -> str:
    """The value of an argument that names one thing. Raises typer.BadParameter for an empty one: it would name the list of all."""
    if not value.strip():
        raise typer.BadParameter("it is empty: give an id")
    return value


User = Annotated[str, typer.Option("--user", "-u", help="Whose memory: the user's id.", show_default=False, callback=_not_blank)]
Agent = Annotated[
    str, typer.Option("--agent", "-a", help="The agent whose shared lessons are meant.", show_default=False, callback=_not_blank)
]
_WITHOUT_ANY = "Default, without --user and --agent: the user `default`."
OwnUser = Annotated[
    str,
    typer.Option("--user", "-u", help=f"Whose memory: the user's id. {_WITHOUT_ANY}", show_default=False, callback=_not_blank),
]
"""For commands that mean the user `default` where nobody is named."""
Url = Annotated[str, typer.Option("--url", help="The API's address. Default: the one that runs in the data directory.", show_default=False)]
Key = Annotated[str, typer.Option("--key", help="API key. Default: HINDWISE_API_KEY, else the data directory's.", show_default=False)]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, max=200, help="At most so many.")]


def examples(*lines: str) -> str:
    """The closing part of a command's help."""
    return "\n\n".join(["Examples:", *(f"  {line}" for line in lines)])


def settings_with(**given: Any) -> "Settings":
    """Read the settings; what was given on the command line (not None) wins. Raises pydantic.ValidationError."""
    from hindwise.settings import Settings

    return Settings(**{name: value for name, value in given.items() if value is not None})
