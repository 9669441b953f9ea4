"""What callers get. Times are RFC 3339 in UTC; lists are `items` and `next_cursor`."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer

from hindwise.model.episode import Outcome
from hindwise.model.memory import Evidence, Kind, LessonType, Retrospective, Status
from hindwise.model.reflection import Decision, ReflectionStatus, Usage
from hindwise.model.refusal import Refused
from hindwise.model.turn import Turn

Time = Annotated[
    datetime, PlainSerializer(lambda t: t.astimezone(UTC).isoformat().replace("+00:00", "Z"), return_type=str, when_used="json")
]


class Answer(BaseModel):
    """Base of all answers."""

    model_config = ConfigDict(frozen=True)


class TurnsAnswer(Answer):
    """`queued`: kept, but the session's workflow could not be told yet; a sweep does it."""

    recorded: int
    duplicates: int
    turn_count: int = Field(description="Turns of the session in all.")
    status: Literal["recorded", "queued"]
    workflow_id: str


class AcceptedAnswer(Answer):
    """Kept; the reflection follows by itself. `duplicate`: known already; `differs`: with another body, the first was kept."""

    episode_id: str
    reflection_id: str
    status: str
    duplicate: bool
    differs: bool = False
    status_url: str
    spaces: list[str]
    workflow_id: str
    workflow_url: str = Field(default="", description="In Temporal's UI, where that is known.")


class IgnoredAnswer(Answer):
    """Understood, but not the end of a run; nothing was kept."""

    status: Literal["ignored"] = "ignored"
    reason: str


class SessionAnswer(Answer):
    """A session as the ledger knows it."""

    session_id: str
    user_id: str
    agent_id: str
    state: str
    turn_count: int
    open_turns: int = Field(description="Turns of the task that is not finished yet.")
    checkpoint: dict[str, Any] | None
    opened_at: Time
    last_turn_at: Time
    closed_at: Time | None
    workflow_id: str
    workflow_url: str = Field(default="", description="In Temporal's UI, where that is known.")


class SessionPage(Answer):
    """Sessions, newest turn first."""

    items: list[SessionAnswer]
    next_cursor: str | None


class ContextAnswer(Answer):
    """The newest turns that fit into the budget, word for word, oldest of them first."""

    session_id: str
    turns: list[Turn]
    tokens: int
    truncated: bool
    checkpoint: dict[str, Any] | None


class CheckpointAnswer(Answer):
    """What was kept."""

    session_id: str
    checkpoint: dict[str, Any]


class VerdictAnswer(Answer):
    """A verdict as it came. `accepted`: it became the outcome."""

    outcome: Outcome
    at: Time
    accepted: bool


class EpisodeAnswer(Answer):
    """A finished task without its turns."""

    episode_id: str
    user_id: str
    agent_id: str
    session_id: str
    run_id: str
    source: str
    goal: str
    outcome: Outcome
    closed_by: str
    started_at: Time
    ended_at: Time


class EpisodePage(Answer):
    """Episodes, newest end first."""

    items: list[EpisodeAnswer]
    next_cursor: str | None


class EpisodeDetail(EpisodeAnswer):
    """A finished task with its evidence. `purged`: its turns were removed after `retain_turns_days`.

    `truncated`: these are its first turns; 1,000 of them, or 4 million characters, are told at most.
    """

    inputs: dict[str, Any]
    turns: list[Turn]
    truncated: bool
    verdicts: list[VerdictAnswer]
    reflection_id: str | None
    purged: bool


class ReflectionAnswer(Answer):
    """Where a reflection stands."""

    reflection_id: str
    episode_id: str
    status: ReflectionStatus
    phase: str
    reflector: str
    run_number: int
    written_by: str
    fallback_from: str
    index_pending: bool
    error: str
    skip_reason: str
    usage: Usage
    created_at: Time
    started_at: Time | None
    finished_at: Time | None
    workflow_id: str
    workflow_url: str = ""


class Conclusion(Answer):
    """One conclusion in few words. `memory_id`: empty for one that is not kept yet."""

    memory_id: str = ""
    kind: Kind
    conclusion: str
    value: str = ""
    applies_when: str = ""


class ChangedConclusion(Answer):
    """What stands, and what would stand in its place."""

    before: Conclusion
    after: Conclusion


class RerunAnswer(Answer):
    """status: `compared` (nothing was kept) or `queued` (then `reflection_id` names the new run, and the lists are empty).

    `duplicate`: the same run was asked for before, and this is that one.
    """

    episode_id: str
    status: Literal["compared", "queued"]
    written_by: str
    reflection_id: str = ""
    duplicate: bool = False
    added: list[Conclusion] = Field(default_factory=list)
    changed: list[ChangedConclusion] = Field(default_factory=list)
    dropped: list[Conclusion] = Field(default_factory=list)
    same: int = 0
    rejected: list[Refused] = Field(default_factory=list)
    nothing_because: str = ""
    usage: Usage = Usage()
    """What the comparison cost; a queued run's own reflection tells it."""


class ReflectionPage(Answer):
    """Reflections, newest first."""

    items: list[ReflectionAnswer]
    next_cursor: str | None


class ReflectionDetail(ReflectionAnswer):
    """A reflection with what it decided, and why."""

    reason: str
    replaces: str
    episodes: list[str]
    memories: list[str]
    decisions: list[Decision]
    rejected: list[Refused]
    due: dict[str, Any]


class SignalAnswer(Answer):
    """A parked reflection was told to go on."""

    reflection_id: str
    signal: str
    workflow_id: str


class RecallRecord(Answer):
    """A recall as it was logged."""

    recall_id: str
    user_id: str
    agent_id: str
    session_id: str
    run_id: str
    query: str
    memory_ids: list[str]
    degraded: bool
    at: Time


class FeedbackAnswer(Answer):
    """How many memories the verdict counts for."""

    recall_id: str
    verdict: str
    counted: int


class MemoryWritten(Answer):
    """What became of a written or judged memory. action: add, agree, supersede, late, retract; confirmed, rejected, edited."""

    id: str
    status: str
    action: str
    supersedes: list[str] = Field(default_factory=list)


class MemoryAnswer(Answer):
    """A memory with all that is known of it."""

    memory_id: str
    space: str
    kind: Kind
    status: Status
    head: bool
    conclusion: str
    retrospective: Retrospective
    lesson_type: LessonType | None
    subject: str
    attribute: str
    scope: str
    value: str
    applies_when: str
    not_when: str
    task_type: str
    generalized_query: str
    topics: tuple[str, ...]
    entities: tuple[str, ...]
    tools: tuple[str, ...]
    language: str
    importance: int
    confidence: float
    trust: float
    origin: str
    valid_from: Time
    valid_to: Time | None
    recorded_at: Time
    closed_at: Time | None
    close_reason: str
    superseded_by: str
    confirmed_by: str
    version: int
    evidence_count: int
    hits: int
    helpful: int
    harmful: int
    last_recalled_at: Time | None
    review_at: Time | None
    expires_at: Time | None
    pinned: bool
    disputed: bool
    reflection_id: str
    evidence: tuple[Evidence, ...]


class MemoryEvent(Answer):
    """What happened to a memory. action: recorded, agreed, superseded, edited, expired, archived, …"""

    at: Time
    action: str
    why: str
    actor: str


class MemoryDetail(MemoryAnswer):
    """A memory with what happened to it, oldest first, at most 200 events."""

    history: list[MemoryEvent]


class MemoryPage(Answer):
    """Memories, newest first."""

    items: list[MemoryAnswer]
    next_cursor: str | None


class SimpleWritten(Answer):
    """Kept, and found by the next search."""

    id: str
    status: str


class SimpleResult(Answer):
    """One find."""

    id: str
    content: str
    kind: str
    score: float
    created_at: Time


class SimpleResults(Answer):
    """Best first; empty where nothing is relevant."""

    results: list[SimpleResult]


class ErasureAccepted(Answer):
    """Kept; the erasure follows by itself, also where Temporal is down at present."""

    erasure_id: str
    status: str
    status_url: str
    workflow_id: str
    workflow_url: str = Field(default="", description="In Temporal's UI, where that is known.")


class ErasureAnswer(Answer):
    """The receipt of an erasure: numbers and times, nothing of what was erased."""

    erasure_id: str
    status: Literal["queued", "running", "completed", "needs_attention"]
    user_hash: str = Field(description="The user, by a keyed hash: `HindwiseSpace` of their workflows in Temporal.")
    requested_at: Time
    started_at: Time | None
    wiped_at: Time | None = Field(description="From here on nothing of before is left; what came later belongs to the user who came back.")
    finished_at: Time | None
    ledger: dict[str, int] = Field(description="Rows deleted, by table.")
    index: dict[str, int] = Field(description="Objects deleted, by index generation: live, being built, kept from before.")
    found_again: dict[str, int] = Field(description="What a second search of each store found: zeros, once completed.")
    shared_lessons_kept: int = Field(description="Lessons of agents that stood on this user's tasks alone; they passed the scrub.")
    error: str = Field(description="Why it cannot go on at present, where it needs attention.")
    workflow_id: str
    workflow_url: str = Field(default="", description="In Temporal's UI, where that is known.")


class Health(Answer):
    """The process answers."""

    status: Literal["ok"] = "ok"


class Readiness(Answer):
    """ready: calls are accepted; degraded: accepted, but not all is there; unavailable: the ledger does not answer (503)."""

    status: Literal["ready", "degraded", "unavailable"]
    ledger: Literal["ok", "unavailable"]
    index: Literal["ok", "unavailable"]
    temporal: Literal["ok", "unavailable"]
    note: str | None = Field(default=None, description="What is going on with the index or the disk, where it is not as usual.")
