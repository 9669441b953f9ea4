"""What is a turn? One message, tool call or tool result, with the one thing that decides how far it is believed: its origin."""

import json
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import Field

from hindwise.model.base import Model
from hindwise.model.ids import digest

MAX_TURN_BYTES = 256 * 1024
"""Content plus tool calls of one turn, UTF-8. Larger belongs into an artifact."""


class Origin(StrEnum):
    """Where the words came from. Nothing from tool or web ever becomes an instruction."""

    USER = "user"
    AGENT = "agent"
    TOOL = "tool"
    SYSTEM = "system"
    WEB = "web"


class ToolCall(Model):
    """One call as the agent made it. `arguments`: the parsed JSON object, or the text as it came where it was not JSON."""

    id: str = ""
    name: str = Field(max_length=200)
    arguments: dict[str, Any] | str = Field(default_factory=dict)


def digest_of_content(
    *, role: str, origin: Origin, participant: str, content: str, name: str, tool_calls: Sequence[ToolCall], tool_call_id: str
) -> str:
    """What `Turn.content_digest` tells, for whoever has no turn yet: a turn without an id is named by it."""
    calls = [call.model_dump(mode="json") for call in tool_calls]
    return digest([role, str(origin), participant, content, name, calls, tool_call_id])


class Turn(Model):
    """A turn as the ledger keeps it. `seq` counts from 1 within its session and never changes."""

    seq: int
    turn_id: str
    role: str
    """user, assistant, tool or system."""
    origin: Origin
    participant: str = ""
    content: str = ""
    name: str = ""
    """Of a tool result: the tool. Else the speaker's name, if any."""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    occurred_at: datetime

    def content_digest(self) -> str:
        """sha256 over all that the caller sent for this turn, without times: equal means duplicate."""
        return digest_of_content(
            role=self.role,
            origin=self.origin,
            participant=self.participant,
            content=self.content,
            name=self.name,
            tool_calls=self.tool_calls,
            tool_call_id=self.tool_call_id,
        )

    def text(self) -> str:
        """The turn as one readable text: content, then each call as name and JSON arguments."""
        calls = [
            f"{c.name}({c.arguments if isinstance(c.arguments, str) else json.dumps(c.arguments, ensure_ascii=False)})"
            for c in self.tool_calls
        ]
        return "\n".join(part for part in (self.content, *calls) if part)
