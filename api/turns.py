"""Chat messages as OpenAI's clients have them, made into turns. Pure: the time is passed in.

Without `turn_id` a turn of a session is named by the ledger, which knows what came before; one with `occurred_at`, and every turn of a
whole run, is named by its content.
"""

import json
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictStr

from api.errors import TooLarge
from api.fields import Id, Moment
from api.reading import parse_json
from api.storing import Storing
from hindwise.errors import InvalidInput, TurnConflict
from hindwise.model.ids import derive, digest
from hindwise.model.turn import MAX_TURN_BYTES, Origin, ToolCall, Turn, digest_of_content
from hindwise.safety.origin import TRUST

MAX_TURNS = 1_000
"""Turns in one request."""
MAX_TOOL_CALLS = 128

Role = Literal["user", "assistant", "tool", "system", "human", "ai", "developer", "function"]

_ROLES = {"human": "user", "ai": "assistant", "developer": "system", "function": "tool"}
_ORIGINS = {"user": Origin.USER, "assistant": Origin.AGENT, "tool": Origin.TOOL, "system": Origin.SYSTEM}


class _Open(BaseModel):
    """Messages come from many clients: what we do not know in them is passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class ContentPart(_Open):
    """A part of a message. Text is kept; of an image or a sound only that there was one."""

    type: StrictStr = Field(default="text", max_length=50, description="text, input_text, output_text, refusal, image_url, …")
    text: StrictStr | None = None
    refusal: StrictStr | None = None


class FunctionCall(_Open):
    """The called function."""

    name: StrictStr = Field(max_length=200)
    arguments: StrictStr | dict[str, Any] | None = Field(default=None, description="A JSON text, as models give it, or an object.")


class MessageToolCall(_Open):
    """A call as in OpenAI's messages, or flat with `name` and `arguments`."""

    id: StrictStr | None = Field(default=None, max_length=200)
    type: StrictStr | None = Field(default=None, max_length=50)
    function: FunctionCall | None = None
    name: StrictStr | None = Field(default=None, max_length=200)
    arguments: StrictStr | dict[str, Any] | None = None


_TURN_ID = (
    "Your id of this turn: sent again it changes nothing. Without it, and without `occurred_at`, a turn is taken for a repetition only "
    "where the request begins with the newest turns of the open task, in their order: so a request sent again, or the whole "
    "conversation sent each time, adds only what is new, and the same words said later are a turn of their own."
)


class Message(_Open):
    """One turn: a message, a tool call or a tool result, in the shape of OpenAI's chat messages."""

    role: Role = Field(description="`human` and `ai` are understood as `user` and `assistant`, `developer` as `system`.")
    content: StrictStr | list[ContentPart] | None = None
    turn_id: Id | None = Field(default=None, description=_TURN_ID)
    name: StrictStr | None = Field(default=None, max_length=200, description="Of a tool result: the tool.")
    tool_calls: list[MessageToolCall] | None = Field(default=None, max_length=MAX_TOOL_CALLS)
    function_call: FunctionCall | None = Field(default=None, description="The older form of one tool call.")
    tool_call_id: StrictStr | None = Field(default=None, max_length=200)
    origin: Origin | None = Field(
        default=None, description="Where the words came from; by default from the role. Never more trusted than it."
    )
    participant: Id | None = Field(default=None, description="Who spoke; by default the user or the agent.")
    occurred_at: Moment | None = Field(default=None, description="By default the time of arrival; never later than it.")


def to_turns(messages: Sequence[Message], *, user_id: str, agent_id: str, now: datetime, storing: Storing) -> list[Turn]:
    """Return safe turns of a session, numbered from 1. Raises TooLarge with the position, InvalidInput for an origin above the role's.

    A turn that has neither id nor time stays without a name, for the ledger to give.
    """
    seen: Counter[str] = Counter()
    turns = []
    for number, message in enumerate(messages, start=1):
        said, time = _said(message, number, user_id, agent_id, storing), message.occurred_at
        name = message.turn_id or (_name_of(digest_of_content(**said), time, seen) if time else "")
        turns.append(Turn(seq=number, turn_id=name, occurred_at=_happened(time, now), **said))
    return turns


def whole_run(
    messages: Sequence[Message], *, user_id: str, agent_id: str, now: datetime, storing: Storing
) -> tuple[tuple[Turn, ...], tuple[str, ...]]:
    """Return the safe turns of a whole run, each named, a repeated id with equal content once; and the digests of their contents.

    Raises as `to_turns` does, and TurnConflict for one id with unequal content.
    """
    seen: Counter[str] = Counter()
    turns: list[Turn] = []
    digests: dict[str, str] = {}
    conflicts = []
    for number, message in enumerate(messages, start=1):
        said = _said(message, number, user_id, agent_id, storing)
        content = digest_of_content(**said)
        name = message.turn_id or _name_of(content, message.occurred_at, seen)
        if name not in digests:
            digests[name] = content
            turns.append(Turn(seq=len(digests), turn_id=name, occurred_at=_happened(message.occurred_at, now), **said))
        elif digests[name] != content:
            conflicts.append(name)
    if conflicts:
        raise TurnConflict("a turn id stands for two different contents in this request", extra={"conflicts": conflicts[:100]})
    return tuple(turns), tuple(digests.values())


def is_small(messages: Sequence[Message], limit: int) -> bool:
    """Whether the messages hold less than `limit` characters in all: contents, their parts, and what tools are called with."""
    left = limit
    for message in messages:
        for call in (message.function_call, *(inner for each in message.tool_calls or () for inner in (each.function, each))):
            arguments = call.arguments if call is not None else None
            # An object is as large as its JSON; nobody's arguments are large without being worth a thread.
            left -= len(arguments) if isinstance(arguments, str) else len(json.dumps(arguments)) if arguments else 0
        left -= len(_content(message.content)) + 100
        if left < 0:
            return False
    return True


def _said(message: Message, number: int, user_id: str, agent_id: str, storing: Storing) -> dict[str, Any]:
    """The fields of a turn that `digest_of_content` reads."""
    role = _ROLES.get(message.role, str(message.role))
    origin = message.origin or _ORIGINS[role]
    if TRUST[origin] > TRUST[_ORIGINS[role]]:
        raise InvalidInput(
            f"turns[{number - 1}]: origin {str(origin)!r} cannot be claimed for role {role!r}: leave it out or take a lesser one"
        )
    content, calls = _content(message.content), _calls(message, storing)
    size = len(content.encode("utf-8", "surrogatepass"))
    if calls:
        size += len(json.dumps([call.model_dump() for call in calls], ensure_ascii=False).encode())
    if size > MAX_TURN_BYTES:
        raise TooLarge(f"turns[{number - 1}] has {size} bytes, at most {MAX_TURN_BYTES} are kept: send a link to it as an artifact")
    return {
        "role": role,
        "origin": origin,
        "participant": message.participant or {"user": user_id, "assistant": agent_id}.get(role, ""),
        "content": storing.text(content),
        "name": storing.line(message.name or "", 200),
        "tool_calls": calls,
        "tool_call_id": storing.line(message.tool_call_id or "", 200),
    }


def _happened(told: datetime | None, now: datetime) -> datetime:
    """When a turn was said. A caller's clock that runs ahead would make words that nothing said in truth could overtake."""
    return min(told or now, now)


def _name_of(content: str, occurred_at: datetime | None, seen: Counter[str]) -> str:
    said = digest([content, occurred_at.isoformat() if occurred_at else ""])
    seen[said] += 1
    return "auto-" + derive("turn", said, seen[said])


def _content(content: str | list[ContentPart] | None) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(part.text or part.refusal or f"[{part.type}]" for part in content)


def _calls(message: Message, storing: Storing) -> tuple[ToolCall, ...]:
    calls = list(message.tool_calls or ())
    if message.function_call is not None:
        calls.append(MessageToolCall(function=message.function_call))
    return tuple(_call(call, storing) for call in calls)


def _call(call: MessageToolCall, storing: Storing) -> ToolCall:
    name = (call.function.name if call.function else call.name) or "unnamed"
    arguments = call.function.arguments if call.function else call.arguments
    return ToolCall(id=storing.line(call.id or "", 200), name=storing.line(name, 200), arguments=_arguments(arguments, storing))


def _arguments(arguments: str | dict[str, Any] | None, storing: Storing) -> dict[str, Any] | str:
    if isinstance(arguments, str):
        try:
            value = parse_json(arguments, lenient=True)
        except InvalidInput:
            return storing.text(arguments)
        if not isinstance(value, dict):
            return storing.text(arguments)
        arguments = value
    found: dict[str, Any] = storing.json(arguments or {})
    return found
