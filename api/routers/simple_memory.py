"""Two lines of curl: one sentence in, found again by the next search."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from api.answers import SimpleResult, SimpleResults, SimpleWritten
from api.bodies import MemoryBody, SearchQuery, SimpleMemoryBody
from api.door import Door, needs
from api.routers.recall import asked, run
from api.services import Caller, Use
from api.writing import write
from hindwise.model.brief import RecallQuery

router = APIRouter(prefix="/memory", tags=["simple"], route_class=Door)


@router.post("", status_code=201, operation_id="add_memory", openapi_extra=needs("write"))
async def add_memory(body: SimpleMemoryBody, request: Request, services: Use, caller: Caller) -> SimpleWritten:
    """Keep one sentence for a user (`default` where none is named)."""
    full = MemoryBody(user_id=body.user_id, content=body.content, kind=body.type)
    written = await write(services, caller, request, full)
    return SimpleWritten(id=written.memory_id, status=written.status)


@router.get("/search", operation_id="search_memory", openapi_extra=needs("read"))
async def search_memory(query: Annotated[SearchQuery, Query()], services: Use, caller: Caller) -> SimpleResults:
    """Find what is relevant, best first; nothing where nothing is."""
    recalled = await run(
        services, caller.tenant_id, RecallQuery(user_id=query.user_id, query=asked(query.q, services.storing), limit=query.limit)
    )
    return SimpleResults(
        results=[
            SimpleResult(id=item.memory_id, content=item.conclusion, kind=str(item.kind), score=item.score, created_at=item.recorded_at)
            for item in recalled.items
        ]
    )
