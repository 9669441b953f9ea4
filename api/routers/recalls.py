"""Logged recalls, and what came of them."""

from typing import Any

from fastapi import APIRouter
from sqlalchemy import Connection, Row

from api.answers import FeedbackAnswer, RecallRecord
from api.bodies import FeedbackBody
from api.door import Door, needs
from api.services import Caller, Use
from hindwise.errors import NotFound
from hindwise.ledger import recalls

router = APIRouter(prefix="/v1/recalls", tags=["recall"], route_class=Door)


@router.get("/{recall_id}", operation_id="get_recall", openapi_extra=needs("read"))
async def get_recall(recall_id: str, services: Use, caller: Caller) -> RecallRecord:
    """Tell what was asked and which memories were told. Logged within a second of the answer."""
    row = await services.engine.ledger.read(lambda conn: recalls.row_of(conn, caller.tenant_id, recall_id))
    return _answer(row)


@router.post("/{recall_id}/feedback", operation_id="post_feedback", openapi_extra=needs("outcome"))
async def post_feedback(recall_id: str, body: FeedbackBody, services: Use, caller: Caller) -> FeedbackAnswer:
    """Say whether what was told helped. It counts at once; another verdict on the same recall replaces the first."""
    now, note = services.engine.clock.now(), services.storing.text(body.note)[:2_000]

    def work(conn: Connection) -> int:
        row = recalls.row_of(conn, caller.tenant_id, recall_id, lock=True)
        if body.memory_id is not None and body.memory_id not in row.memory_ids:
            raise NotFound(f"recall {recall_id!r} did not tell memory {body.memory_id!r}: GET /v1/recalls/{recall_id} lists what it told")
        told = [body.memory_id] if body.memory_id is not None else row.memory_ids
        return recalls.feedback(conn, caller.tenant_id, recall_id, told, body.verdict, note, now)

    counted = await services.engine.ledger.write(work)
    return FeedbackAnswer(recall_id=recall_id, verdict=body.verdict, counted=counted)


def _answer(row: Row[Any]) -> RecallRecord:
    return RecallRecord(
        recall_id=row.id,
        user_id=row.user_id,
        agent_id=row.agent_id,
        session_id=row.session_id,
        run_id=row.run_id,
        query=row.query,
        memory_ids=row.memory_ids,
        degraded=row.degraded,
        at=row.at,
    )
