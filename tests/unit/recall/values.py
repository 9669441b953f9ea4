"""Memories and scores as plain values, for the pure parts of recall."""

from datetime import UTC, datetime
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from hindwise.model.brief import ScoreParts
from hindwise.model.memory import Kind, Memory
from hindwise.recall.rows import Telling
from hindwise.recall.select import Scored

NOW = datetime(2026, 5, 1, 9, tzinfo=UTC)


def memory(name: str = "m", **more: Any) -> Memory:
    """A memory whose id derives from `name`."""
    values = {
        "id": str(uuid5(NAMESPACE_URL, name)),
        "tenant_id": "default",
        "space": "user:a",
        "kind": Kind.LESSON,
        "conclusion": f"conclusion {name}",
        "valid_from": NOW,
        "recorded_at": NOW,
    }
    return Memory(**{**values, **more})


def telling(name: str = "m", **more: Any) -> Telling:
    """What is told of such a memory."""
    item = memory(name, **more)
    values = {field: getattr(item, field) for field in Telling._fields}
    return Telling(**values | {"retrospective": item.retrospective.model_dump()})


def scored(
    name: str, score: float, words: str = "", *, relevant: bool = True, slot: str | None = None, scope: float = 0.0, **more: Any
) -> Scored:
    """A scored memory; `words`: its tokens, its own name unless given."""
    item = memory(name, **more)
    parts = ScoreParts(score=score, importance=item.importance / 10)
    return Scored(item, parts, frozenset((words or name).split()), relevant, slot, scope)


def names(items: list[Scored]) -> list[str]:
    """The names, in order."""
    return [item.memory.conclusion.removeprefix("conclusion ") for item in items]
