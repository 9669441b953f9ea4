"""What commands print: JSON for scripts, Rich for people. Rich is made when it is first needed."""

import json
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


_PIPE_WIDTH = 400


@cache
def _console(stderr: bool) -> "Console":
    from rich.console import Console

    # Into a pipe lines are as long as they are: whoever reads them there wants whole ids, not a picture.
    piped = not (sys.stderr if stderr else sys.stdout).isatty()
    return Console(stderr=stderr, highlight=False, soft_wrap=piped, width=_PIPE_WIDTH if piped else None)


def out() -> "Console":
    """The console for results."""
    return _console(False)


def err() -> "Console":
    """The console for progress and hints, which must not end up in a pipe."""
    return _console(True)


def print_json(document: Any) -> None:
    """Print one JSON document, indented, letters as they are where the output can show all of them, else in escapes that JSON knows."""
    shows_all = (sys.stdout.encoding or "utf-8").lower() == "utf-8"
    sys.stdout.write(json.dumps(document, ensure_ascii=not shows_all, indent=2, default=str) + "\n")


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]], *, title: str = "") -> None:
    """Print a plain table. Values are printed as they are: brackets in a memory are no markup."""
    from rich.markup import escape
    from rich.table import Table

    made = Table(title=title or None, box=None, pad_edge=False, header_style="bold", title_justify="left")
    for column in columns[:-1]:
        made.add_column(column, no_wrap=True)  # ids and states stay whole, so that they can be copied
    made.add_column(columns[-1], overflow="fold")
    for row in rows:
        made.add_row(*(escape(str(cell)) for cell in row))
    out().print(made)


def pairs(values: Mapping[str, Any]) -> None:
    """Print names and values below each other; empty values are left out."""
    from rich.markup import escape

    shown = {name: value for name, value in values.items() if value not in (None, "", [], {}, ())}
    width = max((len(name) for name in shown), default=0)
    for name, value in shown.items():
        out().print(f"[dim]{name.ljust(width)}[/dim]  {escape(str(value))}")


def line(text: str, style: str = "") -> None:
    """Print a line as it is, without markup."""
    out().print(text, markup=False, style=style or None)


def short_time(wire: str | None) -> str:
    """A time of the API in the reader's own zone, to the minute; empty for none."""
    if not wire:
        return ""
    return datetime.fromisoformat(wire).astimezone().strftime("%Y-%m-%d %H:%M")
