"""What was JSON stays JSON behind the mask, and keeps all of its parts: no name twice in an object, no mask without quotation marks."""

import json
import re
from collections.abc import Iterable
from typing import Any

from hindwise.text.lazy_re import lazy_re

_TOKEN = lazy_re(r"\"(?:[^\"\\]|\\.)*+\"?|[{}\[\]]", re.DOTALL)
"""A string, closed or not (one that is not ends with the text: nothing is read twice), or a bracket."""
_NAME_ENDS = lazy_re(r"\s{0,8}:")
_LIST = lazy_re(r"\[(?!masked:)(?:[^\[\]{}]|\[masked:[a-z-]{1,20}\])*+\](?!\()")
_ITEM = lazy_re(r"(\s*)(?:(\[masked:[a-z-]{1,20}\])|-?\d[\d.eE+-]*|\"(?:[^\"\\]|\\.)*+\"|true|false|null)(\s*)(?:,|$)", re.DOTALL)


class Names:
    """The names within one object, each told apart from those before."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._counted: dict[str, int] = {}

    def apart(self, name: str) -> str:
        """Return `name`, with a number behind it where it is there already: `[masked:phone] 2`."""
        told = name
        while told in self._seen:
            self._counted[name] = self._counted.get(name, 1) + 1
            told = f"{name} {self._counted[name]}"
        self._seen.add(told)
        return told


def object_of(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return all pairs as one object: a name that comes again is numbered, so that none of the values is lost."""
    names = Names()
    return {names.apart(name): value for name, value in pairs}


def is_json(text: str) -> bool:
    """Whether `text` is JSON from its first letter to its last."""
    try:
        json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return False
    return True


def still_json(text: str) -> str:
    """Return the masked `text` with its masks fit for JSON: those in lists as strings, and those that are names told apart."""
    around: list[Names | None] = []
    parts: list[str] = []
    position = 0
    for token in _TOKEN.finditer(text) if "{" in text or text.count("[") > text.count("[masked:") else ():
        first, told, end = token[0][0], None, token.end()
        if token.start() < position:
            continue  # within a list that was written anew
        if first in "{[":
            around.append(Names() if first == "{" else None)
            if first == "[" and (list_of := _LIST.match(text, token.start())):
                told, end = _with_strings(list_of), list_of.end()
                around.pop()
        elif first in "}]":
            around[-1:] = []
        elif around and (names := around[-1]) and "[masked:" in token[0] and _NAME_ENDS.match(text, token.end()):
            told = f'"{names.apart(token[0][1:-1])}"'
        if told is not None:
            parts += [text[position : token.start()], told]
            position = end
    return "".join([*parts, text[position:]])


def _with_strings(match: re.Match[str]) -> str:
    inner, position, parts = match[0][1:-1], 0, list[str]()
    bare = False
    while position < len(inner):
        item = _ITEM.match(inner, position)
        if item is None:
            return match[0]  # brackets of prose
        bare = bare or item[2] is not None
        piece = item[0] if item[2] is None else item[0].replace(item[2], f'"{item[2]}"')
        parts.append(piece)
        position = item.end()
    return f"[{''.join(parts)}]" if bare else match[0]
