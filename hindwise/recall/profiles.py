"""How much does a memory matter to this question, all in all? Every part is kept, so that a person can check the sum. Pure."""

from datetime import datetime
from typing import NamedTuple

from hindwise.lifecycle.aging import AgingRules, decay
from hindwise.model.assembled import assembled
from hindwise.model.brief import Profile, ScoreParts
from hindwise.model.memory import Status
from hindwise.recall.outline import Outlined

RELEVANCE, IMPORTANCE, HITS = 0.5, 0.3, 0.2
"""Weights of `balanced`."""
_HALF_OF_HITS = 5
"""Tasks after which use counts half of what it can count."""
PENDING_WEIGHT = 0.5
"""What awaits a person's word counts half."""


class Parts(NamedTuple):
    """What a score is made of; fields as of `ScoreParts`, not rounded."""

    lexical: float
    cosine: float
    fused: float
    relevance: float
    importance: float
    decay: float
    hits: float
    standing: bool
    score: float


def at_most(relevance: float, importance: int, hits: int, *, pending: bool = False) -> float:
    """Return the score before decay: no profile gives more."""
    total = RELEVANCE * relevance + IMPORTANCE * importance / 10 + HITS * hits / (hits + _HALF_OF_HITS)
    return total * PENDING_WEIGHT if pending else total


def score(
    profile: Profile,
    memory: Outlined,
    rules: AgingRules,
    now: datetime,
    *,
    lexical: float,
    cosine: float | None,
    fused: float,
    relevance: float,
    standing: bool,
) -> Parts:
    """Return the parts and their sum, 0..1: 0.5 relevance + 0.3 importance/10 x decay + 0.2 hits/(hits + 5); pending: half of it."""
    if profile is not Profile.BALANCED:
        raise ValueError(f"unknown profile {profile!r}")
    fades = decay(memory, rules, now)
    importance, hits = memory.importance / 10, memory.hits / (memory.hits + _HALF_OF_HITS)
    total = RELEVANCE * relevance + IMPORTANCE * importance * fades + HITS * hits
    if memory.status is Status.PENDING:
        total *= PENDING_WEIGHT
    return Parts(lexical, cosine or 0.0, fused, relevance, importance, fades, hits, standing, round(total, 6))


def explained(parts: Parts) -> ScoreParts:
    """Return the parts as a person reads them."""
    rounded = {name: round(value, 4) for name, value in parts._asdict().items()}
    return assembled(ScoreParts, {**rounded, "standing": parts.standing, "score": parts.score})
