"""What a person says of a memory, made fit to be kept: what the review doors share."""

from typing import Any

from api.bodies import EditBody
from api.storing import Storing
from hindwise.model.memory import SLOTTED, Memory
from hindwise.reflect.rules.statements import classify_statement

_LINES = {"conclusion": 160, "subject": 200, "attribute": 200, "scope": 200, "applies_when": 500, "not_when": 500}


def new_words(body: EditBody, memory: Memory, storing: Storing) -> dict[str, Any]:
    """Return the fields to change, secrets masked. A new conclusion without a value brings its own, so that both say the same."""
    words: dict[str, Any] = {
        name: storing.line(getattr(body, name), most) for name, most in _LINES.items() if getattr(body, name) is not None
    }
    words |= {name: getattr(body, name) for name in ("kind", "importance") if getattr(body, name) is not None}
    if body.retrospective is not None:
        words["retrospective"] = storing.json(body.retrospective.model_dump())
    kind = words.get("kind", memory.kind)
    if body.value is not None:
        words["value"] = storing.text(body.value)[:1_000]
    elif words.get("conclusion") and words["conclusion"] != memory.conclusion and kind in SLOTTED:
        words["value"] = _value_of(words["conclusion"], words.get("attribute", memory.attribute))
    return words


def _value_of(conclusion: str, attribute: str) -> str:
    """As read from the sentence where it is about the same attribute, else the sentence itself."""
    read = classify_statement(conclusion)
    return read.value if read.attribute == attribute and read.value else conclusion
