"""Long lists of wordings, searched quickly: a wording is only tried where words that it cannot do without occur.

`re` tries every wording at every place of a text. Which words a wording needs is read from the wording itself, so that whoever adds one
has nothing else to keep up.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

# No public module tells how an expression is understood; the tests compare what is read here with what `re` finds.
from re import _parser  # type: ignore[attr-defined]
from typing import Any

_ALIKE = {0x131: "i", 0x17F: "s", 0x307: None}
"""Letters that a search without regard to case takes for others, though small letters do not: ı, ſ, and what `İ` leaves when small."""

_MAX_CHOICES = 24
"""Of a sign: what may be said in more ways is looked for as a whole."""


class Cue:
    """An expression without regard to case, of alternatives separated by `|`. Searches as `re` would, and compiles what it needs."""

    def __init__(self, expression: str) -> None:
        """expression: without flags; its alternatives point at no group of each other. Raises re.error at the first search."""
        self.expression = expression

    def search(self, text: str) -> re.Match[str] | None:
        """What `re.search` finds."""
        return self.whole.search(text) if self.occurs(text) else None

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """What `re.finditer` yields."""
        return self.whole.finditer(text) if self.occurs(text) else iter(())

    def occurs(self, text: str) -> bool:
        """Whether `re.search` finds anything."""
        small, signs = text.lower(), self._english
        if not text.isascii():
            small, signs = small.translate(_ALIKE), self._signs
        tried: list[_Rule] = []
        # Plain loops: a generator would take longer than the search.
        for sign, rules in signs:
            if sign in small:
                for rule in rules:
                    if rule not in tried:
                        tried.append(rule)
                        if rule.pattern.search(text):
                            return True
        return False

    @cached_property
    def whole(self) -> re.Pattern[str]:
        """The expression, compiled."""
        return re.compile(f"(?i){self.expression}")

    @cached_property
    def _signs(self) -> tuple[tuple[str, tuple["_Rule", ...]], ...]:
        """Each sign with the alternatives that may match where it stands."""
        told: dict[str, list[_Rule]] = {}
        for alternative in alternatives(self.expression):
            rule = _Rule(alternative)
            for sign in signs_of(alternative):
                told.setdefault(sign, []).append(rule)
        return tuple((sign, tuple(rules)) for sign, rules in told.items())

    @cached_property
    def _english(self) -> tuple[tuple[str, tuple["_Rule", ...]], ...]:
        """Those that a text of ASCII letters can hold."""
        return tuple((sign, rules) for sign, rules in self._signs if sign.isascii())


class _Rule:
    """One alternative, compiled when it is first tried."""

    def __init__(self, alternative: str) -> None:
        self.alternative = alternative

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(f"(?i){self.alternative}")


def alternatives(expression: str) -> list[str]:
    """The parts of an expression between the `|` that stand in no bracket."""
    parts, depth = [""], 0
    for piece in re.findall(r"\\.|\[\^?\]?(?:\\.|[^\]])*\]|.", expression, re.DOTALL):
        depth += (piece == "(") - (piece == ")")
        if piece == "|" and depth == 0:
            parts.append("")
        else:
            parts[-1] += piece
    return parts


def signs_of(expression: str) -> tuple[str, ...]:
    """Return words, in small letters, of which any match of `expression` without regard to case holds one; ("",) where none are known."""
    found = _signs_in(_parser.parse(expression, re.IGNORECASE))
    # What holds another sign says nothing that the other does not.
    return tuple(sorted(sign for sign in found if not any(other in sign for other in found - {sign})))


def _signs_in(items: Sequence[Any]) -> set[str]:
    """The most telling signs among those of the items, all of which a match holds."""
    choices: list[set[str]] = [{""}]
    run = ""
    for kind, value in items:
        if kind is _parser.LITERAL:
            run += chr(value).lower()
            continue
        choices.append({run})
        run = ""
        if kind is _parser.BRANCH:
            choices.append(set().union(*(_signs_in(branch) for branch in value[1])))
        elif kind is _parser.SUBPATTERN:
            choices.append(_signs_in(value[3]))
        elif kind in (_parser.MAX_REPEAT, _parser.MIN_REPEAT) and value[0] > 0:
            choices.append(_signs_in(value[2]))
        elif kind is _parser.IN and all(sort is _parser.LITERAL for sort, _ in value):
            choices.append({chr(code).lower() for _, code in value})
    choices.append({run})
    return max((choice for choice in choices if len(choice) <= _MAX_CHOICES), key=_tells)


def _tells(signs: set[str]) -> tuple[int, int]:
    """How seldom the signs occur: by the shortest of them, then by their number. A Chinese character tells as much as three letters."""
    return min(len(sign) if sign.isascii() else 3 * len(sign) for sign in signs), -len(signs)
