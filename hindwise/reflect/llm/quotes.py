"""The words of the transcript that a model meant to quote: found by letters and digits, told as they stand there.

Small models copy nearly: other quotation marks, other blanks, a full stop too many, the number of the turn before. Such a quote is put
right by looking it up. Never by guessing: a word more, less or other is another quote, and the validators refuse it.
"""

import unicodedata
from collections.abc import Mapping

from hindwise.model.memory import MAX_SNIPPET_CHARS
from hindwise.reflect.llm.window import ShownTurn
from hindwise.safety.origin import OUTSIDE
from hindwise.text.clean import nfkc, one_line
from hindwise.text.language import language_of
from hindwise.text.remembered import remembered

_LEAST = {"en": 8, "zh": 4}
"""Letters and digits that a quote must have to be looked up; a shorter one stands in many places by chance."""
_LEAST_ELSEWHERE = {"en": 12, "zh": 6}
"""The same where it is looked for in turns that the model did not name."""
_SIGNS = frozenset("+-.,:/%")
"""Between or before digits they are part of a number: 1.5 is not 15, and -5 is not 5."""


def place_of(quote: str, numbers: list[int], shown: Mapping[int, ShownTurn]) -> tuple[int, str] | None:
    """Return the number of the turn that holds `quote` and the quote as it stands there; None where no turn, or no single one, does.

    numbers: the turns that the model named, looked at first: word for word, then by letters and digits. Else the one other turn of those
    shown that holds it, but never a turn of the user or the agent where tools and pages alone were named: by a slip nothing becomes the
    user's word.
    """
    wanted = one_line(nfkc(quote))
    if not wanted:
        return None
    exact = next((n for n in numbers if wanted in one_line(nfkc(shown[n].turn.text()))), None)
    if exact is not None:
        return exact, quote
    for number in numbers:
        if span := span_of(shown[number].turn.text(), quote):
            return number, span
    others = [(n, span) for n in shown if n not in numbers and (span := span_of(shown[n].turn.text(), quote, _LEAST_ELSEWHERE))]
    if len(others) != 1:
        return None
    comes_in = all(shown[number].turn.origin in OUTSIDE for number in numbers) and shown[others[0][0]].turn.origin not in OUTSIDE
    return None if comes_in else others[0]


def span_of(text: str, quote: str, least: Mapping[str, int] = _LEAST) -> str:
    """Return the stretch of `text` with the letters and digits of `quote` in its order, whole words only; "" where there is none."""
    wanted, _ = _spelt(quote)
    if len(wanted) < least[language_of(quote)]:
        return ""
    letters, places = _spelt(text)
    begin = letters.find(wanted)
    while begin >= 0:
        end = begin + len(wanted)
        first, last = places[begin], places[end - 1] + 1
        if _is_edge(text, first) and _is_edge(text, last):
            return text[first:last] if last - first <= MAX_SNIPPET_CHARS else ""
        begin = letters.find(wanted, begin + 1)
    return ""


@remembered(32)  # the turns of one episode are asked for each quote
def _spelt(text: str) -> tuple[str, tuple[int, ...]]:
    """Letters, digits and the signs of numbers, in small letters and usual width, and where each stands in `text`."""
    letters: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        for part in unicodedata.normalize("NFKC", char).casefold():
            if part.isalnum() or (part in _SIGNS and _in_number(text, place)):
                letters.append(part)
                places.append(place)
    return "".join(letters), tuple(places)


def _in_number(text: str, place: int) -> bool:
    return place + 1 < len(text) and text[place + 1].isdigit() and (text[place] in "+-" or (place > 0 and text[place - 1].isdigit()))


def _is_edge(text: str, place: int) -> bool:
    """Whether no word of letters goes on across `place`. Chinese has no edges between its words."""
    if place in (0, len(text)):
        return True
    return not (_joins(text[place - 1]) and _joins(text[place]))


def _joins(char: str) -> bool:
    return char.isalnum() and char.isascii()
