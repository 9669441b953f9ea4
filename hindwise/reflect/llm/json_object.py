"""One JSON object out of what a model says: fences and talk around it removed, brackets closed where only they are missing.

It never completes a value. An answer that was cut inside a string or after a comma has lost something, and half a sentence must not
become a memory: that is unusable, and the model is asked again.
"""

import json
import re

from hindwise.errors import AnswerUnusable

_THINKING = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_CLOSER = {"{": "}", "[": "]"}


def parse_object(text: str) -> dict[str, object]:
    """Return the first JSON object in `text`. Raises AnswerUnusable where there is none, or only part of one."""
    body = _THINKING.sub("", text)
    start = body.find("{")
    if start < 0:
        raise AnswerUnusable("no JSON object in the answer" if body.strip() else "the answer is empty")
    candidate = _whole_object(body[start:])
    try:
        parsed = json.loads(candidate, strict=False)  # strict=False: raw line breaks inside strings are common and harmless
    except (ValueError, RecursionError):
        raise AnswerUnusable("the answer is not valid JSON") from None
    if not isinstance(parsed, dict):  # a text that begins with a brace parses to an object; this is for the type checker
        raise AnswerUnusable("the answer is not one JSON object")
    return parsed


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
