"""What the audience sees: headings, a few lines, bars and a table with Rich; where the output is no terminal, plain lines."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hindwise.cli import demo_words

if TYPE_CHECKING:
    from rich.console import Console

_MAX_LINES = 12
"""A brief on stage: an act stays about one screen."""

Advance = Callable[[str, int], None]


class Stage:
    """Speaks one language to one console."""

    def __init__(self, console: "Console", lang: str) -> None:
        self.lang = lang
        self.began = time.monotonic()
        self._console = console
        self._is_live = console.is_terminal

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

    def quote(self, label_key: str, text: str, **values: Any) -> None:
        """Somebody's words, or a brief, set off by a margin; long ones are cut to the screen."""
        from rich.text import Text

        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) > _MAX_LINES:
            lines = [*lines[:_MAX_LINES], "…"]
        self._plain(self.words(label_key, **values), "cyan")
        width = max(40, self._console.width - 6)
        for line in lines or [self.words("nothing")]:
            for piece in Text(line).wrap(self._console, width) if self._is_live else [Text(line)]:
                self._console.print(Text("  │ ", style="dim") + piece)

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

    def table(self, title_key: str, rows: Sequence[tuple[str, str]]) -> None:
        """The figures."""
        from rich.table import Table
        from rich.text import Text

        self._console.print()
        made = Table(title=self.words(title_key), box=None, show_header=False, title_justify="left", title_style="bold", pad_edge=False)
        for name, value in rows:
            made.add_row(Text(name), Text(value, style="bold"))
        self._console.print(made)

    def links(self, links: dict[str, str]) -> None:
        """Where to look."""
        for name, url in links.items():
            self._plain(f"{name}: {url}", "")

    def _plain(self, text: str, style: str = "") -> None:
        self._console.print(text, style=style or None, markup=False, highlight=False)
