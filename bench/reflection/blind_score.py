"""Scores the answers to the blind sheet: which pairs are right, and which answers name something to do."""

import math
import re
from collections import Counter
from typing import Any

from hindwise.model.base import Model
from hindwise.text.tokens import tokens

_CAREFUL = re.compile(
    r"(?i)\b(?:be (?:more )?(?:careful|cautious|thorough|attentive|mindful)|take care|pay (?:more |close )?attention"
    r"|double[- ]check everything|do (?:it )?better|try harder|handle (?:it|this) (?:properly|correctly|carefully))\b"
    r"|小心|谨慎|仔细一?些|更认真|多注意"
)
_ACTION = re.compile(
    r"(?i)\b(?:ask|book|calculate|call|cancel|change|charge|check|compare|confirm|decline|deny|downgrade|end|explain|find|get|give|hand|include"
    r"|issue|keep|list|look|make|modify|move|obtain|offer|pay|process|query|read|rebook|refuse|refund|remove|retry|run|search|send|split|stop|tell"
    r"|transfer|try|update|upgrade|use|verify|wait)\b|[a-z]+_[a-z_]+"
)
_MIN_WORDS = 6


class Row(Model):
    """One lesson of the key: its opening's letter, both runs, and the words of both sides."""

    lesson: str
    opening: str
    source: str
    opening_of: str
    lesson_words: str
    opening_words: str


class Key(Model):
    """The right pairs, and how many lessons there were to choose from."""

    rows: tuple[Row, ...]
    lessons: int
    qualified: int
    tasks: int

    def by_words(self) -> int:
        """How many pairs are right when the two that share most (rare) words are paired first, then the next two."""
        told = [frozenset(tokens(row.lesson_words)) for row in self.rows]
        begun = [frozenset(tokens(row.opening_words)) for row in self.rows]
        seen = Counter(word for words in (*told, *begun) for word in words)
        order = sorted(
            ((-_shared(one, other, seen), i, j) for i, one in enumerate(told) for j, other in enumerate(begun)),
        )
        partner: dict[int, int] = {}
        for _, i, j in order:
            if i not in partner and j not in partner.values():
                partner[i] = j
        return sum(i == j for i, j in partner.items())


def _shared(one: frozenset[str], other: frozenset[str], seen: Counter[str]) -> float:
    total = sum(seen.values())
    common = sum(math.log(total / seen[word]) for word in one & other)
    return common / math.sqrt(max(1, len(one)) * max(1, len(other)))


def is_concrete(words: str, row: Row) -> bool:
    """Whether an answer names something to do: a verb of doing and a thing of its lesson, in some words, and not just "be careful"."""
    plain = _CAREFUL.sub("", words)
    things = frozenset(tokens(row.lesson_words)) | frozenset(tokens(row.opening_words))
    return len(plain.split()) >= _MIN_WORDS and _ACTION.search(plain) is not None and not things.isdisjoint(tokens(plain))


def chance_of(pairs: int, at_least: int) -> float:
    """How likely a random pairing has so many right: permutations with k fixed points are C(n, k) times the derangements of the rest."""
    ways = sum(math.comb(pairs, k) * _derangements(pairs - k) for k in range(at_least, pairs + 1))
    return ways / math.factorial(pairs)


def _derangements(n: int) -> int:
    return sum((-1) ** k * math.factorial(n) // math.factorial(k) for k in range(n + 1))


def score(key: Key, said: dict[str, Any], *, reader: str, goal: int = 14) -> dict[str, Any]:
    """Return the figures and every answer. A lesson without an answer is wrong; an opening that is named twice counts where it is right."""
    answers = {str(row["lesson"]).strip().upper(): row for row in said["answers"]}
    rows = []
    for row in key.rows:
        answer = answers.get(row.lesson, {})
        letter, words = str(answer.get("opening", "")).strip().upper(), str(answer.get("do_differently", "")).strip()
        rows.append(
            {
                "lesson": row.lesson,
                "said": letter,
                "opening": row.opening,
                "right": letter == row.opening,
                "concrete": is_concrete(words, row),
                "do_differently": words,
            }
        )
    return {
        "reader": reader,
        "pairs": len(rows),
        "right": sum(row["right"] for row in rows),
        "concrete": sum(row["concrete"] for row in rows),
        "both": sum(row["right"] and row["concrete"] for row in rows),
        "chance_of_goal": chance_of(len(rows), goal),
        "rows": rows,
    }
