"""What the audience sees: headings, a few lines, bars and a table with Rich; where the output is no terminal, plain lines."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hindwise.cli import demo_words

if TYPE_CHECKING:
    from rich.console import Console

_MAX_LINES = 8
_ROWS_PER_LINE = 2
"""Of a brief on stage: an act stays about one screen. An advice is never cut, only the remarks in brackets behind it."""
_WHOLE = 1_000
_PLAIN_CHARS = 240
_MORE = " …"
_BRACKETS = {")": "(", "）": "（"}
_LONGEST_WORD = 40
"""A longer word is broken where the row ends, and Chinese text always: it has no spaces to break at."""

Advance = Callable[[str, int], None]


class Stage:
    """Speaks one language to one console."""

    def __init__(self, console: "Console", lang: str) -> None:
        self.lang = lang
        self.began = time.monotonic()
        self._console = console
        self._is_live = console.is_terminal
        self._width = console.width

    def words(self, key: str, **values: Any) -> str:
        """One text in the audience's language, filled in."""
        return demo_words.say(key, self.lang, **values)

    def title(self, **values: Any) -> None:
        """How it begins."""
        self._console.print()
        self._plain(self.words("title"), "bold")
        self.say("intro", **values)

    def act(self, number: int, **values: Any) -> None:
        """Open an act: its heading and what happens in it."""
        from rich.rule import Rule
        from rich.text import Text

        self._console.print()
        heading = f"{number}/5  {self.words(f'act{number}')}"
        if self._is_live:
            self._console.print(Rule(Text(heading, style="bold"), align="left", style="dim"))
        else:
            self._plain(f"== {heading}")
        self.say(f"act{number}_what", **values)

    def say(self, key: str, **values: Any) -> None:
        """A line of narration."""
        self._plain(self.words(key, **values), "")

    def quote(self, label_key: str, text: str, *, at_most: int = _MAX_LINES, whole: bool = False, **values: Any) -> None:
        """Somebody's words, or a brief, set off by a margin; cut to the screen: `at_most` lines, two rows each.

        An advice in a brief takes the rows that it needs; with `whole` every line does.
        """
        self._plain(self.words(label_key, **values), "cyan")
        lines = [line for line in text.splitlines() if line.strip()] or [self.words("nothing")]
        for line in lines[:at_most]:
            for row in self._rows(line, _WHOLE if whole else _ROWS_PER_LINE):
                self._margin(row)
        if len(lines) > at_most:
            self._margin("…")

    def check(self, holds: bool, key: str, **values: Any) -> None:
        """A promise, and whether it held in this run."""
        self._plain(f"{'✓' if holds else '✗'} {self.words(key, **values)}", "green" if holds else "bold red")

    @contextmanager
    def bars(self, totals: dict[str, int]) -> Iterator[Advance]:
        """Show one bar per name (a key of the words); yields `set(name, done)`. Without a terminal: one line per bar, at the end."""
        done = dict.fromkeys(totals, 0)
        if not self._is_live:
            try:
                yield done.__setitem__
            finally:
                for name, total in totals.items():
                    self._plain(f"  {self.words(name)}: {done[name]}/{total}", "")
            return
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("  {task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=self._console) as progress:
            tasks = {name: progress.add_task(self.words(name), total=total) for name, total in totals.items()}
            yield lambda name, count: progress.update(tasks[name], completed=count)

    @contextmanager
    def waiting(self, key: str, **values: Any) -> Iterator[None]:
        """A spinner while something starts or stops."""
        if self._is_live:
            from rich.markup import escape

            with self._console.status(escape(self.words(key, **values))):
                yield
        else:
            self.say(key, **values)
            yield

    def table(self, title_key: str, rows: Sequence[tuple[str, str, str]]) -> None:
        """The figures: name, value, and what to hold it against."""
        from rich.table import Table
        from rich.text import Text

        self._console.print()
        made = Table(title=self.words(title_key), box=None, show_header=False, title_justify="left", title_style="bold", pad_edge=False)
        made.add_column(overflow="fold")
        made.add_column(no_wrap=True)
        made.add_column(overflow="fold")
        for name, value, beside in rows:
            made.add_row(Text(name), Text(value, style="bold"), Text(beside, style="dim"))
        self._console.print(made)

    def links(self, links: dict[str, str]) -> None:
        """Where to look."""
        for name, url in links.items():
            self._plain(f"{name}: {url}", "")

    def _plain(self, text: str, style: str = "") -> None:
        for line in text.splitlines():
            for row in fold(line, self._width) if self._is_live else [line]:
                self._console.print(row, style=style or None, markup=False, highlight=False)

    def _rows(self, line: str, at_most: int) -> list[str]:
        if self._is_live:
            return rows_of(line, self._width - 4, at_most)
        if at_most == _WHOLE:
            return [line]
        from rich.cells import cell_len

        return ["".join(rows_of(line, max(_PLAIN_CHARS, cell_len(advice_of(line) + _MORE)), 1))]

    def _margin(self, row: str) -> None:
        from rich.text import Text

        self._console.print(Text("  │ ", style="dim") + Text(row))


def advice_of(line: str) -> str:
    """Return an item of a brief (`- …`) without the remarks in brackets at its end; of any other line nothing."""
    if not line.startswith("- "):
        return ""
    opening = _BRACKETS.get(line[-1])
    depth = 0
    for at in range(len(line) - 1, 0, -1) if opening else ():
        depth += (line[at] == line[-1]) - (line[at] == opening)
        if depth == 0:
            return line[:at].rstrip()
    return line


def rows_of(line: str, width: int, at_most: int) -> list[str]:
    """Return `line` in at most so many rows of `width` cells, ended by … at a word where it is cut; the advice in it stays whole."""
    from rich.cells import cell_len

    rows = fold(line, width)
    advice = advice_of(line)
    keep = len(rows) if advice == line else max(at_most, len(fold(advice + _MORE, width)))
    if len(rows) <= keep:
        return rows
    last = rows[keep - 1]
    while last and cell_len(last + _MORE) > width:
        last = last[:-1] if " " not in last else last.rpartition(" ")[0]
    return [*rows[: keep - 1], last.rstrip() + _MORE]


def fold(text: str, width: int) -> list[str]:
    """Return `text` in rows of at most `width` cells (a Chinese character takes two), broken at spaces where one is near."""
    from rich.cells import cell_len

    rows, row, used = [], "", 0
    for char in text:
        if used + cell_len(char) > width and char == " ":
            rows.append(row)
            row, used = "", 0
            continue
        if used + cell_len(char) > width:
            cut = row.rfind(" ") + 1
            is_word = cell_len(row[cut:]) == len(row) - cut <= _LONGEST_WORD
            cut = cut if cut and is_word else len(row)
            rows.append(row[:cut].rstrip())
            row = row[cut:]
            used = cell_len(row)
        row += char
        used += cell_len(char)
    return [*rows, row]
