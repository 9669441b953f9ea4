"""What is the same thing said twice? Keys of slots, and of items without one."""

import re
import unicodedata
from functools import cache
from typing import Final

from hindwise.model.ids import digest
from hindwise.model.memory import SLOTTED, Words
from hindwise.text.bilingual import concept_key, lexicon, same_in_both
from hindwise.text.values import normalise_value

FORM: Final = 1
"""Raise it with every change of code that makes other keys; a change of the lexicon tells itself."""

_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")


def _fold(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


@cache
def key_version() -> str:
    """What the keys of today are made with: the form and the lexicon, as 64 hex digits. The ledger keeps it with each space."""
    return digest([FORM, lexicon()])


def slot_key(words: Words) -> str | None:
    """Return (subject, attribute, scope) as one key; None for kinds without a slot.

    A todo and a fact about the same thing do not compete: the kind is part of the key, but a preference and an
    instruction share one, because a standing order replaces the liking it is about. What is said in English and in Chinese meets where
    the lexicon of `hindwise.text.bilingual` knows every word of it.
    """
    if words.kind not in SLOTTED or not words.attribute:
        return None
    family = "wish" if words.kind in {"preference", "instruction"} else str(words.kind)
    parts = (concept_key(_fold(part), _beside(words)) for part in (words.attribute, words.scope))
    return "\x1f".join((family, _subject(words.subject), *parts))


def _subject(subject: str) -> str:
    folded = _fold(subject)
    return "user" if folded in {"", "用户", "我"} else concept_key(folded)


def _beside(words: Words) -> frozenset[str]:
    """Words that say no more than that something is a todo: "still have to book …" and "remind me to book …" are one."""
    return frozenset({"undone", "remind"}) if words.kind == "todo" else frozenset()


def same_value(one: Words, other: Words) -> bool:
    """Whether two items of one slot say the same, also one in English and one in Chinese. Units and dates are normalised, negation is kept.

    Numbers never merge, and count wherever they stand: "window seats near row 9" and "… row 20" have the value "window" and differ.
    """
    value, beside = _value(one)
    other_value, other_beside = _value(other)
    if beside != other_beside:
        return False
    return value == other_value or same_in_both(value, other_value, _beside(one) & _beside(other))


def _value(words: Words) -> tuple[str, frozenset[str]]:
    value = normalise_value(words.value or words.conclusion)
    return value, frozenset(_NUMBER.findall(normalise_value(words.conclusion))) - frozenset(_NUMBER.findall(value))


def duplicate_key(words: Words) -> str:
    """Return the key under which an item without a slot meets its like: kind, conclusion and condition, folded."""
    return digest([str(words.kind), _fold(words.conclusion), _fold(words.applies_when)])
