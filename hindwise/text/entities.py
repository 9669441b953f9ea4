"""The particular things a text names: ids, dates, amounts, addresses, quoted words, names. Overlap of entities ties memories together."""

import re

from hindwise.text import particulars as p
from hindwise.text.clean import nfkc

MAX_ENTITIES = 30
_MAX_CHARS = 80

_WHOLE = (p.URL, p.EMAIL, p.UUID, p.DATE, p.TIME, p.MONEY, p.CODE, p.IDENTIFIER, p.NUMBER, p.TITLED_NAME_ZH)
_TRAILING = " .,;:!?，。；：！？"


def entities(text: str) -> tuple[str, ...]:
    """Return at most 30 distinct entities, NFKC and lower case, in order of appearance.

    Nothing overlaps: within "2026-05-01" the numbers are not told again. Deterministic and light; no model is asked.
    """
    folded = nfkc(text)
    found: list[tuple[int, str]] = []
    taken = [False] * len(folded)
    for start, end in _spans(folded):
        if not any(taken[start:end]):
            taken[start:end] = [True] * (end - start)
            found.append((start, folded[start:end].strip(_TRAILING).lower()[:_MAX_CHARS]))
    return tuple(dict.fromkeys(name for _, name in sorted(found) if name))[:MAX_ENTITIES]


def _spans(text: str) -> list[tuple[int, int]]:
    """Spans by the sureness of their pattern: what comes first keeps its place."""
    spans = [match.span() for match in p.QUOTED.finditer(text)]
    spans = [(start + 1, end - 1) for start, end in spans]
    for pattern in _WHOLE:
        spans += [match.span() for match in pattern.finditer(text)]
    for pattern in p.CHINESE_NAMES:
        spans += [match.span("name") for match in pattern.finditer(text)]
    spans += [match.span(2) for match in p.CUED_NAME_EN.finditer(text)]
    spans += [_name_span(match) for match in p.NAME_EN.finditer(text) if not only_known_words(match.group())]
    spans += _lone_names(text)
    return spans


def _name_span(match: re.Match[str]) -> tuple[int, int]:
    """Of three and more words that open a sentence the first is capitalised for that reason ("Update Mia Li's address")."""
    before = match.string[: match.start()].rstrip()
    opens = not before or before[-1] in ".!?:\n"
    words = match.group().split(" ")
    return (match.start() + len(words[0]) + 1 if opens and len(words) > 2 else match.start()), match.end()


_LONE = re.compile(r"(?<=[a-z,;] )[A-Z][a-zA-Z]+(?![a-zA-Z])|(?<![A-Za-z])[A-Z]{2,6}(?![A-Za-z])")


def _lone_names(text: str) -> list[tuple[int, int]]:
    """Capitalised words inside of a sentence and acronyms."""
    return [match.span() for match in _LONE.finditer(text) if match.group().lower() not in {"i", "the", "a"}]


def only_known_words(name: str) -> bool:
    """Whether one of the words says what, not who ("Visual Studio Code", "Monday Morning")."""
    return any(word.lower() in p.NOT_NAMES for word in re.split("[ -]", name))
