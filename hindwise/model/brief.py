"""What is a brief? The question that leads to it, the items in it, and why each is there."""

from datetime import datetime
from enum import StrEnum
from typing import Literal

from pydantic import Field

from hindwise.model.base import Model
from hindwise.model.memory import Kind


class Profile(StrEnum):
    """How candidates are weighed (DESIGN section 9). More profiles come with recall quality."""

    BALANCED = "balanced"


class RecallQuery(Model):
    """A question: whose memory, about what, how much of it."""

    user_id: str = ""
    agent_id: str = ""
    query: str = Field(min_length=1, max_length=8_000)
    limit: int = Field(default=8, ge=1, le=50)
    budget_tokens: int = Field(default=800, ge=50, le=8_000)
    kinds: tuple[Kind, ...] = Field(default=(), max_length=7)
    """Empty = all but snippets and events unless they are relevant on their own."""
    topics: tuple[str, ...] = Field(default=(), max_length=20)
    profile: Profile = Profile.BALANCED
    lang: Literal["en", "zh", ""] = ""
    """Language of the headings; empty = the query's."""
    session_id: str = ""
    run_id: str = ""
    include_retrospective: bool = False
    explain: bool = False


class ScoreParts(Model):
    """Every part of one item's score, so that a person can check the sum."""

    lexical: float = 0.0
    cosine: float = 0.0
    fused: float = 0.0
    relevance: float = 0.0
    importance: float = 0.0
    decay: float = 1.0
    hits: float = 0.0
    standing: bool = False
    score: float = 0.0


class QuotedEvidence(Model):
    """Where an item stands in a transcript; the quote only where the reader may see that user's space."""

    episode_id: str
    session_id: str = ""
    turn_id: str = ""
    quote: str = ""


class RecallItem(Model):
    """One memory in a brief. `tier`: how much of it was told: full, line, or dropped by the budget."""

    memory_id: str
    kind: Kind
    tier: Literal["full", "line", "dropped"]
    score: float
    conclusion: str
    space: str
    status: str
    language: str
    recorded_at: datetime
    evidence: tuple[QuotedEvidence, ...] = ()
    retrospective_url: str = ""
    retrospective: dict[str, str] | None = None
    why: ScoreParts | None = None


class Recalled(Model):
    """The answer. `reason` says why the brief is empty, where it is."""

    recall_id: str
    brief: str
    lang: Literal["en", "zh"]
    tokens: int
    degraded: bool = False
    reason: str = ""
    items: tuple[RecallItem, ...] = ()
    timings: dict[str, float] = Field(default_factory=dict)
    """Milliseconds by stage: embed, candidates, hydrate, score, total."""
