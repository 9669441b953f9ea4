"""Sessions: turns as they come, the end of a task, where the work stands."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from sqlalchemy import Connection

from api.accepting import answer_of
from api.answers import AcceptedAnswer, CheckpointAnswer, ContextAnswer, SessionAnswer, SessionPage, TurnsAnswer
from api.auth import is_admin
from api.bodies import CheckpointBody, CompleteBody, ContextQuery, SessionsQuery, TurnsBody
from api.door import Door, needs
from api.fields import Id, SessionId
from api.paging import decode, page
from api.services import Caller, Services, Use, caller_of, services_of
from api.turns import is_small, to_turns
from hindwise.errors import NotFound
from hindwise.ledger import intake, sessions
from hindwise.ledger.intake import Accepted
from hindwise.ledger.newest_first import Place
from hindwise.ledger.sessions import Recorded, SessionRow
from hindwise.model.turn import Turn
from hindwise.text.token_budget import count_tokens
from workflows.ids import session_workflow

router = APIRouter(prefix="/v1/sessions", tags=["sessions"], route_class=Door)

_LARGE_BODY = 64 * 1024
"""From here on masking would hold the loop for milliseconds, so a thread does it."""
_MAX_CONTEXT_TURNS = 2_000
_CONTEXT_PAGE = 50


@router.post("/{session_id:path}/turns", operation_id="record_turns", openapi_extra=needs("write"))
async def record_turns(session_id: SessionId, body: TurnsBody, request: Request) -> TurnsAnswer:
    """Keep turns of a session. A turn id sent again with the same content is a duplicate; with other content, 409 and nothing is kept.

    The id may hold slashes, and may not end with `/context`.
    Without `turn_id`: a request that begins with the newest turns of the open task repeats them; the same words said later are new.
    """
    # Taken from the request itself: FastAPI's walk over two dependencies takes longer than all that is done here before the ledger.
    services, tenant = services_of(request), caller_of(request).tenant_id
    engine = services.engine
    user_id, agent_id = body.user_id or "", body.agent_id or ""
    now = engine.clock.now()
    turns = await _prepared(body, user_id, agent_id, services)

    def work(conn: Connection) -> Recorded:
        session = sessions.lock_or_open(conn, engine.secret, tenant, session_id, user_id, agent_id, now)
        return sessions.record_turns(conn, session, turns, now)

    recorded = await engine.ledger.write(work)
    capture = bool(recorded.recorded) and await services.dispatch.asks_to_remember(recorded.session, turns)
    told = await services.dispatch.turns(recorded, capture=capture)
    services.metrics.turns(recorded.recorded, recorded.duplicates)
    return TurnsAnswer(
        recorded=recorded.recorded,
        duplicates=recorded.duplicates,
        turn_count=recorded.session.last_seq,
        status="recorded" if told else "queued",
        workflow_id=session_workflow(recorded.session.handle),
    )


async def _prepared(body: TurnsBody, user_id: str, agent_id: str, services: Services) -> list[Turn]:
    now = services.engine.clock.now()
    if is_small(body.turns, _LARGE_BODY):
        return to_turns(body.turns, user_id=user_id, agent_id=agent_id, now=now, storing=services.storing)
    return await asyncio.to_thread(to_turns, body.turns, user_id=user_id, agent_id=agent_id, now=now, storing=services.storing)


@router.post("/{session_id:path}/complete", status_code=202, operation_id="complete_task", openapi_extra=needs("write"))
async def complete_task(session_id: Id, body: CompleteBody, services: Use, caller: Caller, response: Response) -> AcceptedAnswer:
    """End the open task of a session: its turns become an episode, and a reflection looks back over it.

    Called again without new turns: the same verdict is a duplicate, another one is a later verdict on the same task.
    """
    engine, tenant = services.engine, caller.tenant_id
    now, reflector = engine.clock.now(), engine.reflector_id()
    goal, outcome = services.storing.text(body.goal), body.outcome.outcome(services.storing.text)

    def work(conn: Connection) -> tuple[SessionRow, Accepted]:
        session = sessions.lock(conn, tenant, session_id, body.user_id, body.agent_id)
        accepted = intake.complete_task(
            conn, session, reflector, goal=goal, outcome=outcome, recall_ids=body.recall_ids, close=body.close, now=now
        )
        return session, accepted

    session, accepted = await engine.ledger.write(work)
    if not accepted.duplicate or (body.close and session.state == "open"):
        services.dispatch.completion(session, accepted, close=body.close)
    return answer_of(services, accepted, response)


@router.get("", operation_id="list_sessions", openapi_extra=needs("read"))
async def list_sessions(query: Annotated[SessionsQuery, Query()], services: Use, caller: Caller) -> SessionPage:
    """List sessions, the newest turn first. Without `user_id`: those that name no user; with an admin key, everybody's."""
    user_id = query.user_id or ""
    ownerless = not user_id and not is_admin(caller)
    after = decode(query.cursor)
    rows, following = await services.engine.ledger.read(
        lambda conn: page(
            lambda place, n: sessions.page(
                conn, caller.tenant_id, query.state or "", user_id=user_id, ownerless=ownerless, after=place, limit=n
            ),
            lambda row: Place(row.last_turn_at, row.handle),
            after,
            query.limit,
        )
    )
    return SessionPage(items=[_answer(row, services) for row in rows], next_cursor=following)


@router.get("/{session_id:path}/context", operation_id="get_session_context", openapi_extra=needs("read"))
async def get_context(session_id: Id, query: Annotated[ContextQuery, Query()], services: Use, caller: Caller) -> ContextAnswer:
    """Tell the newest turns word for word, as many as fit: what an agent that resumes the session reads."""
    session, kept, tokens = await services.engine.ledger.read(lambda conn: _newest(conn, caller.tenant_id, session_id, query.budget_tokens))
    return ContextAnswer(
        session_id=session_id, turns=kept, tokens=tokens, truncated=len(kept) < session.last_seq, checkpoint=session.checkpoint
    )


@router.post("/{session_id:path}/checkpoint", operation_id="set_checkpoint", openapi_extra=needs("write"))
async def set_checkpoint(session_id: Id, body: CheckpointBody, services: Use, caller: Caller) -> CheckpointAnswer:
    """Keep what is done, what is next, and notes; the newest one replaces the one before."""
    checkpoint = {
        "done": services.storing.text(body.done),
        "next": services.storing.text(body.next),
        "notes": services.storing.text(body.notes),
        "at": services.engine.clock.now().isoformat(),
    }
    await services.engine.ledger.write(
        lambda conn: sessions.set_checkpoint(conn, sessions.lock(conn, caller.tenant_id, session_id), checkpoint)
    )
    return CheckpointAnswer(session_id=session_id, checkpoint=checkpoint)


def _found(conn: Connection, tenant_id: str, session_id: str) -> SessionRow:
    session = sessions.find(conn, tenant_id, session_id)
    if session is None:
        raise NotFound(f"no session {session_id!r}: record a turn first")
    return session


def _newest(conn: Connection, tenant_id: str, session_id: str, budget: int) -> tuple[SessionRow, list[Turn], int]:
    """The newest turns within `budget` tokens, oldest first, and what they cost. Read page by page: a turn may hold 256 KiB."""
    session = _found(conn, tenant_id, session_id)
    kept: list[Turn] = []
    tokens, last = 0, session.last_seq
    while last > 0 and len(kept) < _MAX_CONTEXT_TURNS:
        page_of_turns = sessions.turns_of(conn, tenant_id, session_id, last - _CONTEXT_PAGE + 1, last)
        if not page_of_turns:
            break  # older ones were purged
        for turn in reversed(page_of_turns):
            tokens += (cost := count_tokens(turn.text()))
            if tokens > budget:
                return session, kept[::-1], tokens - cost
            kept.append(turn)
        last -= _CONTEXT_PAGE
    return session, kept[::-1], tokens


def _answer(row: SessionRow, services: Services) -> SessionAnswer:
    workflow_id = session_workflow(row.handle)
    return SessionAnswer(
        session_id=row.session_id,
        user_id=row.user_id,
        agent_id=row.agent_id,
        state=row.state,
        turn_count=row.last_seq,
        open_turns=row.last_seq - row.open_seq + 1,
        checkpoint=row.checkpoint,
        opened_at=row.opened_at,
        last_turn_at=row.last_turn_at,
        closed_at=row.closed_at,
        workflow_id=workflow_id,
        workflow_url=services.workflow_url(workflow_id),
    )


# Last: an id may hold slashes, so this path takes whatever the others did not.
@router.get("/{session_id:path}", operation_id="get_session", openapi_extra=needs("read"))
async def get_session(session_id: Id, services: Use, caller: Caller) -> SessionAnswer:
    """Tell where a session stands."""
    return _answer(await services.engine.ledger.read(lambda conn: _found(conn, caller.tenant_id, session_id)), services)
