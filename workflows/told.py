"""What people read of a reflection in Temporal, and what ended a step of it. Pure; passed through the sandbox like the policies."""

from temporalio.exceptions import ActivityError, ApplicationError, TimeoutError

from workflows.contracts import CreditResult, ReflectionReport, ResolveResult


def note_of(resolved: ResolveResult, credited: CreditResult) -> str:
    """What is due, and who was credited."""
    due = f" Due: {resolved.due_note}." if resolved.due_note else ""
    return due + (f" Credited {credited.credited} memories that the task was told." if credited.credited else "")


def ending_of(report: ReflectionReport, note: str) -> str:
    """How a reflection ended, as people read it in Temporal."""
    if report.status == "skipped":
        return f"Skipped: {report.skip_code}.{note}"
    if report.status == "failed":
        return "**Failed**: something that a step needs is gone from the ledger; `hindwise rerun` looks back anew."
    by = f" by rules, because the model's answer was {report.fallback_cause}" if report.fallback_cause else f" by {report.reflector}"
    if report.fallback_cause == "unavailable":
        by = " by rules, because the model did not answer"
    if report.fallback_cause == "budget":
        by = " by rules, because the day's tokens for the model are used up (`hindwise rerun` catches up)"
    if report.fallback_cause == "person":
        by = " by rules, as a person wished"
    counts = f"added {report.added}, agreed {report.agreed}, superseded {report.superseded}, rejected {report.rejected}"
    pending = " The index is still catching up." if report.index_pending else ""
    return f"Completed{by}: {counts}.{note}{pending}"


def type_of(error: ActivityError) -> str:
    """The type of what ended a step: an error's of ours, `timeout`, or `internal`."""
    cause = error.cause
    if isinstance(cause, ApplicationError):
        return cause.type or "internal"
    return "timeout" if isinstance(cause, TimeoutError) else "internal"


def detail_of(error: ActivityError) -> str:
    """Our own words: activities let no other message through."""
    cause = error.cause
    return cause.message if isinstance(cause, ApplicationError) else "No answer within the step's time limit."


def model_is_away(error: ActivityError) -> bool:
    """Whether rules may stand in."""
    return type_of(error) in {"model-unavailable", "timeout"}
