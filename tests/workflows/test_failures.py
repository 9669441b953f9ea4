"""What Temporal is told of an error: its type, whether to try again and when, and never a word that a caller wrote."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from activities.errors import failure_of
from hindwise import errors
from hindwise.errors import HindwiseError, ModelUnavailable, NotFound

WORDS = "what the user said"


def _classes(of: type[HindwiseError] = HindwiseError) -> Iterator[type[HindwiseError]]:
    for cls in of.__subclasses__():
        if cls.__module__ == errors.__name__:
            yield cls
        yield from _classes(cls)


@pytest.mark.parametrize("cls", sorted(set(_classes()), key=lambda cls: cls.__name__))
def test_every_error_of_the_engine_keeps_its_type_and_retryability(cls: type[HindwiseError]) -> None:
    """The workflow decides by the type; Temporal by the flag."""
    failure = failure_of(cls("detail"), "reflect")
    assert (failure.type, failure.non_retryable) == (cls.type, not cls.retryable)
    assert failure.message


def test_a_wanted_pause_is_passed_on() -> None:
    """Retry-After of a provider sets the next try."""
    failure = failure_of(ModelUnavailable("busy", retry_after_s=7), "reflect")
    assert failure.next_retry_delay == timedelta(seconds=7)
    assert failure.message == "busy"


@pytest.mark.parametrize("error", [NotFound(f"no session {WORDS!r}"), errors.InvalidInput(WORDS), ValueError(WORDS), KeyError(WORDS)])
def test_words_of_a_caller_stay_out(error: Exception) -> None:
    """Neither in the message nor in what is attached."""
    failure = failure_of(error, "gather")
    assert WORDS not in f"{failure!r} {failure.message} {failure.details} {failure.__cause__!r}"


def test_an_unknown_error_is_told_by_its_class_and_tried_again() -> None:
    """A bug may be mended by a deployment."""
    failure = failure_of(ZeroDivisionError("x"), "ground")
    assert (failure.type, failure.non_retryable) == ("internal", False)
    assert "ZeroDivisionError" in failure.message


def test_the_log_of_the_worker_tells_type_and_reason_of_a_step_that_failed() -> None:
    """Temporal's own line names only the class that all failures have."""
    with capture_logs() as lines:
        failure = failure_of(errors.LedgerMismatch("no such column: spaces.slot_keys"), "gather")
        failure_of(NotFound(WORDS), "park")
    assert failure.message == "no such column: spaces.slot_keys"
    told = [(line["event"], line["step"], line["error"], line["detail"]) for line in lines]
    assert told[0] == ("step_failed", "gather", "ledger-mismatch", failure.message)
    assert told[1][:3] == ("step_failed", "park", "not-found")
    assert WORDS not in str(lines)
