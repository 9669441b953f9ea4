"""What Dify sends, made into one finished run. Pure: bytes in, a value out, the time passed in.

Understood: our canvas envelope, the event `workflow_finished`, the answer of a blocking run, the run detail (`inputs` is a JSON text
there), and form fields. The content type is not asked: Dify's HTTP node sends JSON as text/plain now and then.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl

from api.reading import parse_json
from api.storing import Storing
from hindwise.errors import InvalidInput
from hindwise.model.episode import Outcome, OutcomeSource, OutcomeStatus
from hindwise.model.ids import derive, digest
from hindwise.model.space import anonymous_user, check_id
from hindwise.model.turn import MAX_TURN_BYTES, Origin, Turn

SOURCE = "dify"
MAX_STEPS = 500

_OUTCOMES = {
    "succeeded": OutcomeStatus.SUCCESS,
    "failed": OutcomeStatus.FAILURE,
    "exception": OutcomeStatus.FAILURE,
    "partial-succeeded": OutcomeStatus.PARTIAL,
    "stopped": OutcomeStatus.ABORTED,
}
_NOT_AN_END = frozenset({"running", "paused", "scheduled"})
_END_EVENTS = frozenset({"workflow_finished", "workflow.finished"})
_SHAPES = "a canvas envelope, the event workflow_finished, the answer of a blocking run, a run detail, or form fields with `status`"


@dataclass(frozen=True, slots=True)
class DifyRun:
    """A finished run, safe to store. `user_id` may be the source's anonymous owner."""

    run_id: str
    user_id: str
    agent_id: str
    goal: str
    inputs: dict[str, Any]
    outcome: Outcome
    turns: tuple[Turn, ...]
    started_at: datetime
    ended_at: datetime


@dataclass(frozen=True, slots=True)
class Ignored:
    """Understood, but not the end of a run."""

    reason: str


@dataclass(frozen=True, slots=True)
class _Parts:
    """The parts of a run, wherever its shape keeps them."""

    status: str
    error: str
    run: Mapping[str, Any]
    user_id: str
    app_id: str
    goal: str
    inputs: dict[str, Any]
    outputs: Any
    steps: list[Any]
    times: tuple[Any, Any, Any]
    said: Mapping[str, Any] = field(default_factory=dict)


def normalise(
    body: bytes, content_type: str, query: Mapping[str, str], now: datetime, *, storing: Storing, fallback_run_id: str = ""
) -> DifyRun | Ignored:
    """Return the run that `body` tells of, or why it is none. `query`: user_id, agent_id and goal overrule the body.

    Raises InvalidInput where the body is nothing that Dify sends, or an id in it cannot be one.
    """
    value = _parse(body, content_type)
    reason = _why_ignored(value)
    if reason:
        return Ignored(reason)
    parts = _parts(value)
    outcome = _outcome(parts, storing)
    if outcome is None:
        return Ignored(f"status {parts.status[:40]!r} is not the end of a run")
    goal = storing.text(query.get("goal", "") or parts.goal)[:8_000]
    inputs: dict[str, Any] = storing.json(parts.inputs)
    started, ended = _times(parts.times, now)
    run_id = _text(parts.run.get("workflow_run_id")) or fallback_run_id or digest(value)
    user_id = query.get("user_id") or parts.user_id
    agent_id = query.get("agent_id") or parts.app_id
    return DifyRun(
        run_id=check_id(run_id, "the run id"),
        user_id=check_id(user_id, "the user id") if user_id else anonymous_user(SOURCE),
        agent_id=check_id(agent_id, "the agent id") if agent_id else "",
        goal=goal,
        inputs=inputs,
        outcome=outcome,
        turns=_turns(parts, goal, inputs, (started, ended), storing),
        started_at=started,
        ended_at=ended,
    )


def _parse(body: bytes, content_type: str) -> dict[str, Any]:
    text = body.decode("utf-8-sig", "replace").strip()
    if not text:
        raise InvalidInput(f"the body is empty: send {_SHAPES}")
    is_form = "x-www-form-urlencoded" in content_type.lower() or (text[0] not in '{["' and "=" in text.partition("&")[0])
    if is_form and text[0] != "{":
        try:
            return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=200))
        except ValueError as error:
            raise InvalidInput("the form has more than 200 fields") from error
    value = parse_json(text, lenient=True)
    if isinstance(value, str):  # an object that was put into a string field on the canvas
        value = parse_json(value, lenient=True)
    if isinstance(value, dict) and isinstance(value.get("payload"), dict) and "status" not in value:
        value = value["payload"]
    if not isinstance(value, dict):
        raise InvalidInput(f"the body is no object: send {_SHAPES}")
    return value


def _why_ignored(value: Mapping[str, Any]) -> str:
    event = _text(value.get("event"))
    if event in {"message", "agent_message", "message_end"} or ("answer" in value and "message_id" in value):
        return "a chat answer is no finished run: report chatflows by an HTTP node after Answer, or by workflow_finished"
    if event and event not in _END_EVENTS:
        return f"event {event[:60]!r} is not the end of a run"
    data = value.get("data")
    known = any(isinstance(part, dict) and "status" in part for part in (value, data))
    if not known and event not in _END_EVENTS:
        raise InvalidInput(f"no `status` in the body, so this is no run of Dify: send {_SHAPES}")
    return ""


def _parts(value: Mapping[str, Any]) -> _Parts:
    data = _object(value.get("data"))
    run = _object(value.get("run"))
    task = _object(value.get("task"))
    if data:  # workflow_finished, or the answer of a blocking run
        run_id = value.get("workflow_run_id") or data.get("id")
        inner = data
    else:
        run_id = run.get("workflow_run_id") or value.get("workflow_run_id") or value.get("id")
        inner = dict(value)
    inputs = _inputs(task.get("inputs") if "inputs" in task else inner.get("inputs"))
    created_by = _object(inner.get("created_by"))
    metrics = _object(value.get("metrics"))
    steps = value.get("steps")
    return _Parts(
        status=_text(inner.get("status")),
        error=_readable(inner.get("error")).strip(),
        run={"workflow_run_id": run_id},
        user_id=_text(run.get("user_id"))
        or _text(inner.get("user_id"))
        or _text(created_by.get("user"))
        or _text(inputs.get("sys.user_id")),
        app_id=_text(run.get("app_id")) or _text(value.get("app_id")),
        goal=_text(task.get("goal")) or _text(value.get("goal")) or _text(inputs.get("goal")) or _text(inputs.get("query")),
        inputs=inputs,
        outputs=inner.get("outputs", inner.get("output")),
        steps=list(steps) if isinstance(steps, list) else [],
        times=(inner.get("created_at"), inner.get("finished_at"), inner.get("elapsed_time", metrics.get("elapsed_time"))),
        said=_object(value.get("outcome")),
    )


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def _inputs(value: Any) -> dict[str, Any]:
    """`inputs` is an object, except in run details and forms, where it is a JSON text."""
    if isinstance(value, str) and value.strip():
        try:
            value = parse_json(value, lenient=True)
        except InvalidInput:
            return {"inputs": value}
    return value if isinstance(value, dict) else {} if value in (None, "") else {"inputs": value}


def _outcome(parts: _Parts, storing: Storing) -> Outcome | None:
    """Who says so: a failed node is the environment's word; that no node raised is not yet a success (rule)."""
    if parts.status in _NOT_AN_END:
        return None
    status = _OUTCOMES.get(parts.status, OutcomeStatus.UNKNOWN)
    source = OutcomeSource.ENV if status is OutcomeStatus.FAILURE else OutcomeSource.RULE
    if _text(parts.said.get("source")) in {str(known) for known in OutcomeSource}:
        source = OutcomeSource(_text(parts.said.get("source")))
    score = parts.said.get("score")
    usable = isinstance(score, int | float) and not isinstance(score, bool) and 0 <= score <= 1
    note = storing.text(_text(parts.said.get("note")) or parts.error)[:8_000]
    return Outcome(status=status, source=source, note=note, score=float(score) if usable and score is not None else None)


def _times(given: tuple[Any, Any, Any], now: datetime) -> tuple[datetime, datetime]:
    created, finished, elapsed = given
    ended = _moment(finished, now) or now
    took = elapsed if isinstance(elapsed, int | float) and not isinstance(elapsed, bool) else _number(elapsed)
    started = _moment(created, now) or ended - timedelta(seconds=min(max(took, 0.0), 86_400.0))
    return min(started, ended, now), min(ended, now)  # a clock that runs ahead: nothing said later could overtake it


def _number(value: Any) -> float:
    try:
        number = float(value) if isinstance(value, str) else 0.0
    except ValueError:
        return 0.0
    return number if 0 <= number < 86_400 else 0.0


def _moment(value: Any, now: datetime) -> datetime | None:
    """Seconds since 1970; None for what cannot be the time of a run."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 946_684_800 <= value <= now.timestamp() + 86_400:
        return None
    return datetime.fromtimestamp(value, UTC)


def _turns(parts: _Parts, goal: str, inputs: dict[str, Any], times: tuple[datetime, datetime], storing: Storing) -> tuple[Turn, ...]:
    """The request, each step, the answer, and the run's own error."""
    started, ended = times
    said: list[tuple[str, Origin, str, str]] = []
    if asked := _request(goal, inputs):
        said.append(("user", Origin.USER, "", asked))
    for number, step in enumerate(parts.steps):
        if number == MAX_STEPS:
            said.append(("system", Origin.SYSTEM, "", f"[{len(parts.steps) - MAX_STEPS} more steps are not kept]"))
            break
        said.append(("tool", Origin.TOOL, *_step(step, number, storing)))
    if answer := storing.text(_readable(_answer(parts.outputs, storing))):
        said.append(("assistant", Origin.AGENT, "", answer))
    if parts.error:
        said.append(("system", Origin.SYSTEM, "", f"ERROR: {storing.text(parts.error)}"))
    return tuple(
        Turn(
            seq=seq,
            turn_id=derive("dify-turn", seq),
            role=role,
            origin=origin,
            name=name,
            content=_bounded(content),
            occurred_at=started if seq == 1 else ended,
        )
        for seq, (role, origin, name, content) in enumerate(said, start=1)
    )


def _request(goal: str, inputs: dict[str, Any]) -> str:
    lines = [
        f"{name}: {_readable(value)}" for name, value in inputs.items() if not name.startswith("sys.") and value not in ("", None, goal)
    ]
    return "\n".join(line for line in (goal, *lines) if line)


def _step(step: Any, number: int, storing: Storing) -> tuple[str, str]:
    if not isinstance(step, dict):
        return f"step {number + 1}", storing.text(_readable(step))
    name = storing.line(_text(step.get("title")) or _text(step.get("type")) or f"step {number + 1}", 200)
    output = storing.text(_readable(step.get("output", step.get("outputs"))))
    error = storing.text(_readable(step.get("error")))
    told = "" if output == error else output
    return name, "\n".join(part for part in (f"ERROR: {error}" if error else "", told) if part)


def _answer(outputs: Any, storing: Storing) -> Any:
    """One text output is the answer itself; several are told by name."""
    if isinstance(outputs, dict):
        if len(outputs) == 1 and isinstance(text := next(iter(outputs.values())), str):
            return text
        return "\n".join(f"{name}: {_readable(value)}" for name, value in storing.json(outputs).items())
    return outputs


def _readable(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _bounded(content: str) -> str:
    """Cut what is larger than a turn may be: a refusal would fail the sender's run."""
    raw = content.encode("utf-8", "replace")
    if len(raw) <= MAX_TURN_BYTES:
        return content
    return raw[: MAX_TURN_BYTES - 40].decode("utf-8", "ignore") + "\n[the rest is not kept]"
