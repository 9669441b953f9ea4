"""What is the same thing said twice? Keys of slots, and of items without one."""

import re
import unicodedata

from hindwise.model.ids import digest
from hindwise.model.memory import SLOTTED, Words
from hindwise.text.values import normalise_value

_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")


def _fold(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def slot_key(words: Words) -> str | None:
    """Return (subject, attribute, scope) as one key; None for kinds without a slot.

    A todo and a fact about the same thing do not compete: the kind is part of the key, but a preference and an
    instruction share one, because a standing order replaces the liking it is about.
    """
    if words.kind not in SLOTTED or not words.attribute:
        return None
    family = "wish" if words.kind in {"preference", "instruction"} else str(words.kind)
    return "\x1f".join((family, _fold(words.subject) or "user", _fold(words.attribute), _fold(words.scope)))


def same_value(one: Words, other: Words) -> bool:
    """Whether two items of one slot say the same: numbers, units and dates normalised, negation kept; numbers never merge.

    Numbers count wherever they stand: "window seats near row 9" and "… row 20" have the value "window" and are not the same.
    """
    return _value(one) == _value(other)


def _value(words: Words) -> tuple[str, frozenset[str]]:
    value = normalise_value(words.value or words.conclusion)
    return value, frozenset(_NUMBER.findall(normalise_value(words.conclusion))) - frozenset(_NUMBER.findall(value))


def duplicate_key(words: Words) -> str:
    """Return the key under which an item without a slot meets its like: kind, conclusion and condition, folded."""
    return digest([str(words.kind), _fold(words.conclusion), _fold(words.applies_when)])
