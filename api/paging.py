"""Cursors over lists that are ordered by a time, newest first, where many rows may share one instant."""

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from hindwise.errors import InvalidInput

R = TypeVar("R")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TICK = timedelta(microseconds=1)
_LAST = datetime.max.replace(tzinfo=UTC) - _TICK


@dataclass(frozen=True, slots=True)
class Cursor:
    """The last row given: its instant, and among those of the same instant its id, of small letters, digits and hyphens.

    So that every database puts ids in the order that they have here.
    """

    at: datetime
    id: str

    def encode(self) -> str:
        """The opaque text for callers."""
        text = json.dumps([(self.at - _EPOCH) // _TICK, self.id])
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode(text: str) -> Cursor | None:
    """Return the cursor; None for an empty text. Raises InvalidInput for anything that we did not make."""
    if not text:
        return None
    try:
        micros, last = json.loads(base64.urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4)))
        if type(micros) is not int or not isinstance(last, str):
            raise ValueError
        return Cursor(min(_EPOCH + timedelta(microseconds=micros), _LAST), last)
    except (ValueError, TypeError, OverflowError, RecursionError, binascii.Error) as error:
        raise InvalidInput("cursor: not one of ours; leave it out to begin at the top") from error


def page(
    fetch: Callable[[datetime | None, int], Sequence[R]], place: Callable[[R], tuple[datetime, str]], cursor: Cursor | None, limit: int
) -> tuple[list[R], str | None]:
    """Return at most `limit` rows and the next cursor.

    fetch(before, n): at most n rows older than `before` (None: from the top), newest first, ties by id. place: instant and id of a row.
    None is lost and none is doubled, also where those already given were deleted in between.
    """
    # Rows of the cursor's own instant are asked for again, and those already given passed over: mostly that is the cursor's own row alone.
    wanted = limit + 1 if cursor is None else limit + 2
    while True:
        fetched = fetch(cursor.at + _TICK if cursor else None, wanted)
        rows = [row for row in fetched if cursor is None or _comes_after(place(row), cursor)]
        if len(rows) > limit or len(fetched) < wanted:
            break
        wanted *= 4
    if len(rows) <= limit:
        return rows, None
    return rows[:limit], Cursor(*place(rows[limit - 1])).encode()


def _comes_after(place: tuple[datetime, str], cursor: Cursor) -> bool:
    at, own = place
    return at < cursor.at or (at == cursor.at and own > cursor.id)
