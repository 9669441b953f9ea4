"""What a benchmark's environment can say about a run without giving its secrets away: which database calls were missing, extra, or made
with other arguments than the reference's.

Call and argument names only, never a value: a value would hand the agent the answer instead of a verdict. Pure: messages and expected
actions in, words out.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_CHANGING = ("book_", "cancel_", "update_", "send_")
"""The airline's calls that change its database; all others read, compute or hand over."""


@dataclass(frozen=True)
class Call:
    """One database call: its name and its arguments as parsed."""

    name: str
    arguments: Mapping[str, Any]

    def same_as(self, other: "Call") -> bool:
        """Same name, same arguments; 2 and 2.0 are equal, the order of keys does not count."""
        return self.name == other.name and self.arguments == other.arguments

    def differing(self, other: "Call") -> tuple[str, ...]:
        """Names of the arguments in which the two differ, in alphabetical order."""
        keys = {*self.arguments, *other.arguments}
        return tuple(sorted(k for k in keys if self.arguments.get(k) != other.arguments.get(k)))


@dataclass(frozen=True)
class Verdict:
    """How the calls of a run compare with the reference."""

    missing: tuple[Call, ...]
    extra: tuple[Call, ...]
    altered: tuple[tuple[Call, tuple[str, ...]], ...]
    """Calls that were made, each with the names of the arguments that should have been others."""

    def decisive(self) -> tuple[str, ...]:
        """Names of the calls that made the difference, each once, in order."""
        names = [call.name for call in (*self.missing, *(call for call, _ in self.altered), *self.extra)]
        return tuple(dict.fromkeys(names))


def calls_made(messages: Iterable[Mapping[str, Any]]) -> list[Call]:
    """Return the database calls of a transcript that took effect, in order. A call answered by an error changed nothing."""
    made: list[Call] = []
    waiting: list[tuple[str, Call]] = []
    for message in messages:
        for call in message.get("tool_calls") or ():
            function = call["function"]
            waiting.append((str(call.get("id", "")), Call(function["name"], json.loads(function["arguments"] or "{}"))))
        if message["role"] == "tool" and waiting:
            # Ids repeat in real transcripts, so each answer takes the oldest call that still waits under its id.
            ids = [call_id for call_id, _ in waiting]
            asked = str(message.get("tool_call_id", ""))
            _, call = waiting.pop(ids.index(asked) if asked in ids else 0)
            if call.name.startswith(_CHANGING) and not str(message.get("content") or "").startswith("Error"):
                made.append(call)
    return made


def judge(messages: Iterable[Mapping[str, Any]], expected_actions: Sequence[Mapping[str, Any]]) -> Verdict:
    """Compare the database calls of a run with the reference's.

    Equal calls cancel each other; of the rest, calls of the same name are paired, the most alike first; what is left is missing or extra.
    """
    made = calls_made(messages)
    missing: list[Call] = []
    for action in expected_actions:
        wanted = Call(action["name"], action["arguments"])
        if wanted.name.startswith(_CHANGING):
            equal = next((i for i, call in enumerate(made) if call.same_as(wanted)), None)
            if equal is None:
                missing.append(wanted)
            else:
                made.pop(equal)
    altered: list[tuple[Call, tuple[str, ...]]] = []
    while pairs := [(len(m.differing(w)), i, j) for i, m in enumerate(made) for j, w in enumerate(missing) if m.name == w.name]:
        _, i, j = min(pairs)
        altered.append((made[i], made[i].differing(missing[j])))
        del made[i], missing[j]
    return Verdict(tuple(missing), tuple(made), tuple(altered))


def verdict_note(messages: Iterable[Mapping[str, Any]], expected_actions: Sequence[Mapping[str, Any]]) -> str:
    """Return the verdict in words, for `outcome.note`: names of calls and arguments, never values."""
    verdict = judge(messages, expected_actions)
    parts = [
        _part("Missing", (_signature(call) for call in verdict.missing)),
        _part("Made with other arguments than expected", (f"{call.name} ({', '.join(names)})" for call, names in verdict.altered)),
        _part("Extra, should not have been made", (_signature(call) for call in verdict.extra)),
    ]
    said = " ".join(part for part in parts if part)
    return f"Database calls compared with the reference. {said or 'All as expected: none missing, none extra.'}"


def _signature(call: Call) -> str:
    return f"{call.name} ({', '.join(sorted(call.arguments))})"


def _part(label: str, calls: Iterable[str]) -> str:
    counted: dict[str, int] = {}
    for call in calls:
        counted[call] = counted.get(call, 0) + 1
    listed = "; ".join(f"{call} {count} times" if count > 1 else call for call, count in counted.items())
    return f"{label}: {listed}." if listed else ""
