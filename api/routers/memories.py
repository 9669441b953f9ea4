"""Memories: written by hand, read, listed, erased."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from sqlalchemy import Connection

from api.answers import MemoryAnswer, MemoryDetail, MemoryEvent, MemoryPage, MemoryWritten
from api.bodies import MemoriesQuery, MemoryBody, MemoryQuery
from api.door import Door, needs
from api.paging import decode, page
from api.services import Caller, Use
from api.writing import write
from hindwise.ledger import memories
from hindwise.model.memory import Memory
from hindwise.model.space import spaces_of
from hindwise.recall.remember import forget
from hindwise.text.clean import clean

router = APIRouter(prefix="/v1/memories", tags=["memories"], route_class=Door)


@router.post("", status_code=201, operation_id="create_memory", openapi_extra=needs("write"))
async def create_memory(body: MemoryBody, request: Request, services: Use, caller: Caller, response: Response) -> MemoryWritten:
    """Keep a statement; the next recall finds it. What is said again holds longer; another value of the same property replaces it."""
    written = await write(services, caller, request, body)
    response.headers["Location"] = f"/v1/memories/{written.memory_id}"
    return MemoryWritten(id=written.memory_id, status=written.status, action=written.action, supersedes=list(written.supersedes))


@router.get("", operation_id="list_memories", openapi_extra=needs("read"))
async def list_memories(query: Annotated[MemoriesQuery, Query()], services: Use, caller: Caller) -> MemoryPage:
    """List what is kept in the named spaces, the newest first, history included."""
    cursor, spaces = decode(query.cursor), spaces_of(query.user_id, query.agent_id)

    def work(conn: Connection) -> tuple[list[Memory], str | None]:
        rows, following = page(
            lambda before, n: memories.page(
                conn,
                caller.tenant_id,
                spaces,
                kind=str(query.kind or ""),
                status=str(query.status or ""),
                containing=clean(query.q),
                before=before,
                limit=n,
            ),
            lambda row: row.recorded_at,
            cursor,
            query.limit,
        )
        # As for a single one: quotes are shown to the user they came from.
        places = memories.evidence_of(conn, [row.id for row in rows], reader_user=query.user_id or "")
        return [memories.from_row(row, places.get(row.id, ())) for row in rows], following

    found, following = await services.engine.ledger.read(work)
    return MemoryPage(items=[_answer(memory) for memory in found], next_cursor=following)


@router.get("/{memory_id}", operation_id="get_memory", openapi_extra=needs("read"))
async def get_memory(memory_id: str, query: Annotated[MemoryQuery, Query()], services: Use, caller: Caller) -> MemoryDetail:
    """Tell a memory with its retrospective, evidence and history, whatever its status."""

    def work(conn: Connection) -> MemoryDetail:
        memory, _ = memories.load(conn, caller.tenant_id, memory_id)
        # A shared lesson's quotes are the words of the user they came from: nobody else reads them here.
        reader = memory.space.removeprefix("user:") if memory.space.startswith("user:") else query.user_id or ""
        shown = memory.model_copy(update={"evidence": memories.evidence_of(conn, [memory_id], reader_user=reader).get(memory_id, ())})
        events = [MemoryEvent(at=row.at, action=row.action, why=row.why, actor=row.actor) for row in memories.history(conn, memory_id)]
        return MemoryDetail(**_values(shown), history=events)

    return await services.engine.ledger.read(work)


@router.delete("/{memory_id}", status_code=204, operation_id="erase_memory", openapi_extra=needs("write"))
async def erase_memory(memory_id: str, services: Use, caller: Caller) -> Response:
    """Erase a memory for good: from the ledger with its history and drafts, and from the index."""
    await forget(services.engine, caller.tenant_id, memory_id)
    await services.engine.ledger.empty_log()
    return Response(status_code=204)


def _answer(memory: Memory) -> MemoryAnswer:
    return MemoryAnswer(**_values(memory))


def _values(memory: Memory) -> dict[str, Any]:
    return {"memory_id": memory.id, **memory.model_dump(exclude={"id", "tenant_id", "freshness", "confirmed_by"})}
