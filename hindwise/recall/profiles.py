"""How much does a memory matter to this question, all in all? Every part is kept, so that a person can check the sum. Pure."""

from datetime import datetime

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


def at_most(relevance: float, importance: int, hits: int) -> float:
    """Return the score before decay: no profile gives more."""
    return RELEVANCE * relevance + IMPORTANCE * importance / 10 + HITS * hits / (hits + _HALF_OF_HITS)


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
) -> ScoreParts:
    """Return the parts and their sum, 0..1: 0.5 relevance + 0.3 importance/10 x decay + 0.2 hits/(hits + 5); pending: half of it."""
    if profile is not Profile.BALANCED:
        raise ValueError(f"unknown profile {profile!r}")
    fades = decay(memory, rules, now)
    importance, hits = memory.importance / 10, memory.hits / (memory.hits + _HALF_OF_HITS)
    total = RELEVANCE * relevance + IMPORTANCE * importance * fades + HITS * hits
    if memory.status is Status.PENDING:
        total *= PENDING_WEIGHT
    # These are our own numbers, which need no validation, some twenty times per recall.
    return assembled(
        ScoreParts,
        {
            "lexical": round(lexical, 4),
            "cosine": round(cosine or 0.0, 4),
            "fused": round(fused, 4),
            "relevance": round(relevance, 4),
            "importance": importance,
            "decay": round(fades, 4),
            "hits": round(hits, 4),
            "standing": standing,
            "score": round(total, 6),
        },
    )
