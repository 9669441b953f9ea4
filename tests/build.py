"""Makers with keyword defaults, so that a test shows only what matters to it."""

from datetime import UTC, datetime
from typing import Any

from hindwise.model.episode import Episode, Outcome, OutcomeSource, OutcomeStatus
from hindwise.model.ids import episode_of_run
from hindwise.model.memory import Draft, Evidence, Kind, Memory, Words
from hindwise.model.turn import Origin, ToolCall, Turn

NOON = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
TENANT = "default"

_ORIGIN = {"user": Origin.USER, "assistant": Origin.AGENT, "tool": Origin.TOOL, "system": Origin.SYSTEM}


def make_turn(content: str = "hello", *, role: str = "user", seq: int = 1, turn_id: str = "", **fields: Any) -> Turn:
    """A turn; `turn_id` defaults to its number."""
    fields.setdefault("origin", _ORIGIN[role])
    fields.setdefault("occurred_at", NOON)
    return Turn(seq=seq, turn_id=turn_id or f"t{seq}", role=role, content=content, **fields)


def make_turns(*lines: tuple[str, str]) -> tuple[Turn, ...]:
    """Turns from (role, content) pairs, numbered from 1."""
    return tuple(make_turn(content, role=role, seq=seq) for seq, (role, content) in enumerate(lines, start=1))


def make_call(name: str, /, **arguments: Any) -> ToolCall:
    """A tool call."""
    return ToolCall(id=f"call-{name}", name=name, arguments=arguments)


def make_outcome(status: str = "success", source: str = "env", **fields: Any) -> Outcome:
    """A verdict."""
    return Outcome(status=OutcomeStatus(status), source=OutcomeSource(source), **fields)


def make_episode(run_id: str = "r1", *, turns: tuple[Turn, ...] | None = None, **fields: Any) -> Episode:
    """A finished run of user u1."""
    fields.setdefault("user_id", "u1")
    fields.setdefault("outcome", make_outcome())
    fields.setdefault("started_at", NOON)
    fields.setdefault("ended_at", NOON)
    fields.setdefault("tenant_id", TENANT)
    fields.setdefault("source", "api")
    return Episode(
        id=episode_of_run(fields["tenant_id"], fields["source"], run_id),
        run_id=run_id,
        turns=turns if turns is not None else make_turns(("user", "Please refund order 1"), ("assistant", "Done.")),
        **fields,
    )


def make_draft(conclusion: str = "Prefers window seats", *, kind: str = "preference", **fields: Any) -> Draft:
    """A draft; a preference about the seat unless said otherwise."""
    if kind in {"preference", "fact", "instruction", "todo"}:
        fields.setdefault("subject", "user")
        fields.setdefault("attribute", "seat")
        fields.setdefault("value", conclusion)
    return Draft(kind=Kind(kind), conclusion=conclusion, **fields)


def make_memory(conclusion: str = "Prefers window seats", *, id: str = "m1", kind: str = "preference", **fields: Any) -> Memory:
    """A kept memory of user u1, recorded at noon."""
    words = make_draft(
        conclusion, kind=kind, **{k: fields.pop(k) for k in list(fields) if k in Draft.model_fields and k not in Memory.model_fields}
    )
    fields = {**words.model_dump(include=set(Words.model_fields)), **fields}
    fields.setdefault("tenant_id", TENANT)
    fields.setdefault("space", "user:u1")
    fields.setdefault("valid_from", NOON)
    fields.setdefault("recorded_at", NOON)
    return Memory(id=id, **fields)


def make_evidence(episode_id: str = "e1", quote: str = "", **fields: Any) -> Evidence:
    """A piece of evidence."""
    return Evidence(episode_id=episode_id, quote=quote, **fields)
