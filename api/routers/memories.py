"""Memories: written by hand, read, listed, judged by a person, erased."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from sqlalchemy import Connection, Row

from api.answers import MemoryAnswer, MemoryDetail, MemoryEvent, MemoryPage, MemoryWritten
from api.auth import is_admin
from api.bodies import EditBody, MemoriesQuery, MemoryBody, MemoryQuery, ReviewBody, ReviewQuery
from api.door import Door, needs
from api.paging import decode, page
from api.reviewing import new_words
from api.services import Caller, Use
from api.writing import write
from hindwise.errors import InvalidInput
from hindwise.ledger import memories, review
from hindwise.ledger.newest_first import Place
from hindwise.model.memory import Evidence, Memory
from hindwise.model.space import spaces_of
from hindwise.recall.remember import forget
from hindwise.text.clean import clean

NO_REASON = ReviewBody()

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
    after, spaces = decode(query.cursor), spaces_of(query.user_id, query.agent_id)

    def work(conn: Connection) -> tuple[list[Memory], str | None]:
        rows, following = page(
            lambda place, n: memories.page(
                conn,
                caller.tenant_id,
                spaces,
                kind=str(query.kind or ""),
                status=str(query.status or ""),
                containing=clean(query.q),
                after=place,
                limit=n,
            ),
            lambda row: Place(row.recorded_at, row.id),
            after,
            query.limit,
        )
        # As for a single one: quotes are shown to the user they came from.
        places = memories.evidence_of(conn, [row.id for row in rows], reader_user=query.user_id or "")
        return [memories.from_row(row, places.get(row.id, ())) for row in rows], following

    found, following = await services.engine.ledger.read(work)
    return MemoryPage(items=[_answer(memory) for memory in found], next_cursor=following)


@router.get("/review", operation_id="list_waiting_memories", openapi_extra=needs("read"))
async def list_waiting(query: Annotated[ReviewQuery, Query()], services: Use, caller: Caller) -> MemoryPage:
    """List what waits for a person (pending, quarantined), the newest first. Without user and agent: of everybody, for admin keys alone."""
    if not (query.user_id or query.agent_id or is_admin(caller)):
        raise InvalidInput("name a user_id or an agent_id: only an admin key sees what waits of everybody")
    spaces = spaces_of(query.user_id, query.agent_id) if query.user_id or query.agent_id else None
    after = decode(query.cursor)

    def work(conn: Connection) -> tuple[list[Memory], str | None]:
        rows, following = page(
            lambda place, n: review.waiting(conn, caller.tenant_id, spaces, after=place, limit=n),
            lambda row: Place(row.recorded_at, row.id),
            after,
            query.limit,
        )
        return _with_own_quotes(conn, rows, query.user_id or ""), following

    found, following = await services.engine.ledger.read(work)
    return MemoryPage(items=[_answer(memory) for memory in found], next_cursor=following)


def _with_own_quotes(conn: Connection, rows: list[Row[Any]], reader: str) -> list[Memory]:
    """A private memory with its user's quotes; a shared one with those of `reader`."""
    by_reader: dict[str, list[Row[Any]]] = {}
    for row in rows:
        by_reader.setdefault(_reader_of(row.space, reader), []).append(row)
    places: dict[str, tuple[Evidence, ...]] = {}
    for name, held in by_reader.items():
        places |= memories.evidence_of(conn, [row.id for row in held], reader_user=name)
    return [memories.from_row(row, places.get(row.id, ())) for row in rows]


def _reader_of(space: str, named: str) -> str:
    return space.removeprefix("user:") if space.startswith("user:") else named


@router.post("/{memory_id}/confirm", operation_id="confirm_memory", openapi_extra=needs("write"))
async def confirm_memory(memory_id: str, services: Use, caller: Caller, body: ReviewBody = NO_REASON) -> MemoryWritten:
    """A person vouches for a memory: it is told as certain, heads its slot and does not expire."""
    now, why = services.engine.clock.now(), services.storing.line(body.reason, 300)
    memory, replaced = await services.engine.ledger.write(
        lambda conn: review.confirm(conn, caller.tenant_id, memory_id, actor=f"api:{caller.id}", now=now, why=why)
    )
    return MemoryWritten(id=memory.id, status=memory.status, action="confirmed", supersedes=list(replaced))


@router.post("/{memory_id}/reject", operation_id="reject_memory", openapi_extra=needs("write"))
async def reject_memory(memory_id: str, services: Use, caller: Caller, body: ReviewBody = NO_REASON) -> MemoryWritten:
    """A person says that it is not so: kept as history, not told any more, and not learned again from what was said before."""
    now, reason = services.engine.clock.now(), services.storing.line(body.reason, 300)
    memory = await services.engine.ledger.write(
        lambda conn: review.reject(conn, caller.tenant_id, memory_id, actor=f"api:{caller.id}", now=now, reason=reason)
    )
    return MemoryWritten(id=memory.id, status=memory.status, action="rejected")


@router.patch("/{memory_id}", operation_id="edit_memory", openapi_extra=needs("write"))
async def edit_memory(memory_id: str, body: EditBody, services: Use, caller: Caller) -> MemoryWritten:
    """Word a memory anew. Words never change, so the answer names a new memory, confirmed by the caller, that supersedes the old."""
    now, why = services.engine.clock.now(), services.storing.line(body.reason, 300)

    def work(conn: Connection) -> MemoryWritten:
        old, _ = memories.load(conn, caller.tenant_id, memory_id)
        changed = new_words(body, old, services.storing)
        if not changed:
            raise InvalidInput("name at least one field to change, e.g. conclusion")
        edited, replaced = review.edit(conn, caller.tenant_id, memory_id, changed, actor=f"api:{caller.id}", now=now, why=why)
        return MemoryWritten(id=edited.id, status=edited.status, action="edited", supersedes=list(replaced))

    return await services.engine.ledger.write(work)


@router.get("/{memory_id}", operation_id="get_memory", openapi_extra=needs("read"))
async def get_memory(memory_id: str, query: Annotated[MemoryQuery, Query()], services: Use, caller: Caller) -> MemoryDetail:
    """Tell a memory with its retrospective, evidence and history, whatever its status."""

    def work(conn: Connection) -> MemoryDetail:
        memory, _ = memories.load(conn, caller.tenant_id, memory_id)
        # A shared lesson's quotes are the words of the user they came from: nobody else reads them here.
        reader = _reader_of(memory.space, query.user_id or "")
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
    return {"memory_id": memory.id, **memory.model_dump(exclude={"id", "tenant_id", "freshness"})}
