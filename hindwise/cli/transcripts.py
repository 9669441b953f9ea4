"""Transcript files in: messages as agents keep them, turned into episodes for the API. Pure: text in, bodies out.

Understood: a JSON array of chat messages; a JSON object with `messages` or `turns` and what else is known of the run; JSON lines of
either. Only the fields named here are read, so that a benchmark's hidden columns never reach a transcript.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from hindwise.cli.exits import USAGE, Ended

_TURN_FIELDS = ("turn_id", "role", "content", "name", "tool_calls", "tool_call_id", "origin", "participant", "occurred_at")
_TIME_NAMES = ("occurred_at", "timestamp", "created_at")


def read(text: str, name: str, *, user: str = "", agent: str = "") -> list[dict[str, Any]]:
    """Return the episodes in a file: each {turns, goal?, outcome?, user_id?, agent_id?, run_id}. Raises Ended (code 2) with the line.

    `user` and `agent`, where given, stand in place of the file's; nobody named anywhere = the user `default`.
    """
    given = {field: value for field, value in (("user_id", user), ("agent_id", agent)) if value}
    records = _records(text.removeprefix("\ufeff"), name)
    if all(isinstance(record, Mapping) and "role" in record for record in records):
        return [_episode({"messages": records}, name, given)]
    many = len(records) > 1
    return [_episode(record, f"{name}, run {number}" if many else name, given) for number, record in enumerate(records, start=1)]


def _records(text: str, name: str) -> list[Any]:
    if not text.strip():
        raise _unusable(name, "it is empty")
    try:
        whole = json.loads(text)
    except ValueError:
        return _lines(text, name)
    except RecursionError as error:
        raise _unusable(name, "it is nested too deep") from error
    return whole if isinstance(whole, list) else [whole]


def _lines(text: str, name: str) -> list[Any]:
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            found.append(json.loads(line))
        except ValueError as error:
            raise _unusable(name, f"line {number} is neither JSON nor part of one JSON document ({error})") from error
        except RecursionError as error:
            raise _unusable(name, f"line {number} is nested too deep") from error
    return found


def _unusable(name: str, why: str) -> Ended:
    return Ended(
        f"{name} cannot be read as a transcript: {why}",
        next_step='expected: [{"role": "user", "content": "…"}, …], or {"messages": […], "goal": "…"}, or JSON lines of either',
        code=USAGE,
    )


def _episode(record: Any, name: str, given: Mapping[str, str]) -> dict[str, Any]:
    messages = record.get("messages", record.get("turns")) if isinstance(record, Mapping) else record
    if not isinstance(messages, list) or not messages:
        raise _unusable(name, "it has no list of messages")
    turns = [_turn(message, name, number) for number, message in enumerate(messages, start=1)]
    known = record if isinstance(record, Mapping) else {}
    episode: dict[str, Any] = {field: str(known[field]) for field in ("goal", "user_id", "agent_id") if known.get(field)}
    episode.update(given)
    if not episode.get("user_id") and not episode.get("agent_id"):
        episode["user_id"] = "default"
    if outcome := _outcome(known):
        episode["outcome"] = outcome
    episode["run_id"] = str(
        known.get("run_id") or known.get("id") or content_id(turns, episode.get("user_id", ""), episode.get("agent_id", ""))
    )
    return {**episode, "turns": turns}


def _turn(message: Any, name: str, number: int) -> dict[str, Any]:
    if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
        raise _unusable(name, f"message {number} has no role")
    turn = {field: message[field] for field in _TURN_FIELDS if message.get(field) is not None}
    if when := next((message[field] for field in _TIME_NAMES if isinstance(message.get(field), str)), None):
        turn["occurred_at"] = when
    return turn


def _outcome(record: Mapping[str, Any]) -> dict[str, Any] | None:
    told = record.get("outcome")
    if isinstance(told, Mapping):
        return dict(told)
    if isinstance(told, str) and told:
        return {"status": told}
    reward = record.get("reward")
    if isinstance(reward, bool) or not isinstance(reward, int | float):
        return None
    score = min(1.0, max(0.0, float(reward)))
    return {"status": "success" if score >= 1 else "failure" if score <= 0 else "partial", "score": score, "source": "env"}


def content_id(turns: Sequence[Mapping[str, Any]], user_id: str, agent_id: str) -> str:
    """A run id made of the words and of whose they are: the same file twice is one run, for another user it is another."""
    told = json.dumps([user_id, agent_id, turns], sort_keys=True, ensure_ascii=False)
    return "file-" + hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:24]
