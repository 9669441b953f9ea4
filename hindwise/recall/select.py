"""Which of the scored memories are told? One per slot, no two that say the same, few that nobody asked for. Pure."""

import math
from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from typing import NamedTuple

from hindwise.model.turn import Origin
from hindwise.recall.outline import Outlined
from hindwise.recall.profiles import Parts

BRIEF_PLACES = 8
STANDING_PLACES = 3
"""Of the brief's places, for items that are there only because they always hold."""
MAX_OF_ONE_ORIGIN = 2
"""Items that came out of tools, or off the web: what one page says ten times is told twice."""
BORN_OUTSIDE = (Origin.TOOL, Origin.WEB)
_NOVELTY = 0.3
"""Share of diversity in the choice; the rest is the score."""


class Scored(NamedTuple):
    """A memory that may be told. `words`: its distinct tokens. `relevant`: passed the gate, else it only stands."""

    memory: Outlined
    parts: Parts
    words: Set[str]
    relevant: bool
    slot: str | None = None
    scope_match: float = 0.0
    """Of a standing item: 1 = its scope is named in the question, 0.5 = it has none, 0 = another scope."""


@dataclass(slots=True)
class _Choice:
    limit: int
    taken: list[Scored] = field(default_factory=list)
    slots: set[str] = field(default_factory=set)
    born_outside: dict[Origin, int] = field(default_factory=lambda: dict.fromkeys(BORN_OUTSIDE, 0))

    def admits(self, item: Scored) -> bool:
        if item.slot is not None and item.slot in self.slots:
            return False
        return self.born_outside.get(item.memory.origin, 0) < MAX_OF_ONE_ORIGIN

    def take(self, item: Scored) -> None:
        self.taken.append(item)
        if (origin := item.memory.origin) in self.born_outside:
            self.born_outside[origin] += 1
        if item.slot is not None:
            self.slots.add(item.slot)


def select(items: Sequence[Scored], limit: int) -> list[Scored]:
    """Return at most `limit` items, the best first. The order depends on the items alone, not on the order they come in.

    Standing items that the question does not ask for take at most 3 of 8 places, the nearest scope and the most important first.
    """
    relevant = sorted((item for item in items if item.relevant), key=_by_score)
    standing = sorted((item for item in items if not item.relevant), key=_by_standing)
    choice = _Choice(limit)
    kept_free = min(STANDING_PLACES, max(1, limit * STANDING_PLACES // BRIEF_PLACES), len(standing))
    _take_diverse(choice, relevant, min(limit, BRIEF_PLACES) - kept_free)
    _take_standing(choice, standing, kept_free)
    _take_diverse(choice, relevant, limit)
    return sorted(choice.taken, key=_by_score)[:limit] if len(choice.taken) <= BRIEF_PLACES else _brief_first(choice.taken)


def _brief_first(taken: Sequence[Scored]) -> list[Scored]:
    """The eight that were chosen first stand in the brief; each part by score."""
    return sorted(taken[:BRIEF_PLACES], key=_by_score) + sorted(taken[BRIEF_PLACES:], key=_by_score)


def _take_standing(choice: _Choice, standing: Sequence[Scored], places: int) -> None:
    for item in standing:
        if places > 0 and len(choice.taken) < choice.limit and choice.admits(item):
            choice.take(item)
            places -= 1


def _take_diverse(choice: _Choice, items: Sequence[Scored], up_to: int) -> None:
    """Greedy maximal marginal relevance: each next one by its score, less for what a taken one says already.

    items: by score, the best first. Likeness only grows, and is compared no sooner than it may decide.
    """
    taken = choice.taken
    if len(taken) >= up_to:
        return
    held = {one.memory.id for one in taken}
    waiting = [_Waiting(item, (1 - _NOVELTY) * item.parts.score) for item in items if item.memory.id not in held]
    while waiting and len(taken) < up_to:
        best = _worthiest(waiting, taken)
        waiting.remove(best)
        if choice.admits(best.item):
            choice.take(best.item)


@dataclass(slots=True, eq=False)
class _Waiting:
    item: Scored
    most: float
    """Its worth where nothing that was taken is like it."""
    likeness: float = 0.0
    compared: int = 0
    """With so many of the taken ones, in their order."""

    def compare(self, taken: Sequence[Scored]) -> None:
        for other in taken[self.compared :]:
            self.likeness = max(self.likeness, _likeness(self.item, other))
        self.compared = len(taken)


def _worthiest(waiting: Sequence[_Waiting], taken: Sequence[Scored]) -> _Waiting:
    """The one of the highest worth; of equal ones the first, so that equal questions get equal answers."""
    best, highest = waiting[0], -math.inf
    for one in waiting:
        if one.most <= highest:
            break
        if one.most - _NOVELTY * one.likeness > highest:
            one.compare(taken)
            if (worth := one.most - _NOVELTY * one.likeness) > highest:
                best, highest = one, worth
    return best


def _likeness(one: Scored, other: Scored) -> float:
    if one.memory.kind is not other.memory.kind or not (shared := len(one.words & other.words)):
        return 0.0
    return shared / (len(one.words) + len(other.words) - shared)


def _by_score(item: Scored) -> tuple[float, float, str]:
    """Of equal ones the newest first."""
    return (-item.parts.score, -item.memory.recorded_at.timestamp(), item.memory.id)


def _by_standing(item: Scored) -> tuple[float, float, float, str]:
    return (-item.scope_match, -item.parts.relevance, -item.parts.importance, item.memory.id)
