"""The ground of all request models: unknown names refused with the nearest known one, texts and numbers not guessed from other types."""

import difflib
import re
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, StrictStr, model_validator
from pydantic_core import PydanticCustomError

from hindwise.errors import InvalidInput
from hindwise.model.space import MAX_ID_CHARS, check_id

_SYNONYMS = {
    "top_k": "limit",
    "k": "limit",
    "n": "limit",
    "max_results": "limit",
    "page_size": "limit",
    "size": "limit",
    "q": "query",
    "question": "query",
    "search": "query",
    "query": "q",
    "max_tokens": "budget_tokens",
    "token_budget": "budget_tokens",
    "user": "user_id",
    "uid": "user_id",
    "userid": "user_id",
    "customer_id": "user_id",
    "agent": "agent_id",
    "app_id": "agent_id",
    "agentid": "agent_id",
    "conversation_id": "session_id",
    "thread_id": "session_id",
    "workflow_run_id": "run_id",
    "messages": "turns",
    "text": "content",
    "message": "content",
    "memory": "content",
    "type": "kind",
    "kind": "type",
    "memory_type": "kind",
    "result": "outcome",
    "status": "outcome",
    "success": "outcome",
    "language": "lang",
    "page": "cursor",
    "offset": "cursor",
    "comment": "note",
    "reason": "note",
    "rating": "verdict",
    "tags": "topics",
}
"""Names that others use for what we call differently; used only where the second is known and the first is not."""


def nearest(name: str, known: list[str]) -> str:
    """Return the known name that was probably meant, or an empty string."""
    meant = _SYNONYMS.get(name.lower().replace("-", "_"), "")
    if meant in known:
        return meant
    close = difflib.get_close_matches(name[:60].lower(), known, n=1, cutoff=0.7)
    return close[0] if close else ""


class Body(BaseModel):
    """A request body or the query parameters of a call: unknown fields are an error that names the nearest known one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _no_unknown_field(cls, value: Any) -> Any:
        if isinstance(value, dict):
            known = [field.alias or name for name, field in cls.model_fields.items()]
            unknown = [str(name) for name in value if name not in known]
            if unknown:
                raise PydanticCustomError("unknown_field", "{text}", {"text": _unknown(unknown[0], known)})
        return value


def _unknown(name: str, known: list[str]) -> str:
    shown = "".join(c for c in name[:60] if c.isprintable())
    hint = nearest(name, known)
    return f"unknown field `{shown}`: " + (f"did you mean `{hint}`?" if hint else f"known are {', '.join(known)}")


def _an_id(value: str, *, to_erase: bool = False) -> str:
    try:
        return check_id(value, "the id", to_erase=to_erase)
    except InvalidInput as error:
        raise PydanticCustomError("id", "{text}", {"text": error.detail}) from error


_DATE_FIRST = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]", re.ASCII)


def _written_as_a_time(value: Any) -> Any:
    """A bare number would be read as seconds since 1970: `2026` as half an hour past midnight of that year's first day."""
    if isinstance(value, datetime) or (isinstance(value, str) and _DATE_FIRST.match(value)):
        return value
    raise PydanticCustomError("time", "a time with a zone is expected, as in 2026-05-01T09:00:00Z", {})


def _a_time(value: datetime) -> datetime:
    if not 1970 <= value.year <= 2200:
        raise PydanticCustomError("time", "a time between 1970 and 2200 is expected", {})
    return value.astimezone(UTC)


Id = Annotated[StrictStr, Field(min_length=1, max_length=MAX_ID_CHARS), AfterValidator(_an_id)]
"""An id that the caller chose."""


ErasableId = Annotated[StrictStr, Field(min_length=1, max_length=MAX_ID_CHARS), AfterValidator(partial(_an_id, to_erase=True))]
"""An id that the caller chose, maybe when fewer were refused."""


def _a_new_session(value: str) -> str:
    if value.endswith(_SUFFIX):
        raise PydanticCustomError(
            "id", "the id may not end with `{suffix}`: its path would be that of another session's context", {"suffix": _SUFFIX}
        )
    return value


_SUFFIX = "/context"

SessionId = Annotated[Id, AfterValidator(_a_new_session)]
"""An id that a session may begin with: such that `GET /v1/sessions/{session_id}` means that session and nothing else."""

OurId = Annotated[StrictStr, Field(min_length=1, max_length=64)]
"""An id that we gave."""

Moment = Annotated[AwareDatetime, BeforeValidator(_written_as_a_time), AfterValidator(_a_time)]
"""RFC 3339 with a zone; kept in UTC."""


class Owner(Body):
    """Whose memory: every call names a user, an agent or both."""

    user_id: Id | None = Field(default=None, description="The user whose private space this is about.", examples=["ann"])
    agent_id: Id | None = Field(default=None, description="The agent whose shared lessons this is about.", examples=["support-bot"])

    @model_validator(mode="after")
    def _someone(self) -> "Owner":
        if self.user_id is None and self.agent_id is None:
            raise PydanticCustomError("owner", "name `user_id`, `agent_id` or both: nothing is read or written without an owner", {})
        return self
