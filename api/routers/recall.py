"""Recall: a question in, a brief out."""

from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import PlainTextResponse

from api.bodies import RecallBody, RecallQueryText
from api.door import Door, needs
from api.services import Caller, Services, Use
from api.storing import Storing
from hindwise.errors import InvalidInput
from hindwise.model.brief import Recalled, RecallQuery

router = APIRouter(prefix="/v1/recall", tags=["recall"], route_class=Door)

_TEXT = {
    200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "The brief; as text/plain where `format` is text."}
}


@router.post("", operation_id="recall", openapi_extra=needs("read"), response_model=Recalled, responses=_TEXT)  # type: ignore[arg-type]
async def recall(body: RecallBody, services: Use, caller: Caller) -> Recalled | Response:
    """Tell what is worth knowing before a task. No model is asked. Nothing relevant: an empty brief that says why."""
    query = RecallQuery(
        user_id=body.user_id or "",
        agent_id=body.agent_id or "",
        query=asked(body.query, services.storing),
        limit=body.limit,
        budget_tokens=body.budget_tokens,
        kinds=tuple(body.kinds),
        topics=tuple(body.topics),
        profile=body.profile,
        lang=body.lang or "",
        session_id=body.session_id or "",
        run_id=body.run_id or "",
        include_retrospective="retrospective" in body.include,
        explain=body.explain,
    )
    return _shaped(await run(services, caller.tenant_id, query), body.format)


@router.get("", operation_id="recall_by_url", openapi_extra=needs("read"), response_model=Recalled, responses=_TEXT)  # type: ignore[arg-type]
async def recall_by_url(query: Annotated[RecallQueryText, Query()], services: Use, caller: Caller) -> Recalled | Response:
    """The same by a URL alone; `format=text` gives the brief and nothing else, for a prompt node."""
    wanted = RecallQuery(
        user_id=query.user_id or "",
        agent_id=query.agent_id or "",
        query=asked(query.q, services.storing),
        limit=query.limit,
        budget_tokens=query.budget_tokens,
        session_id=query.session_id or "",
        run_id=query.run_id or "",
    )
    return _shaped(await run(services, caller.tenant_id, wanted), query.format)


async def run(services: Services, tenant_id: str, query: RecallQuery) -> Recalled:
    """Recall, and count it."""
    recalled = await services.recaller.recall(tenant_id, query)
    services.metrics.recalled(recalled)
    return recalled


def asked(text: str, storing: Storing) -> str:
    """The question as it may be logged. Raises InvalidInput when nothing readable is left."""
    words = storing.text(text)[:8_000]
    if not words.strip():
        raise InvalidInput("query: holds no words; say the task in a sentence")
    return words


def _shaped(recalled: Recalled, form: str) -> Recalled | Response:
    if form == "json":
        return recalled
    # Read by a prompt node as it is; the id is in a header, so that feedback stays possible.
    # A text ends its last line, so that a prompt of a terminal begins a line of its own; of nothing there is nothing.
    text = f"{recalled.brief}\n" if recalled.brief else ""
    return PlainTextResponse(text, headers={"X-Recall-Id": recalled.recall_id})
