"""What time it is. Judging code gets the time passed in; only edges ask here."""

from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Anything that tells the time."""

    def now(self) -> datetime:
        """Return the present instant, aware, in UTC."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the present instant, aware, in UTC."""
        return datetime.now(UTC)


def to_wire(moment: datetime) -> str:
    """Return RFC 3339 in UTC with a Z. Raises ValueError for a naive datetime."""
    if moment.tzinfo is None:
        raise ValueError("a time without zone: give it one, e.g. 2026-05-01T09:00:00Z")
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
