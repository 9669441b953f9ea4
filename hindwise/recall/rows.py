"""A row of `memories` as a recall reads it: what it is judged by, and the memory that is told of it. Pure.

Most rows are judged by a few columns and never told, so that only what is told is built whole.
"""

import json
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from typing import Any, NamedTuple

from hindwise.model.assembled import assembled
from hindwise.model.memory import Kind, LessonType, Memory, Retrospective, Status
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


_BLANK = dict(Memory(id="", tenant_id="", space="", kind=Kind.FACT, conclusion="-", valid_from=_EPOCH, recorded_at=_EPOCH))
_NO_RETROSPECTIVE = dict(Retrospective())
# Asking an enumeration by value takes as long as all else of a row together.
_KINDS = {str(kind): kind for kind in Kind}
_STATUSES = {str(status): status for status in Status}
_ORIGINS = {str(origin): origin for origin in Origin}
_SAME = [name for name in Raw._fields if name in Memory.model_fields]
_SAME_PLACES = itemgetter(*(Raw._fields.index(name) for name in _SAME))


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


def memory_of(row: Raw) -> Memory:
    """Build the model without validating again what was validated when it was written.

    What a `Raw` leaves out keeps its default, so that this memory is for telling only, never for writing back.
    """
    words = json.loads(row.words)
    values: dict[str, Any] = _BLANK | words
    values.update(zip(_SAME, _SAME_PLACES(row), strict=True))
    values["kind"], values["status"], values["origin"] = _KINDS[row.kind], _STATUSES[row.status], _ORIGINS[words["origin"]]
    if words["lesson_type"]:
        values["lesson_type"] = LessonType(words["lesson_type"])
    values["topics"], values["entities"], values["tools"] = tuple(words["topics"]), tuple(words["entities"]), tuple(words["tools"])
    values["head"], values["pinned"], values["disputed"] = bool(row.head), bool(row.pinned), bool(row.disputed)
    values["valid_from"], values["recorded_at"] = _moment(row.valid_from), _moment(row.recorded_at)
    values["last_recalled_at"] = None if row.last_recalled_at is None else _moment(row.last_recalled_at)
    values["expires_at"] = None if row.expires_at is None else _moment(row.expires_at)
    values["retrospective"] = assembled(Retrospective, _NO_RETROSPECTIVE | words["retrospective"])
    return assembled(Memory, values)


def is_over(row: Raw, now: datetime) -> bool:
    """Whether its time is over, as `aging.is_expired` has it, though upkeep has not come by."""
    return row.expires_at is not None and not row.pinned and not row.confirmed_by and _moment(row.expires_at) <= now


def _moment(microseconds: int) -> datetime:
    return _EPOCH + timedelta(microseconds=microseconds)
