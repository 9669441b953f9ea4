"""The key by which episodes of one task find each other, and the mark by which a told brief is left out of it."""

import re
from collections.abc import Iterable

from hindwise.text.generalise import generalise
from hindwise.text.lazy_re import lazy_re

BRIEF_MARKER = "[hindwise brief"
"""Stands in the guide sentence of every brief. What follows it was told by us and is never learned from again."""

_MARKER = lazy_re(re.escape(BRIEF_MARKER), re.IGNORECASE)
_BRIEF_END = lazy_re(r"\[/hindwise brief\]|\n[ \t]*\n(?![ \t]*(?:\[|-|•|\d+\.|【))")
"""A brief ends at its end mark, or at an empty line that no heading or list item follows."""

_TOLD_LINE = lazy_re(
    r"(?im)^.*(?:\bseen \d{1,2} [a-z]{3} \d{4}(?: in \d+ tasks)?; (?:this user's own|shared by this agent's users|from a (?:tool|web page))"
    r"|记于\d{4}年\d{1,2}月\d{1,2}日(?:，\d+次任务)?；(?:用户自己的|智能体共享|来自(?:工具|网页)))[)）][ \t]*(?:\n|$)"
)
"""A line of a brief by its closing words: a single line is pasted without the guide sentence."""

_SIMULATOR_MARK = lazy_re(r"(?:(?<!\s)\s++)?###\w++###\s*+")

MAX_READ_CHARS = 2_000
"""Of the goal or the first words: what is longer is material, not the request."""

MAX_KEY_CHARS = 500


def without_briefs(text: str) -> str:
    """Return `text` without the spans that an injected brief takes, and without a simulator's end mark."""
    while marker := _MARKER.search(text):
        start = text.rfind("\n", 0, marker.start()) + 1
        end = _BRIEF_END.search(text, marker.start())
        text = text[:start] + (text[end.end() :] if end else "")
    if "; " in text or "；" in text:
        text = _TOLD_LINE.sub("", text)
    return _SIMULATOR_MARK.sub(" ", text).strip() if "###" in text else text.strip()


def holds_brief(text: str) -> bool:
    """Whether some of `text` was told by us."""
    return _MARKER.search(text) is not None or _TOLD_LINE.search(text) is not None


def task_key(goal: str, said: Iterable[str]) -> str:
    """Return the generalised task in at most 500 characters: of the goal, else of the user's first words that say something.

    `said`: the user's messages in order, read only as far as needed; briefs in them are left out. Empty where nothing was said.
    """
    first = goal.strip() or next((words for text in said if (words := without_briefs(text))), "")
    return generalise(first[:MAX_READ_CHARS])[:MAX_KEY_CHARS] if first else ""
