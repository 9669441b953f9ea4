"""Webhooks: other systems' reports of finished runs, translated.

A run already known is always 202, with what differs said in words: a 4xx would fail the sender's run.
"""

import asyncio
import hashlib
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response

from api import dify
from api.accepting import accept_run, answer_of, run_episode
from api.answers import AcceptedAnswer, IgnoredAnswer
from api.door import Door, needs
from api.errors import Unauthorized
from api.fields import Id
from api.services import Caller, Use
from hindwise.errors import NotFound

router = APIRouter(prefix="/v1/hooks", tags=["hooks"], route_class=Door)

_SIGNATURES = ("webhook-signature", "svix-signature", "x-hub-signature-256", "x-hub-signature", "x-webhook-signature-v2")

_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "What Dify sends, in any of its shapes; unknown fields are passed over.",
        "content": {
            "application/json": {
                "schema": {"type": "object", "additionalProperties": True},
                "examples": {
                    "canvas": {
                        "summary": "An HTTP node on the canvas posts one object",
                        "value": {
                            "source": "dify",
                            "event": "workflow.finished",
                            "run": {"workflow_run_id": "0b6e-1", "workflow_id": "5d1c", "app_id": "77aa", "user_id": "crm-7"},
                            "status": "failed",
                            "error": "policy service timed out",
                            "task": {"goal": "Reply to a late-order complaint", "inputs": {"order_id": "4410"}},
                            "outputs": {},
                            "steps": [{"title": "Policy", "type": "tool", "output": "", "error": "timeout"}],
                        },
                    },
                    "workflow_finished": {
                        "summary": "The event at the end of a stream",
                        "value": {
                            "event": "workflow_finished",
                            "workflow_run_id": "0b6e",
                            "data": {
                                "id": "0b6e",
                                "status": "succeeded",
                                "outputs": {"letter": "亲爱的顾客……"},
                                "created_by": {"user": "crm-7"},
                            },
                        },
                    },
                },
            },
            "text/plain": {
                "schema": {"type": "string"},
                "examples": {
                    "canvas": {
                        "summary": "The same object as text: Dify's HTTP node names this content type now and then, or none at all",
                        "value": '{"event": "workflow.finished", '
                        '"run": {"workflow_run_id": "0b6e-2", "app_id": "77aa", "user_id": "crm-7"}, '
                        '"status": "failed", "error": "库存服务超时", "task": {"goal": "答复缺货投诉"}}',
                    }
                },
            },
            "application/x-www-form-urlencoded": {
                "schema": {
                    "type": "object",
                    "required": ["status"],
                    "properties": {
                        "workflow_run_id": {"type": "string", "description": "Names the run: sent twice, it is one episode."},
                        "status": {"type": "string", "description": "succeeded, failed, partial-succeeded or stopped."},
                        "user_id": {"type": "string"},
                        "app_id": {"type": "string", "description": "The agent whose lessons they are."},
                        "goal": {"type": "string"},
                        "inputs": {"type": "string", "description": "An object as JSON text."},
                        "output": {"type": "string"},
                        "error": {"type": "string"},
                        "elapsed_time": {"type": "string", "description": "Seconds."},
                    },
                    "additionalProperties": True,
                },
                "examples": {
                    "form": {
                        "summary": "The body kind x-www-form-urlencoded of an HTTP node",
                        "value": {
                            "workflow_run_id": "0b6e-3",
                            "status": "failed",
                            "user_id": "desk-12",
                            "app_id": "77aa",
                            "goal": "Create a return label for a parcel from Sweden",
                            "inputs": '{"parcel": "P-219"}',
                            "output": "",
                            "error": "return labels need the original label's number",
                            "elapsed_time": "1.9",
                        },
                    }
                },
            },
        },
    }
}


@router.post("/{source}", status_code=202, operation_id="receive_hook", openapi_extra=needs("write", raw_body=True) | _BODY)
async def receive_hook(
    source: Annotated[str, Path(json_schema_extra={"enum": [dify.SOURCE]}, description="Which system reports.")],
    request: Request,
    services: Use,
    caller: Caller,
    response: Response,
    user_id: Annotated[Id | None, Query(description="Whose run; overrules the body.")] = None,
    agent_id: Annotated[Id | None, Query(description="Whose lessons; overrules the body.")] = None,
    goal: Annotated[str, Query(max_length=8_000, description="What for; overrules the body.")] = "",
) -> AcceptedAnswer | IgnoredAnswer:
    """Take the report of a finished run. `dify` is the one source so far.

    The run is kept before the answer; its reflection starts in the background, also when Temporal is down. A run already known is
    `duplicate: true`, with `differs: true` where the body is another one: the first is kept.
    """
    if source != dify.SOURCE:
        raise NotFound(f"no hook for {source[:40]!r}: known is `{dify.SOURCE}`")
    _refuse_signatures(request)
    body = await request.body()
    query = {"user_id": user_id or "", "agent_id": agent_id or "", "goal": goal}
    run = await asyncio.to_thread(
        dify.normalise,
        body,
        request.headers.get("content-type", ""),
        query,
        services.engine.clock.now(),
        fallback_run_id=_named_by(request),
        storing=services.storing,
    )
    if isinstance(run, dify.Ignored):
        return IgnoredAnswer(reason=run.reason)
    episode = run_episode(
        caller.tenant_id,
        source,
        run.run_id,
        user_id=run.user_id,
        agent_id=run.agent_id,
        goal=run.goal,
        outcome=run.outcome,
        turns=run.turns,
        inputs=run.inputs,
        started_at=run.started_at,
        ended_at=run.ended_at,
    )
    accepted = await accept_run(services, caller.tenant_id, episode, recall_ids=(), keep_first=True)
    return answer_of(services, accepted, response)


def _refuse_signatures(request: Request) -> None:
    """A signature that we cannot check must not be passed over as if it had been."""
    shown = [name for name in _SIGNATURES if name in request.headers]
    if shown:
        raise Unauthorized(f"`{shown[0]}`: signed hooks are not verified here yet; send the key alone, as bearer or X-API-Key")


def _named_by(request: Request) -> str:
    """A name for a run that brings none: the delivery's own. Empty: the digest of the body."""
    given = request.headers.get("idempotency-key") or request.headers.get("webhook-id") or ""
    return "delivery-" + hashlib.sha256(given.encode()).hexdigest() if given else ""
