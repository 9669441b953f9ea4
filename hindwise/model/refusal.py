"""What is a refusal? A draft that was not kept, or a whole answer, as people are told of it: by which rule, why, and at which attempt."""

from hindwise.model.base import Model


class Refused(Model):
    """One refusal. Without the draft's words but its conclusion, in which secrets are masked."""

    attempt: int
    """At which answer, counted from 1; 0 where the drafts were settled with what is known."""
    written_by: str
    """Reflector, model and prompt version of that answer."""
    rule: str
    reason: str
    kind: str = ""
    """Empty where a whole answer was refused, for want of the agreed form."""
    conclusion: str = ""
