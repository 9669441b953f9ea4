"""What is a memory? A one-line conclusion with a retrospective behind it, its slot, its times, and its evidence."""

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from hindwise.model.base import Model
from hindwise.model.turn import Origin

MAX_CONCLUSION_CHARS = 160
MAX_SNIPPET_CHARS = 500


class Kind(StrEnum):
    """What sort of thing is remembered (DESIGN, words). `TODO` is a user's unfinished work, and no mark of unfinished code."""

    LESSON = "lesson"
    FACT = "fact"
    PREFERENCE = "preference"
    INSTRUCTION = "instruction"
    TODO = "todo"
    EVENT = "event"
    SNIPPET = "snippet"


SLOTTED = frozenset({Kind.FACT, Kind.PREFERENCE, Kind.INSTRUCTION, Kind.TODO})
"""Kinds with a slot (space, subject, attribute, scope): at most one head. The others have none."""

LAYER = {
    Kind.EVENT: "episodic",
    Kind.SNIPPET: "episodic",
    Kind.FACT: "semantic",
    Kind.PREFERENCE: "semantic",
    Kind.INSTRUCTION: "semantic",
    Kind.TODO: "semantic",
    Kind.LESSON: "procedural",
}


class LessonType(StrEnum):
    """What sort of lesson."""

    STRATEGY = "strategy"
    PITFALL = "pitfall"
    RECOVERY = "recovery"
    OPTIMISATION = "optimisation"


class Status(StrEnum):
    """Where a memory stands. Only active and pending ones are told; the rest is history."""

    ACTIVE = "active"
    PENDING = "pending"
    QUARANTINED = "quarantined"
    SUPERSEDED = "superseded"
    RETRACTED = "retracted"
    EXPIRED = "expired"
    ARCHIVED = "archived"


LIVE = frozenset({Status.ACTIVE, Status.PENDING})
"""Statuses that a recall may tell."""


class Retrospective(Model):
    """Seven named parts, each optional, none invented."""

    goal: str = ""
    what_happened: str = ""
    what_worked: str = ""
    what_failed_and_why: str = ""
    final_feedback: str = ""
    next_time: str = ""
    still_open: str = ""

    def is_empty(self) -> bool:
        """True when no part says anything."""
        return not any(self.model_dump().values())


class Evidence(Model):
    """Where a memory stands in the transcript. `quote` occurs in that turn, word for word; lessons shared by an agent carry none."""

    episode_id: str
    seq: int | None = None
    turn_id: str = ""
    quote: str = Field(default="", max_length=MAX_SNIPPET_CHARS)


class Words(Model):
    """The part of a memory that never changes while it exists. An edit is a new memory that supersedes the old."""

    kind: Kind
    conclusion: str = Field(min_length=1, max_length=MAX_CONCLUSION_CHARS)
    retrospective: Retrospective = Retrospective()
    lesson_type: LessonType | None = None
    subject: str = Field(default="", max_length=200)
    attribute: str = Field(default="", max_length=200)
    scope: str = Field(default="", max_length=200)
    value: str = Field(default="", max_length=1_000)
    applies_when: str = Field(default="", max_length=500)
    not_when: str = Field(default="", max_length=500)
    task_type: str = Field(default="", max_length=200)
    generalized_query: str = Field(default="", max_length=500)
    topics: tuple[str, ...] = Field(default=(), max_length=20)
    entities: tuple[str, ...] = Field(default=(), max_length=30)
    tools: tuple[str, ...] = Field(default=(), max_length=30)
    language: str = "en"
    """en or zh: the language of the transcript it came from."""
    importance: int = Field(default=5, ge=1, le=10)
    origin: Origin = Origin.USER
    trust: float = Field(default=1.0, ge=0.0, le=1.0)
    evidence: tuple[Evidence, ...] = Field(default=(), max_length=20)


class Draft(Words):
    """What a reflector proposes, before validation and resolution. `confidence`: 0..1, the reflector's own."""

    confidence: float = Field(default=0.7, ge=0.0, le=1.0)
    valid_from: datetime | None = None
    """When it began to hold in the world; None = when the episode ended."""
    retracts: bool = False
    """The user says that what stands in this slot was never true."""
    agrees_with: str = ""
    """Memory id of a known item that this only confirms: it adds no words of its own."""
    refines: str = ""
    """Memory id of a known item of which this says more; a proposal, the words decide."""
    contradicts: str = ""
    """Memory id of a known item that this says otherwise than; a proposal as well."""
    known_in: str = ""
    """The space of the known item that one of these names; empty where none does."""
    unproven: bool = False
    """A lesson of a small model that no failed call of the transcript bears out: kept, and told to nobody."""


class Memory(Words):
    """A kept item: the words, and the lifecycle columns that may change (each change has an event row)."""

    id: str
    tenant_id: str
    space: str
    status: Status = Status.ACTIVE
    head: bool = False
    confidence: float = Field(default=0.7, ge=0.0, le=1.0)
    valid_from: datetime
    valid_to: datetime | None = None
    said_at: datetime | None = None
    """Latest world time at which it was said; None = at `valid_from`. What is older than this never closes it."""
    recorded_at: datetime
    closed_at: datetime | None = None
    close_reason: str = ""
    version: int = 1
    """Order within its slot."""
    evidence_count: int = 1
    """Independent episodes that say so."""
    hits: int = 0
    """Finished tasks whose brief held it."""
    last_recalled_at: datetime | None = None
    helpful: int = 0
    harmful: int = 0
    freshness: float = 1.0
    """Coarse decay, stored by upkeep for filters; recall computes the exact one."""
    review_at: datetime | None = None
    expires_at: datetime | None = None
    pinned: bool = False
    disputed: bool = False
    confirmed_by: str = ""
    reflection_id: str = ""
    superseded_by: str = ""
