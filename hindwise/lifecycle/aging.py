"""Decay and due dates (DESIGN section 8). Exact at read time; upkeep stores a coarse copy for filters."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from hindwise.model.memory import LAYER, Kind, Memory


@dataclass(frozen=True, slots=True)
class AgingRules:
    """Thresholds in days, from the settings."""

    half_life_episodic: float = 30.0
    half_life_lesson: float = 90.0
    expire_episodic: int = 30
    expire_semantic: int = 365
    archive_after: int = 180
    review_after: int = 90


_DAY = timedelta(days=1)


class Aging(Protocol):
    """What of a memory decides how it fades and when its time is over; a `Memory` is one."""

    @property
    def kind(self) -> Kind:
        """As of `Memory`."""

    @property
    def recorded_at(self) -> datetime:
        """As of `Memory`."""

    @property
    def last_recalled_at(self) -> datetime | None:
        """As of `Memory`."""

    @property
    def helpful(self) -> int:
        """As of `Memory`."""

    @property
    def pinned(self) -> bool:
        """As of `Memory`."""

    @property
    def confirmed_by(self) -> str:
        """As of `Memory`."""

    @property
    def expires_at(self) -> datetime | None:
        """As of `Memory`."""


def half_life_days(memory: Aging, rules: AgingRules) -> float | None:
    """Half-life in days; None = does not fade. Lessons double it with each confirmed use (at most 8 times)."""
    if memory.pinned:
        return None
    # One by one: to look for a member in a set takes several times as long, and each recall asks dozens of times.
    kind = memory.kind
    if kind is Kind.LESSON:
        return rules.half_life_lesson * 2.0 ** min(memory.helpful, 8)
    if kind is Kind.SNIPPET or kind is Kind.EVENT:
        return rules.half_life_episodic
    return None


def decay(memory: Aging, rules: AgingRules, now: datetime) -> float:
    """Return 0.5 ^ (age / half-life), age from the later of recording and last confirmed use; 1.0 for what does not fade.

    Falls with age, rises with use, never above 1 (a clock that runs behind counts as age 0).
    """
    days = half_life_days(memory, rules)
    if days is None:
        return 1.0
    born = max(memory.recorded_at, memory.last_recalled_at or memory.recorded_at) if memory.helpful else memory.recorded_at
    age = max(0.0, (now - born) / _DAY)
    return float(0.5 ** (age / days))


@dataclass(frozen=True, slots=True)
class Due:
    """When a memory is looked at again and when it ends; None = never by itself."""

    review_at: datetime | None
    expires_at: datetime | None


def due_dates(memory: Memory, rules: AgingRules) -> Due:
    """Set the dates of a new or confirmed memory, counted from its recording."""
    if memory.pinned or memory.confirmed_by:
        return Due(None, None)
    layer = LAYER[memory.kind]
    if layer == "episodic":
        return Due(None, memory.recorded_at + rules.expire_episodic * _DAY)
    if layer == "semantic":
        return Due(memory.recorded_at + rules.review_after * _DAY, memory.recorded_at + rules.expire_semantic * _DAY)
    return Due(memory.recorded_at + rules.review_after * _DAY, None)


def is_expired(memory: Aging, now: datetime) -> bool:
    """Whether its time is over. Pinned and confirmed memories do not expire."""
    return not memory.pinned and not memory.confirmed_by and memory.expires_at is not None and memory.expires_at <= now


def is_archivable(memory: Memory, rules: AgingRules, now: datetime) -> bool:
    """Whether it was not recalled for so long that it leaves the index."""
    last = max(memory.recorded_at, memory.last_recalled_at or memory.recorded_at)
    return not memory.pinned and last + rules.archive_after * _DAY <= now
