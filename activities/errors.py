"""Engine error -> application failure. The only place where an error message enters a history, so nothing passes that could quote a caller.

Details of outages and refused settings are our own words and help the person who reads them in Temporal. Every other class is told
by its own sentence alone, an unknown exception by its class name.
"""

import traceback
from datetime import timedelta

import structlog
from temporalio.exceptions import ApplicationError

from hindwise.errors import DimensionMismatch, HindwiseError, LedgerMismatch, ModelRefused, SpaceErased, Unavailable

_OWN_WORDS = (Unavailable, LedgerMismatch, ModelRefused, SpaceErased, DimensionMismatch)
"""Classes whose details name hosts, settings and numbers only. The others may name ids that callers chose."""

_log = structlog.get_logger(__name__)


def failure_of(error: Exception, step: str) -> ApplicationError:
    """Return what Temporal is told of an error that ended a step; retryable where trying again may help."""
    if isinstance(error, HindwiseError):
        return _of_ours(error, step)
    _log.error("step_failed_unexpectedly", step=step, error=type(error).__name__, where=_where(error))
    return ApplicationError(f"unexpected {type(error).__name__}; the worker's log names the place", type="internal")


def _of_ours(error: HindwiseError, step: str) -> ApplicationError:
    words = error.detail if isinstance(error, _OWN_WORDS) else (type(error).__doc__ or "").split("\n")[0]
    # Temporal's own line names only the class that all failures have.
    _log.warning("step_failed", step=step, error=error.type, detail=words)
    pause = error.retry_after_s if isinstance(error, Unavailable) else None
    return ApplicationError(
        words,
        type=error.type,
        non_retryable=not error.retryable,
        next_retry_delay=timedelta(seconds=pause) if pause else None,
    )


def _where(error: Exception) -> list[str]:
    """The last frames as file:line function: no values, no message."""
    return [f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)[-4:]]
