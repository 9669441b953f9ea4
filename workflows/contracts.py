"""Every message between client, workflow and activity, both ways, and the names of activities.

Hashes, counts and our own ids only: no string that a caller chose reaches Temporal. New fields get a default, old ones are
never used with another meaning: these models are read back from histories of earlier releases.
"""

from datetime import datetime
from typing import Final

from pydantic import Field

from workflows.erase_messages import EraseOpenInput, EraseOpenResult, EraseParkInput, EraseResult, EraseStep
from workflows.message import Message
from workflows.reindex_messages import (
    CheckInput,
    CheckResult,
    CompareResult,
    FillInput,
    FillResult,
    GenerationInput,
    ReindexBegun,
    ReindexInput,
    ReindexParkInput,
    ReindexReport,
    SwitchInput,
    SwitchResult,
)

__all__ = [
    "CheckInput",
    "CheckResult",
    "CompareResult",
    "FillInput",
    "FillResult",
    "GenerationInput",
    "Message",
    "ReindexBegun",
    "ReindexInput",
    "ReindexParkInput",
    "ReindexReport",
    "SwitchInput",
    "SwitchResult",
]
"""What is defined elsewhere and known by this module's name, beside all that is defined here."""

# ---- Session -------------------------------------------------------------------------------------------------------------


class SessionState(Message):
    """What a session carries across continue-as-new: counts and marks, no text."""

    turn_count: int = 0
    last_seq: int = 0
    """Highest ledger number of a turn that the workflow was told of."""
    closed_seq: int = 0
    """Turns up to here belong to finished tasks."""
    episodes: int = 0
    last_turn_at: datetime | None = None
    updates_this_run: int = 0
    """What makes a history grow: a batch of turns counts as one."""
    seen_updates: tuple[str, ...] = ()
    """The newest 128 update ids: the server's own dedupe ends with the run."""
    to_start: tuple[str, ...] = ()
    """Reflections told of, not yet started: an update changes state only, the run loop starts them."""
    closing: bool = False
    """The caller closed the session; a later turn takes that back."""
    capture_from: int = 0
    """First turn that holds something to be kept at once; 0 = none waits."""
    capture_since: datetime | None = None
    """When the first of those came."""


class SessionInput(Message):
    """Starts a session workflow. `handle`: keyed hash of (tenant, session id)."""

    handle: str
    tenant_hash: str
    space_hash: str
    idle_minutes: float = 30.0
    queue_prefix: str = "hindwise"
    state: SessionState = SessionState()
    search_attributes: bool = True
    """False where the namespace does not have them registered: nothing is upserted then."""


class TurnsRecorded(Message):
    """Update `record_turns`: turns first_seq..last_seq stand in the ledger (both 0: all were duplicates)."""

    update_id: str
    first_seq: int
    last_seq: int
    count: int
    capture: bool = False
    """One of them asks for something to be remembered now."""


class SessionAck(Message):
    """What an update returns."""

    turn_count: int
    last_seq: int


class TaskCompleted(Message):
    """Update `complete_task`: the ledger holds the episode and the queued reflection; start it."""

    update_id: str
    reflection_id: str
    last_seq: int
    close: bool = False


class CaptureInput(Message):
    """Activity `capture`: keep what the user's turns first_seq..last_seq ask to be remembered."""

    handle: str
    first_seq: int
    last_seq: int


class CaptureResult(Message):
    """What became of it."""

    added: int = 0
    agreed: int = 0
    superseded: int = 0


class CloseIdleInput(Message):
    """Activity `close_idle`: cut the open task of an idle session. `last_seq`: what the workflow knows of."""

    handle: str
    last_seq: int


class CloseIdleResult(Message):
    """`reflection_ids`: to start, at most 20. `last_seq`: turns up to here are closed; larger than asked = a turn came meanwhile."""

    reflection_ids: tuple[str, ...] = ()
    last_seq: int = 0
    newer_turns: bool = False


# ---- Reflection ----------------------------------------------------------------------------------------------------------


class ReflectionInput(Message):
    """Starts a reflection workflow."""

    reflection_id: str
    tenant_hash: str = ""
    space_hash: str = ""
    queue_prefix: str = "hindwise"
    search_attributes: bool = True
    """False where the namespace does not have them registered."""


class GatherResult(Message):
    """What is to be done. `skip`: finished already, withdrawn, or nothing to learn; then nothing more happens."""

    skip: bool = False
    skip_code: str = ""
    """final, newer-verdict, nothing-to-learn, nothing-kept, person, erased, vanished."""
    began: str = ""
    """When the ledger took the reflection in, which tells it from one of the same id by a user who was erased and came back."""
    reflector: str = "rules"
    outcome: str = "unknown"
    turns: int = 0
    budget_s: float = 600.0
    """How long a model that does not answer is asked before rules stand in."""
    step_s: float = 180.0
    """How long one question may take, with all that is done beside it."""
    over_budget: bool = False
    """The tenant's tokens of the day are used up: rules reflect."""


class ReflectInput(Message):
    """Activity `reflect`: ask `reflector` once; the answer is stored under (reflection, attempt)."""

    reflection_id: str
    attempt: int
    reflector: str


class ReflectResult(Message):
    """`usable`: the answer had the agreed form."""

    usable: bool
    drafts: int = 0
    calls: int = 0
    tokens: int = 0
    over_budget: bool = False
    """Not asked: the tenant's tokens of the day are used up."""
    same_again: bool = False
    """Not asked: the last answer earned the same complaints as the one before, so the question would be the same, byte by byte."""


class GroundInput(Message):
    """Activity `ground`: validate a stored answer."""

    reflection_id: str
    attempt: int


class GroundResult(Message):
    """`complaints` > 0: ask again, if tries are left; what was accepted stands.

    `accepted`: of what the reflector said itself; the event and the user's statements, which code puts beside a model's answer, do not
    count.
    """

    accepted: int
    rejected: int
    complaints: int
    gave_up: bool = False
    """Asked again after a complaint, it had nothing more to say: no honest "nothing", and what rules know must not be lost to it."""


class ResolveInput(Message):
    """Activity `resolve`: write what was accepted. `fallback_from`: llm where rules stood in, with `fallback_cause`."""

    reflection_id: str
    attempt: int
    fallback_from: str = ""
    fallback_cause: str = ""
    """unusable, unavailable, ungrounded, person, budget."""


class ResolveResult(Message):
    """What became of the drafts. `due_note`: in words for the details, e.g. "review 2 on 12 Dec, expire 1 on 30 Jan"."""

    skipped: bool = False
    added: int = 0
    agreed: int = 0
    superseded: int = 0
    rejected: int = 0
    due_note: str = ""


class IndexResult(Message):
    """Activity `index`: `pending` after 10 s of trying; the dispatcher does the rest."""

    pending: bool = False
    applied: int = 0


class CreditResult(Message):
    """Activity `credit`: memories whose brief this task used."""

    credited: int = 0


class StepInput(Message):
    """Activities that need only the reflection: gather, index, credit."""

    reflection_id: str


class FinishInput(Message):
    """Activity `finish`: make the reflection final in the ledger. status: completed, skipped or failed.

    `began`: as in GatherResult, empty where nothing was gathered. `step`: of what is `vanished`, which step found it gone.
    """

    reflection_id: str
    status: str
    index_pending: bool = False
    skip_code: str = ""
    began: str = ""
    step: str = ""


class FinishResult(Message):
    """`gone`: the reflection that the workflow began with is in the ledger no more, so it was erased."""

    gone: bool = False


class ParkInput(Message):
    """Activity `park`: the ledger shows that a person is needed. `cause`: failure type; `step`: where."""

    reflection_id: str
    step: str
    cause: str
    detail: str = ""
    """From `hindwise/errors.py`, which never quotes a turn."""


class Done(Message):
    """An activity that returns nothing else."""

    done: bool = True


class ReflectionReport(Message):
    """What a reflection workflow returns, for people who look at it in Temporal; the ledger holds the truth."""

    status: str
    """completed, skipped or failed."""
    skip_code: str = ""
    reflector: str = ""
    fallback_cause: str = ""
    added: int = 0
    agreed: int = 0
    superseded: int = 0
    rejected: int = 0
    index_pending: bool = False


# ---- Upkeep --------------------------------------------------------------------------------------------------------------


class UpkeepInput(Message):
    """Starts one pass. `page`: rows per batch."""

    queue_prefix: str = "hindwise"
    page: int = Field(default=200, ge=1, le=1000)


class BatchInput(Message):
    """One batch of an upkeep activity."""

    page: int = 200
    cursor: int = 0
    """Where the batch before ended, for activities that walk over everything."""


class BatchResult(Message):
    """`changed`: rows handled; `more`: call again, with `cursor`."""

    changed: int = 0
    more: bool = False
    cursor: int = 0


class UpkeepReport(Message):
    """What one pass did, by activity."""

    changed: dict[str, int] = Field(default_factory=dict)
    failed: tuple[str, ...] = ()
    """Activities that gave up; their work waits for the next pass."""


# ---- Names ---------------------------------------------------------------------------------------------------------------

SESSION_WORKFLOW: Final = "hindwise.Session"
REFLECTION_WORKFLOW: Final = "hindwise.Reflection"
UPKEEP_WORKFLOW: Final = "hindwise.Upkeep"
REINDEX_WORKFLOW: Final = "hindwise.Reindex"

ERASE_WORKFLOW: Final = "hindwise.Erase"

RECORD_TURNS: Final = "record_turns"
COMPLETE_TASK: Final = "complete_task"
SIGNAL_RETRY: Final = "retry"
SIGNAL_USE_RULES: Final = "use_rules"
SIGNAL_SKIP: Final = "skip"
SIGNALS: Final = (SIGNAL_RETRY, SIGNAL_USE_RULES, SIGNAL_SKIP)
SIGNAL_SWITCH: Final = "switch"
SIGNAL_DROP: Final = "drop"
REINDEX_SIGNALS: Final = (SIGNAL_RETRY, SIGNAL_SWITCH, SIGNAL_DROP)

ACTIVITIES: Final[dict[str, tuple[type[Message], type[Message]]]] = {
    "capture": (CaptureInput, CaptureResult),
    "close_idle": (CloseIdleInput, CloseIdleResult),
    "gather": (StepInput, GatherResult),
    "reflect": (ReflectInput, ReflectResult),
    "ground": (GroundInput, GroundResult),
    "resolve": (ResolveInput, ResolveResult),
    "index": (StepInput, IndexResult),
    "credit": (StepInput, CreditResult),
    "finish": (FinishInput, FinishResult),
    "park": (ParkInput, Done),
    "erase_begin": (EraseStep, Done),
    "erase_open": (EraseOpenInput, EraseOpenResult),
    "erase_wipe": (EraseStep, EraseResult),
    "erase_check": (EraseStep, EraseResult),
    "erase_park": (EraseParkInput, Done),
    "decay": (BatchInput, BatchResult),
    "expire": (BatchInput, BatchResult),
    "archive": (BatchInput, BatchResult),
    "reverify": (BatchInput, BatchResult),
    "sweep_outbox": (BatchInput, BatchResult),
    "purge_turns": (BatchInput, BatchResult),
    "compare_index": (BatchInput, BatchResult),
    "reindex_begin": (GenerationInput, ReindexBegun),
    "reindex_fill": (FillInput, FillResult),
    "reindex_check": (CheckInput, CheckResult),
    "reindex_compare": (GenerationInput, CompareResult),
    "reindex_switch": (SwitchInput, SwitchResult),
    "reindex_settle": (GenerationInput, Done),
    "reindex_park": (ReindexParkInput, Done),
    "reindex_drop": (GenerationInput, Done),
}
"""Activity name -> (input, result). A test checks that `activities` offers exactly these."""
