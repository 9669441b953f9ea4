"""The key by which episodes of one task find each other, and the mark by which a told brief is left out of it."""

import re
from collections.abc import Iterable

from hindwise.text.generalise import generalise

BRIEF_MARKER = "[hindwise brief"
"""Stands in the guide sentence of every brief. What follows it was told by us and is never learned from again."""

_BRIEF_END = re.compile(r"\[/hindwise brief\]|\n[ \t]*\n(?![ \t]*(?:\[|-|•|\d+\.|【))")
"""A brief ends at its end mark, or at an empty line that no heading or list item follows."""

_SIMULATOR_MARK = re.compile(r"\s*###\w+###\s*")

MAX_READ_CHARS = 2_000
"""Of the goal or the first words: what is longer is material, not the request."""

MAX_KEY_CHARS = 500


def without_briefs(text: str) -> str:
    """Return `text` without the spans that an injected brief takes, and without a simulator's end mark."""
    while BRIEF_MARKER in text:
        marker = text.index(BRIEF_MARKER)
        start = text.rfind("\n", 0, marker) + 1
        end = _BRIEF_END.search(text, marker)
        text = text[:start] + (text[end.end() :] if end else "")
    return _SIMULATOR_MARK.sub(" ", text).strip() if "###" in text else text.strip()


def task_key(goal: str, said: Iterable[str]) -> str:
    """Return the generalised task in at most 500 characters: of the goal, else of the user's first words that say something.

    `said`: the user's messages in order, read only as far as needed; briefs in them are left out. Empty where nothing was said.
    """
    first = goal.strip() or next((words for text in said if (words := without_briefs(text))), "")
    return generalise(first[:MAX_READ_CHARS])[:MAX_KEY_CHARS] if first else ""
