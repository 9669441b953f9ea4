"""Every error the engine raises on purpose, and what it means for whoever reads the log.

    HindwiseError
    ├── CallerError                  the caller must change something; trying again cannot help
    │   ├── InvalidInput             a value is not usable
    │   ├── NotFound                 no such thing in the named spaces
    │   ├── SessionOwner             the session belongs to another user or agent
    │   ├── TurnConflict             a turn id is known with other content
    │   ├── EpisodeConflict          a run id is known with other content
    │   ├── IdempotencyMismatch      an Idempotency-Key came back with another body
    │   ├── NotAllowed               the key lacks a scope, or the state does not permit the step
    │   ├── SpaceErased              the space was erased after this work began
    │   ├── DimensionMismatch        a vector has another length than the index
    │   └── ModelRefused             the model endpoint refuses our key, model or request: a person must act
    │       └── WindowTooSmall   the question is too long for the model: a shorter form of it may not be
    ├── LedgerMismatch               the ledger's tables are of another version: a person must migrate or restore it
    ├── AnswerUnusable               the model answered, but not in the agreed form: re-ask, then rules
    └── Unavailable                  try again later
        ├── LedgerUnavailable
        │   └── LedgerDamaged    its file cannot be read: a person must put a backup in its place
        ├── IndexUnavailable
        │   ├── IndexRefused     our key or settings are not taken: a person must act
        │   └── IndexDamaged     its file cannot be read: it is made again from the ledger
        ├── ModelUnavailable
        │   └── ModelTimeout     asked, and no answer within the time limit: it may have cost something
        └── BudgetSpent          the tenant's tokens of the day are used up

The engine knows neither HTTP nor Temporal: it only says `retryable`. `api/errors.py` and `activities/errors.py` hold the tables.
"""

from collections.abc import Mapping
from typing import Any, ClassVar


class HindwiseError(Exception):
    """Base of all. `detail`: one sentence with the value, what was expected and the next step."""

    type: ClassVar[str] = "hindwise-error"
    """Stable name on the wire: problem type, failure type, metrics label."""
    retryable: ClassVar[bool] = False

    def __init__(self, detail: str, *, extra: Mapping[str, Any] | None = None) -> None:
        super().__init__(detail[:500])
        self.detail = detail[:500]
        self.extra = dict(extra or {})


class CallerError(HindwiseError):
    """The caller must change something; trying again cannot help."""

    type = "caller-error"


class InvalidInput(CallerError):
    """A value is not usable; the detail names it."""

    type = "invalid-input"


class NotFound(CallerError):
    """No such thing, or not in the named spaces: the answer does not say which."""

    type = "not-found"


class SessionOwner(CallerError):
    """A session belongs to the first (user, agent) that used it."""

    type = "session-owner"


class TurnConflict(CallerError):
    """A turn id is already known with other content. `extra["conflicts"]` lists the ids; nothing was written."""

    type = "turn-conflict"


class EpisodeConflict(CallerError):
    """A run id is already known with other content. The first is kept; a corrected verdict goes to `…/outcome`."""

    type = "episode-conflict"


class IdempotencyMismatch(CallerError):
    """An Idempotency-Key was used before with another body."""

    type = "idempotency-mismatch"


class NotAllowed(CallerError):
    """The state does not permit the step."""

    type = "not-allowed"


class SpaceErased(CallerError):
    """The space was erased after this work began; what was in flight is dropped on purpose."""

    type = "space-erased"


class DimensionMismatch(CallerError):
    """A vector has another length than the index was built for."""

    type = "dimension-mismatch"


class ModelRefused(CallerError):
    """The model endpoint refuses our key, model or request for good: a person must change the settings."""

    type = "model-refused"


class WindowTooSmall(ModelRefused):
    """The question is too long for the model; a shorter one may not be. To whoever cannot ask more shortly it is a refusal like others."""


class LedgerMismatch(HindwiseError):
    """The ledger's tables are not those of this version; a person must migrate it or restore a copy."""

    type = "ledger-mismatch"


class AnswerUnusable(HindwiseError):
    """The model answered, but not in the agreed form. `raw` keeps the answer so that it can be stored and shown.

    short: it was asked for in the short form.
    """

    type = "answer-unusable"

    def __init__(self, detail: str, *, raw: str = "", usage: Mapping[str, int] | None = None, short: bool = False) -> None:
        super().__init__(detail)
        self.raw = raw
        self.short = short
        self.usage = dict(usage or {})


class Unavailable(HindwiseError):
    """An outside service did not answer; the same call may work later."""

    type = "unavailable"
    retryable = True

    def __init__(self, detail: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s


class LedgerUnavailable(Unavailable):
    """The database did not answer in time."""

    type = "ledger-unavailable"


class LedgerDamaged(LedgerUnavailable):
    """SQLite cannot read the ledger's file; a person must put a backup in its place. What waits goes on then."""


class IndexUnavailable(Unavailable):
    """The index did not answer in time; recall goes on degraded."""

    type = "index-unavailable"


class IndexRefused(IndexUnavailable):
    """The index cannot be had with our key or settings; a person must mend them. Recall goes on degraded."""

    type = "index-refused"


class IndexDamaged(IndexUnavailable):
    """The index's file is gone or cannot be read; one that serves is made again from the ledger. Recall goes on degraded."""

    type = "index-damaged"


class ModelUnavailable(Unavailable):
    """The model endpoint did not answer, is overloaded or asks us to wait."""

    type = "model-unavailable"


class ModelTimeout(ModelUnavailable):
    """The model endpoint took the question and did not answer in time: nobody knows what that cost."""


class BudgetSpent(Unavailable):
    """The day's tokens for the model are used up; the same call works after midnight UTC."""

    type = "budget-spent"
