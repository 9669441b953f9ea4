"""A row of `memories` as a recall reads it: what it is judged by, and what is told of it. Pure.

Most rows are judged by a few columns and never told, so that only of what is told the words are read; whole, none is.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from hindwise.model.memory import Kind, Retrospective, Status
from hindwise.model.turn import Origin
from hindwise.recall.outline import Outline

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Raw(NamedTuple):
    """A row of `memories` as the driver gives it: times in microseconds, words as JSON. Most are judged by a few columns and not told."""

    id: str
    space_no: int
    space: str
    kind: str
    status: str
    head: bool
    slot_key: str | None
    scope: str
    conclusion: str
    words: str
    lex: str
    text_hash: str
    importance: int
    valid_from: int
    recorded_at: int
    version: int
    evidence_count: int
    hits: int
    last_recalled_at: int | None
    helpful: int
    expires_at: int | None
    pinned: bool
    disputed: bool
    confirmed_by: str

    @property
    def language(self) -> str:
        """en or zh. Quotes within a JSON text are escaped, so that what is looked for can only be the key and its value."""
        if '"language": "en"' in self.words:
            return "en"
        return "zh" if '"language": "zh"' in self.words else str(json.loads(self.words)["language"])

    @property
    def origin(self) -> Origin:
        """Where it was born."""
        if '"origin": "user"' in self.words:
            return Origin.USER
        return _ORIGINS[json.loads(self.words)["origin"]]

    @property
    def task(self) -> str:
        """The generalised task that a lesson was learned in; mostly "" for others."""
        return "" if '"generalized_query": ""' in self.words else str(json.loads(self.words)["generalized_query"])

    @property
    def topics(self) -> list[str]:
        """What it is about."""
        found: list[str] = json.loads(self.words)["topics"]
        return found


_NO_RETROSPECTIVE = Retrospective().model_dump()
# Asking an enumeration by value takes as long as all else of a row together.
_KINDS = {str(kind): kind for kind in Kind}
_STATUSES = {str(status): status for status in Status}
_ORIGINS = {str(origin): origin for origin in Origin}


def outline_of(row: Raw) -> Outline:
    """Return what the memory is weighed by."""
    used, ends = row.last_recalled_at, row.expires_at
    return Outline(
        row.id,
        _KINDS[row.kind],
        _STATUSES[row.status],
        row.origin,
        row.importance,
        _moment(row.recorded_at),
        None if used is None else _moment(used),
        None if ends is None else _moment(ends),
        row.hits,
        row.helpful,
        bool(row.pinned),
        row.confirmed_by,
    )


class Telling(NamedTuple):
    """What is told of a memory; fields as of `Memory`. `retrospective`: its parts by name."""

    id: str
    space: str
    kind: Kind
    status: Status
    language: str
    origin: Origin
    conclusion: str
    not_when: str
    retrospective: Mapping[str, str]
    disputed: bool
    valid_from: datetime
    recorded_at: datetime
    evidence_count: int


def telling_of(row: Raw) -> Telling:
    """Read what is told. Not validated again: it was when it was written."""
    words = json.loads(row.words)
    return Telling(
        row.id,
        row.space,
        _KINDS[row.kind],
        _STATUSES[row.status],
        words["language"],
        _ORIGINS[words["origin"]],
        row.conclusion,
        words["not_when"],
        {**_NO_RETROSPECTIVE, **words["retrospective"]},
        bool(row.disputed),
        _moment(row.valid_from),
        _moment(row.recorded_at),
        row.evidence_count,
    )


def is_over(row: Raw, now: datetime) -> bool:
    """Whether its time is over, as `aging.is_expired` has it, though upkeep has not come by."""
    return row.expires_at is not None and not row.pinned and not row.confirmed_by and _moment(row.expires_at) <= now


def _moment(microseconds: int) -> datetime:
    return _EPOCH + timedelta(microseconds=microseconds)
