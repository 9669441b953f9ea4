"""Cursors over lists that are ordered by a time, newest first, where many rows may share one instant."""

import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from hindwise.errors import InvalidInput

R = TypeVar("R")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TICK = timedelta(microseconds=1)
_MAX_SKIP = 100_000


@dataclass(frozen=True, slots=True)
class Cursor:
    """The instant of the last row given, and how many rows of that instant were given."""

    at: datetime
    given: int

    def encode(self) -> str:
        """The opaque text for callers."""
        text = f"{(self.at - _EPOCH) // _TICK}.{self.given}"
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode(text: str) -> Cursor | None:
    """Return the cursor; None for an empty text. Raises InvalidInput for anything that we did not make."""
    if not text:
        return None
    try:
        micros, given = base64.urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4)).decode().split(".")
        if not 0 <= int(given) <= _MAX_SKIP:
            raise ValueError(given)
        return Cursor(_EPOCH + timedelta(microseconds=int(micros)), int(given))
    except (ValueError, OverflowError, binascii.Error, UnicodeError) as error:
        raise InvalidInput("cursor: not one of ours; leave it out to begin at the top") from error


def page(
    fetch: Callable[[datetime | None, int], Sequence[R]], moment: Callable[[R], datetime], cursor: Cursor | None, limit: int
) -> tuple[list[R], str | None]:
    """Return at most `limit` rows and the next cursor.

    fetch(before, n): at most n rows older than `before` (None: from the top), newest first, ties in a fixed order.
    """
    skip = cursor.given if cursor else 0
    # Rows of the cursor's own instant are asked for again and those already given are passed over: none is lost, none doubled.
    rows = list(fetch(cursor.at + _TICK if cursor else None, limit + skip + 1))[skip:]
    if len(rows) <= limit:
        return rows, None
    rows = rows[:limit]
    last = moment(rows[-1])
    same = sum(1 for row in rows if moment(row) == last)
    if cursor is not None and cursor.at == last:
        same += cursor.given
    return rows, Cursor(last, same).encode()
