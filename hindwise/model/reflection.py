"""What is a reflection? One look back over one episode by one reflector; and what it answers."""

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from hindwise.model.base import Model
from hindwise.model.memory import Draft


class ReflectionStatus(StrEnum):
    """Where a reflection stands. The last three but one are final; `needs_attention` waits for a person."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    SKIPPED = "skipped"
    NEEDS_ATTENTION = "needs_attention"


FINAL = frozenset({ReflectionStatus.COMPLETED, ReflectionStatus.FAILED, ReflectionStatus.SKIPPED})


class Usage(Model):
    """What the model was asked and what it cost, in calls, tokens and money."""

    calls: int = 0
    """Answers that came, usable or not. What the endpoint refused or never answered is none."""
    reasks: int = 0
    """Those of the calls that asked again after a complaint."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    model: str = ""
    """Who was asked; empty for rules."""
    cost: float | None = None
    """In the currency of the settings' prices; None = not known, which is not the same as nothing."""

    @property
    def tokens(self) -> int:
        """Both kinds together."""
        return self.prompt_tokens + self.completion_tokens

    def plus(self, other: "Usage") -> "Usage":
        """The sum of both. Its cost is known only where the cost of every call is."""
        costs = [one.cost for one in (self, other) if one.calls]
        known = [cost for cost in costs if cost is not None]
        return Usage(
            calls=self.calls + other.calls,
            reasks=self.reasks + other.reasks,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            model=self.model or other.model,
            cost=sum(known) if known and len(known) == len(costs) else None,
        )


class Complaint(Model):
    """Why a validator refuses a draft. `text` goes back to the model and is shown to people."""

    rule: str
    text: str = Field(max_length=500)
    ordinal: int | None = None
    """Which draft, counted from 0; None = the whole answer."""
    short: bool = Field(default=False, exclude=True)
    """Of an answer in the short form. Not kept with the complaint: it stands with the answer."""


class Answer(Model):
    """A reflector's answer. `raw`: what the model said, word for word; empty for rules."""

    drafts: tuple[Draft, ...] = Field(default=(), max_length=40)
    usage: Usage = Usage()
    raw: str = ""
    short: bool = False
    """Asked for in the short form, as small models are: one lesson at most, so what rules conclude stands beside it."""
    nothing_because: str = ""
    """Where there are no drafts: why, in words. An empty answer without a reason is an error."""


class Rejected(Model):
    """A draft that was not kept, with the reason."""

    draft: Draft
    rule: str
    reason: str


class Decision(Model):
    """What became of one draft (DESIGN section 7): the class, the memory, the ones it touched, and why in one line."""

    ordinal: int
    action: str
    """add, agree, supersede, complementary, late, retract, rejected."""
    memory_id: str = ""
    touched: tuple[str, ...] = ()
    reason: str = ""


class Reflection(Model):
    """The state of one look back, as the ledger keeps it."""

    id: str
    tenant_id: str
    episode_id: str
    status: ReflectionStatus
    phase: str = ""
    """Within running: gather, reflect, ground, resolve, index, credit."""
    reflector: str
    """The one that was asked: rules or llm."""
    written_by: str = ""
    """The one whose drafts were kept, with model and prompt version."""
    fallback_from: str = ""
    """Set where rules stood in, with the cause."""
    run_number: int = 0
    replaces: str = ""
    """The earlier reflection of the same episode whose conclusions this one supersedes."""
    usage: Usage = Usage()
    index_pending: bool = False
    error: str = ""
    """Cause and next step, for people; never a quote of a turn."""
    skip_reason: str = ""
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
