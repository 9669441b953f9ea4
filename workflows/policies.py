"""Queues, timeouts, retries and search attributes: one row each, one reason per row."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from temporalio.common import RetryPolicy, SearchAttributeKey


def session_queue(prefix: str) -> str:
    """Workflows and the short ledger steps that answer callers."""
    return f"{prefix}-session"


def store_queue(prefix: str) -> str:
    """Steps that read and write ledger and index."""
    return f"{prefix}-store"


def llm_queue(prefix: str) -> str:
    """Steps that ask a model: bounded by the provider's quota, so that they never hold up the others."""
    return f"{prefix}-llm"


def upkeep_queue(prefix: str) -> str:
    """Upkeep, behind everything else."""
    return f"{prefix}-upkeep"


CONTINUE_AFTER_TURNS: Final = 200
"""Cold replay takes 0.2 s up to here and 13 s of CPU at 2,000, where the server stops accepting updates."""

GROUND_TRIES: Final = 3
"""How often the same reflector is asked, with the validators' complaints, before rules stand in."""

STICKY_TIMEOUT: Final = timedelta(seconds=2)
"""How long a turn waits for a worker that died before another may take it."""

HEARTBEAT: Final = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class Policy:
    """One activity's limits. `budget`: schedule-to-close over all attempts; what cannot go on after it parks."""

    start_to_close: timedelta
    budget: timedelta
    retry: RetryPolicy
    heartbeat: timedelta | None = None


_QUICK: Final = RetryPolicy(initial_interval=timedelta(milliseconds=500), backoff_coefficient=2.0, maximum_interval=timedelta(seconds=20))

LEDGER_STEP: Final = Policy(timedelta(seconds=60), timedelta(minutes=30), _QUICK)
"""A short transaction; an outage of the ledger may last, and nothing is lost by waiting for its end."""

MODEL_STEP: Final = Policy(
    timedelta(seconds=180),
    timedelta(minutes=10),
    RetryPolicy(initial_interval=timedelta(seconds=1), backoff_coefficient=2.0, maximum_interval=timedelta(seconds=60)),
    HEARTBEAT,
)
"""One call to a model. The budget is replaced by `GatherResult.budget_s`; the provider's Retry-After sets the pause."""

INDEX_STEP: Final = Policy(
    timedelta(seconds=20), timedelta(seconds=60), RetryPolicy(initial_interval=timedelta(seconds=1), maximum_attempts=3)
)
"""Tries for 10 s itself; a reflection does not wait longer for an index, the dispatcher catches up."""

CREDIT_STEP: Final = LEDGER_STEP

UPKEEP_STEP: Final = Policy(timedelta(minutes=2), timedelta(minutes=10), _QUICK, HEARTBEAT)
"""One batch of at most 200 rows; what fails waits for the next pass."""

TENANT: Final = SearchAttributeKey.for_keyword("HindwiseTenant")
SPACE: Final = SearchAttributeKey.for_keyword("HindwiseSpace")
PHASE: Final = SearchAttributeKey.for_keyword("HindwisePhase")
OUTCOME: Final = SearchAttributeKey.for_keyword("HindwiseOutcome")
REFLECTOR: Final = SearchAttributeKey.for_keyword("HindwiseReflector")

SEARCH_ATTRIBUTES: Final = (TENANT, SPACE, PHASE, OUTCOME, REFLECTOR)
"""All Keyword. Registered by `hindwise up`; without them workflows start all the same, with one warning."""
