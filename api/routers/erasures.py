"""Erasing a user, and the receipt of it. What is told is numbers and times: the receipt names the user by a keyed hash alone."""

from fastapi import APIRouter, Request, Response

from api.answers import ErasureAccepted, ErasureAnswer
from api.bodies import ErasureBody
from api.door import Door, needs
from api.services import Caller, Services, Use
from hindwise.ledger import erasures
from hindwise.ledger.erasures import Erasure
from hindwise.model.ids import derive
from hindwise.privacy import erase_user
from workflows.ids import erase_workflow

router = APIRouter(prefix="/v1/erasures", tags=["privacy"], route_class=Door)

RETRY_AFTER_S = 2


@router.post("", status_code=202, operation_id="erase_user", openapi_extra=needs("write"))
async def post_erasure(body: ErasureBody, request: Request, services: Use, caller: Caller, response: Response) -> ErasureAccepted:
    """Erase a user of your tenant for good: turns, tasks, reflections, memories, vectors, logged recalls. There is no way back.

    A user who is not known gets a receipt with zeros, so nobody learns by asking who is. Asked again before it is done, the same
    erasure answers, and tries again where it waits. Who comes back afterwards begins anew. Lessons that this user's tasks taught to an
    agent stay, without quotes and without a trace of the user: `shared_lessons_kept`.
    """
    key, tenant = request.headers.get("idempotency-key", "").strip(), caller.tenant_id
    # A request that is repeated because its answer was lost must not erase what the user wrote since.
    named = derive("erasure", tenant, key, body.user_id) if key else ""
    erasure = await erase_user.request(services.engine, tenant, body.user_id, f"api:{caller.id}", erasure_id=named)
    services.dispatch.erasure(erasure)
    url, workflow_id = f"/v1/erasures/{erasure.id}", _workflow(services, erasure)
    response.headers["Location"] = url
    response.headers["Retry-After"] = str(RETRY_AFTER_S)
    return ErasureAccepted(
        erasure_id=erasure.id,
        status=erasure.status,
        status_url=url,
        workflow_id=workflow_id,
        workflow_url=services.workflow_url(workflow_id),
    )


@router.get("/{erasure_id}", operation_id="get_erasure", openapi_extra=needs("read"))
async def get_erasure(erasure_id: str, services: Use, caller: Caller) -> ErasureAnswer:
    """Tell where an erasure stands; once `completed`, this is its receipt."""
    erasure = await services.engine.ledger.read(lambda conn: erasures.get(conn, erasure_id, tenant_id=caller.tenant_id))
    workflow_id, counts = _workflow(services, erasure), erasure.counts
    return ErasureAnswer(
        erasure_id=erasure.id,
        status=erasure.status,
        user_hash=erasure.user_hash,
        requested_at=erasure.requested_at,
        started_at=erasure.started_at,
        wiped_at=erasure.wiped_at,
        finished_at=erasure.finished_at,
        ledger=counts.get("ledger", {}),
        index=counts.get("index", {}),
        found_again=counts.get("searched", {}),
        shared_lessons_kept=counts.get("shared_lessons_kept", 0),
        error=erasure.error,
        workflow_id=workflow_id,
        workflow_url=services.workflow_url(workflow_id),
    )


def _workflow(services: Services, erasure: Erasure) -> str:
    return erase_workflow(erasure.id, services.engine.settings.task_queue_prefix)
