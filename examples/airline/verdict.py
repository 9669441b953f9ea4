"""What the environment says of an airline run: which database calls were missing, extra, or made with other arguments.

Names of calls and arguments only, never values: the verdict may be read by everybody, the reservation behind it may not.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

_READING = re.compile(r"(?:get|list|search|find|calculate|think|query|check|lookup)(?:_|$)")
_HAND_OVER = re.compile(r"transfer_to_human")
"""Changes nothing in the database, though it ends the conversation."""


def changes_database(name: str) -> bool:
    """True for calls that write. Told by the verb: reading, searching and computing write nothing."""
    return not (_READING.match(name) or _HAND_OVER.match(name))


def _actual(messages: Sequence[Mapping[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """The writing calls that succeeded, in order. Call ids repeat in these files, so the nearest result with the name counts."""
    calls: list[tuple[str, dict[str, Any]]] = []
    waiting: list[tuple[str, dict[str, Any]]] = []
    for message in messages:
        for call in message.get("tool_calls") or ():
            waiting.append((call["function"]["name"], json.loads(call["function"]["arguments"])))
        if message["role"] == "tool" and waiting:
            name, arguments = waiting.pop(0)
            if changes_database(name) and not str(message.get("content") or "").startswith("Error"):
                calls.append((name, arguments))
    return calls


def verdict_note(messages: Sequence[Mapping[str, Any]], expected_actions: Sequence[Mapping[str, Any]]) -> str:
    """Return e.g. `missing: cancel_reservation; extra: book_reservation; other arguments: update_reservation_flights(payment_id)`.

    `messages`: OpenAI chat messages of the run. `expected_actions`: `{name, arguments}` of the reference; reading calls are ignored.
    An empty text where the writing calls agree (the run may still have told the customer something wrong).
    """
    expected = [(a["name"], dict(a["arguments"])) for a in expected_actions if changes_database(a["name"])]
    actual = _actual(messages)
    for pair in list(expected):
        if pair in actual:
            actual.remove(pair)
            expected.remove(pair)
    other: dict[str, list[str]] = {}
    for pair in list(expected):
        twins = [call for call in actual if call[0] == pair[0]]
        if twins:
            twin = min(twins, key=lambda call: len(_differing(call[1], pair[1])))
            names = other.setdefault(pair[0], [])
            names += [n for n in _differing(twin[1], pair[1]) if n not in names]
            actual.remove(twin)
            expected.remove(pair)
    parts = []
    if expected:
        parts.append("missing: " + ", ".join(dict.fromkeys(name for name, _ in expected)))
    if actual:
        parts.append("extra: " + ", ".join(dict.fromkeys(name for name, _ in actual)))
    if other:
        parts.append("other arguments: " + ", ".join(f"{name}({', '.join(names)})" for name, names in other.items()))
    return "; ".join(parts)


def _differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    return [name for name in dict.fromkeys((*one, *other)) if one.get(name) != other.get(name)]
