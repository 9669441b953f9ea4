"""Cursors over lists that are ordered by a time, newest first, where any number of rows may share one instant."""

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from hindwise.errors import InvalidInput
from hindwise.ledger.newest_first import Place

R = TypeVar("R")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TICK = timedelta(microseconds=1)
_MAX_ID = 300


def encode(last: Place) -> str:
    """The opaque text for callers: the place of the last row given."""
    text = json.dumps([(last.at - _EPOCH) // _TICK, last.id])
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode(text: str) -> Place | None:
    """Return the place; None for an empty text. Raises InvalidInput for anything that we did not make."""
    if not text:
        return None
    try:
        micros, last = json.loads(base64.urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4)))
        if type(micros) is not int or not isinstance(last, str) or not (last.isascii() and last.isprintable() and len(last) <= _MAX_ID):
            raise ValueError
        return Place(_EPOCH + timedelta(microseconds=micros), last)
    except (ValueError, TypeError, OverflowError, RecursionError, binascii.Error) as error:
        raise InvalidInput("cursor: not one of ours; leave it out to begin at the top") from error


def page(
    fetch: Callable[[Place | None, int], Sequence[R]], place: Callable[[R], Place], after: Place | None, limit: int
) -> tuple[list[R], str | None]:
    """Return at most `limit` rows and the next cursor.

    fetch(after, n): at most n rows that come after a place (None: from the top), newest first, ties by id. place: of a row.
    None is lost and none is doubled, also where those already given were deleted in between.
    """
    rows = list(fetch(after, limit + 1))
    if len(rows) <= limit:
        return rows, None
    return rows[:limit], encode(place(rows[limit - 1]))
