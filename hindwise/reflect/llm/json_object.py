"""One JSON object out of what a model says: thoughts, fences and talk around it removed, brackets closed where only they are missing.

It never completes a value. An answer that was cut inside a string or after a comma has lost something, and half a sentence must not
become a memory: that is unusable, and the model is asked again. Punctuation of Chinese typing around the words is read as what it
stands for; inside of the words it is left alone.
"""

import json
import re
from collections.abc import Iterator
from typing import NoReturn

from hindwise.errors import AnswerUnusable
from hindwise.text.lazy_re import lazy_re

_THINKING = lazy_re(r"<think(?:ing)?>", re.IGNORECASE)
_THOUGHT_ENDS = lazy_re(r"</think(?:ing)?>", re.IGNORECASE)
_THOUGHT = lazy_re(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_CLOSER = {"{": "}", "[": "]"}
_NARROW = str.maketrans("｛｝［］【】：，　＂", '{}[][]:, "')
_WIDE = "｛［【“＂：，"
_UNESCAPED, _ESCAPED = lazy_re(r'(?<!\\)"'), r'\\"'
_OPENING, _CLOSING = "“”＂„", "”“＂"
_AFTER_TEXT = lazy_re(r"\s*(?:[:：,，}\]｝］】]|$)")


def parse_object(text: str) -> dict[str, object]:
    """Return the first JSON object in what follows the thoughts. Raises AnswerUnusable where there is none, or only part of one."""
    fault = AnswerUnusable("no JSON object in the answer")
    for number, body in enumerate(_readings(text)):
        try:
            return _first_object(body)
        except AnswerUnusable as error:
            fault = error if number == 0 else fault
    raise fault


def _readings(text: str) -> Iterator[str]:
    """The ways to read it, the likeliest first."""
    plain = _without_thoughts(text)
    if not plain.lstrip().startswith(("{", "```")):  # the server took the first tag away: what comes before the second is no answer
        plain = _THOUGHT.sub("", plain)
    if next((char for char in plain if char in "{｛"), "") != "｛":  # else a narrow brace stands somewhere inside of the words
        yield plain
    if any(mark in plain for mark in _WIDE):
        yield _narrow(plain)


def _without_thoughts(text: str) -> str:
    """`text` without what stands between the tags. By position: a pattern would look for the end once per tag that has none."""
    parts: list[str] = []
    position = 0
    while (begin := _THINKING.search(text, position)) and (end := _THOUGHT_ENDS.search(text, begin.end())):
        parts.append(text[position : begin.start()])
        position = end.end()
    return "".join([*parts, text[position:]])


def _first_object(body: str) -> dict[str, object]:
    start = body.find("{")
    if start < 0:
        raise AnswerUnusable("no JSON object in the answer" if body.strip() else "the answer is empty")
    candidate = _whole_object(body[start:])
    try:
        # strict=False: raw line breaks inside strings are common and harmless
        parsed = json.loads(candidate, strict=False, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise AnswerUnusable("the answer is not valid JSON") from None
    if not isinstance(parsed, dict):  # a text that begins with a brace parses to an object; this is for the type checker
        raise AnswerUnusable("the answer is not one JSON object")
    return parsed


def _no_number(name: str) -> NoReturn:
    """NaN and Infinity, which Python reads and JSON does not know."""
    raise ValueError(f"{name} is no JSON")


def _narrow(text: str) -> str:
    """Wide brackets, colons, commas and quotation marks around the words as JSON has them; the words as they are."""
    start = next((place for place, char in enumerate(text) if char in "{｛"), len(text))
    told: list[str] = []
    endless = ""  # where one has no end, those of its sort behind it have none either
    place = start
    while place < len(text):
        char = text[place]
        opens = (char == '"' or char in _OPENING) and char not in endless
        end = _end_of_text(text, place) if opens else place
        if opens and end == place:
            endless += '"' if char == '"' else _OPENING
        if end > place:
            words = text[place + 1 : end]
            # Between wide marks nobody escapes a narrow one.
            told.append(f'"{words}"' if char == '"' else f'"{_UNESCAPED.sub(_ESCAPED, words)}"')
            place = end + 1
        else:
            told.append(char.translate(_NARROW))
            place += 1
    return "".join(told)


def _end_of_text(text: str, begin: int) -> int:
    """Where the text that begins at `begin` ends; `begin` where it does not."""
    place = begin + 1
    while place < len(text):
        if text[begin] == '"':
            if text[place] == "\\":
                place += 1
            elif text[place] == '"':
                return place
        elif text[place] in _CLOSING and _AFTER_TEXT.match(text, place + 1):
            return place
        place += 1
    return begin


def _whole_object(text: str) -> str:
    """Cut `text` after its first object, or close the brackets that are still open. Raises AnswerUnusable when cut inside a value."""
    open_brackets: list[str] = []
    in_string = escaped = False
    for position, char in enumerate(text):
        if in_string:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                in_string = False
        elif char == '"':
            in_string = True
        elif char in _CLOSER:
            open_brackets.append(_CLOSER[char])
        elif open_brackets and char == open_brackets[-1]:
            open_brackets.pop()
            if not open_brackets:
                return text[: position + 1]
    rest = text.rstrip().removesuffix("```").rstrip()
    if in_string or not rest.endswith(("]", "}", '"')):
        raise AnswerUnusable("the answer ends in the middle: it was cut, so its last part is lost")
    return rest + "".join(reversed(open_brackets))
