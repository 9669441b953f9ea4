"""Queues, timeouts, retries and search attributes: one row each, one reason per row."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from temporalio.common import Priority, RetryPolicy, SearchAttributeKey


def session_queue(prefix: str) -> str:
    """Sessions and upkeep: workflows whose tasks answer callers, and the short ledger steps of theirs."""
    return f"{prefix}-session"


def store_queue(prefix: str) -> str:
    """Reflections, with their steps that read and write ledger and index.

    Workflow and steps share the queue, so that a server with eager activities hands a step to the worker that asked for it, in the
    answer to its request: no task in the queue, no transaction of its own, no poll.
    """
    return f"{prefix}-store"


def llm_queue(prefix: str) -> str:
    """Steps that ask a model: bounded by the provider's quota, so that they never hold up the others."""
    return f"{prefix}-llm"


def upkeep_queue(prefix: str) -> str:
    """Upkeep, behind everything else."""
    return f"{prefix}-upkeep"


SESSION_ACTIVITIES: Final = frozenset({"capture", "close_idle"})
LLM_ACTIVITIES: Final = frozenset({"reflect"})
ERASE_ACTIVITIES: Final = frozenset({"erase_begin", "erase_open", "erase_wipe", "erase_check", "erase_park"})
STORE_ACTIVITIES: Final = ERASE_ACTIVITIES | {"gather", "reflect", "ground", "resolve", "index", "credit", "finish", "park"}
"""reflect also here: rules ask no model, so they do not wait behind one."""
UPKEEP_ACTIVITIES: Final = frozenset({"sweep_outbox", "expire", "decay", "archive", "reverify", "purge_turns", "compare_index"})
REINDEX_ACTIVITIES: Final = frozenset(
    {
        "reindex_begin", "reindex_fill", "reindex_check", "reindex_compare", "reindex_switch", "reindex_settle", "reindex_park",
        "reindex_drop",
    }
)  # fmt: skip
"""On the queue of upkeep: nobody waits for them."""

CONTINUE_AFTER_TURNS: Final = 200
"""Cold replay takes 0.2 s up to here and 13 s of CPU at 2,000, where the server stops accepting updates."""

GROUND_TRIES: Final = 3
"""How often the same reflector is asked, with the validators' complaints, before rules stand in."""

GONE_PAUSES: Final = (timedelta(seconds=1), timedelta(seconds=4))
"""Before a step that found something gone looks anew: what another task erased, closed or wrote meanwhile is read as it stands then."""

STICKY_TIMEOUT: Final = timedelta(seconds=2)
"""How long a turn waits for a worker that died before another may take it."""

HEARTBEAT: Final = timedelta(seconds=30)
"""Of long steps: how long one waits for a worker that died in it."""

STEP_HEARTBEAT: Final = timedelta(seconds=6)
"""Of short steps, so that a worker killed in one delays a reflection by seconds. Steps under a second and a half send none."""
LOST: Final = timedelta(seconds=12)
"""A ledger step whose worker was killed goes on elsewhere after this long, instead of after its whole time limit."""

UPKEEP_PAGES: Final = 20
"""Batches of one upkeep activity within a pass; what is left waits for the next."""

LEDGER_RETRY: Final = timedelta(minutes=5)
"""Pause of an idle session whose ledger did not answer for a whole budget."""

CAPTURE_AFTER: Final = timedelta(seconds=2)
"""What a user asked to be remembered is kept so long after the last turn: people correct themselves at once."""
CAPTURE_AT_MOST: Final = timedelta(seconds=10)
"""Where turns never pause."""

SEEN_UPDATES: Final = 128
"""Update ids that a session remembers across runs."""


@dataclass(frozen=True, slots=True)
class Policy:
    """One activity's limits. `budget`: schedule-to-close over all attempts; what cannot go on after it parks."""

    start_to_close: timedelta
    budget: timedelta
    retry: RetryPolicy
    heartbeat: timedelta | None = None


_QUICK: Final = RetryPolicy(initial_interval=timedelta(milliseconds=500), backoff_coefficient=2.0, maximum_interval=timedelta(seconds=20))

LEDGER_STEP: Final = Policy(timedelta(seconds=60), timedelta(minutes=30), _QUICK, LOST)
"""A short transaction; an outage of the ledger may last, and nothing is lost by waiting for its end."""

CAPTURE_STEP: Final = Policy(timedelta(seconds=20), timedelta(minutes=1), _QUICK, STEP_HEARTBEAT)
"""Short, because the session starts no reflection meanwhile; what it does not manage, the look back does."""

MODEL_STEP: Final = Policy(
    timedelta(seconds=180),
    timedelta(minutes=10),
    RetryPolicy(initial_interval=timedelta(seconds=1), backoff_coefficient=2.0, maximum_interval=timedelta(seconds=60)),
    HEARTBEAT,
)
"""One call to a model. The limits are replaced by `GatherResult.step_s` and `budget_s`; the provider's Retry-After sets the pause."""

INDEX_STEP: Final = Policy(
    timedelta(seconds=20), timedelta(seconds=60), RetryPolicy(initial_interval=timedelta(seconds=1), maximum_attempts=3), STEP_HEARTBEAT
)
"""Tries for 10 s itself; a reflection does not wait longer for an index, the dispatcher catches up."""

CREDIT_STEP: Final = LEDGER_STEP

PARK_STEP: Final = Policy(timedelta(seconds=20), timedelta(minutes=1), _QUICK)
"""Tells the ledger that a person is needed. Short: where the ledger itself is down, the workflow must show it all the same."""

WIPE_STEP: Final = Policy(timedelta(minutes=20), timedelta(hours=1), _QUICK, HEARTBEAT)
"""Deletes one user everywhere, page by page; repeated it goes on where it was."""

ERASE_AGAIN: Final = timedelta(minutes=15)
"""Pause of an erasure that could not go on; then it tries again by itself, because it must not be forgotten."""

CONTINUE_AFTER_WAITS: Final = 50
"""Of an erasure that cannot go on: half a day, then a new run begins where it was, so that waiting for months adds to no history."""
CONTINUE_AFTER_PAGES: Final = 20
"""Of open workflows that an erasure stops: 200 of a page are 400 events."""

UPKEEP_STEP: Final = Policy(timedelta(minutes=2), timedelta(minutes=10), _QUICK, HEARTBEAT)
"""One batch of at most 200 rows; what fails waits for the next pass."""

_NO_BLIP: Final = ("index-refused", "index-damaged")
"""A key or a setting that the index does not take, a file that cannot be read: nothing that passes by waiting."""
REINDEX_STEP: Final = Policy(timedelta(minutes=3), timedelta(minutes=30), replace(_QUICK, non_retryable_error_types=_NO_BLIP), LOST)
"""Works for a quarter of a minute and notes how far it came; an outage of the index or the embedder may last half an hour."""

REFUSED_TRIES: Final = 3
REFUSED_PAUSE: Final = timedelta(seconds=2)
"""A step of a build that is refused is tried so often again: another worker may have the right key. Then a person is needed."""

CONTINUE_AFTER_BATCHES: Final = 200
"""Of a build: then a new run goes on from what the ledger noted."""

SAME_ENOUGH: Final = 0.95
"""Share of questions that must have the same first five finds in two generations that were made alike; below, a person looks."""

SESSION_SUMMARY: Final = "One session: counts turns, closes tasks, starts reflections"
REFLECTION_SUMMARY: Final = "Looks back over one finished task"
ERASE_SUMMARY: Final = "Erases one user from every store, and leaves a receipt"
UPKEEP_SUMMARY: Final = "Ages memories, brings the index up to date, purges old turns"
REINDEX_SUMMARY: Final = "Builds a new index beside the live one, compares, switches"

SESSION_PRIORITY: Final = Priority(priority_key=1)
"""A caller waits for the answer of an update."""
REFLECTION_PRIORITY: Final = Priority(priority_key=2)
UPKEEP_PRIORITY: Final = Priority(priority_key=5)

TENANT: Final = SearchAttributeKey.for_keyword("HindwiseTenant")
SPACE: Final = SearchAttributeKey.for_keyword("HindwiseSpace")
PHASE: Final = SearchAttributeKey.for_keyword("HindwisePhase")
OUTCOME: Final = SearchAttributeKey.for_keyword("HindwiseOutcome")
REFLECTOR: Final = SearchAttributeKey.for_keyword("HindwiseReflector")

SEARCH_ATTRIBUTES: Final = (TENANT, SPACE, PHASE, OUTCOME, REFLECTOR)
"""All Keyword. Registered by `hindwise up`; without them workflows start all the same, with one warning."""
