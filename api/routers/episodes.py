"""Episodes: whole finished tasks, and later verdicts on them."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from sqlalchemy import Connection, Row

from api.accepting import accept_outcome, accept_run, answer_of, run_episode
from api.answers import AcceptedAnswer, EpisodeAnswer, EpisodeDetail, EpisodePage, VerdictAnswer
from api.auth import is_admin
from api.bodies import EpisodeBody, EpisodesQuery, OutcomeBody, TaskQuery
from api.door import Door, needs
from api.paging import decode, page
from api.services import Caller, Use
from api.turns import whole_run
from hindwise.errors import InvalidInput, NotFound
from hindwise.ledger import episodes, reflections, sessions
from hindwise.ledger.newest_first import Place
from hindwise.model.episode import Outcome
from hindwise.model.turn import Turn

router = APIRouter(prefix="/v1/episodes", tags=["episodes"], route_class=Door)

_PAGE = 50
_MAX_TURNS, _MAX_CHARS = 1_000, 4_000_000
"""So much of a task is told at once."""


@router.post("", status_code=202, operation_id="post_episode", openapi_extra=needs("write"))
async def post_episode(body: EpisodeBody, services: Use, caller: Caller, response: Response) -> AcceptedAnswer:
    """Keep a whole finished task and look back over it. The same run again is a duplicate; with other content, 409 and the first stays."""
    now = services.engine.clock.now()
    user_id, agent_id = body.user_id or "", body.agent_id or ""
    turns, digests = await asyncio.to_thread(
        lambda: whole_run(body.turns, user_id=user_id, agent_id=agent_id, now=now, storing=services.storing)
    )
    times = [turn.occurred_at for turn in turns]
    episode = run_episode(
        caller.tenant_id,
        "api",
        body.run_id,
        user_id=user_id,
        agent_id=agent_id,
        goal=services.storing.text(body.goal),
        outcome=body.outcome.outcome(services.storing.text),
        turns=turns,
        inputs={},
        started_at=min(times),
        ended_at=max(times),
    )
    accepted = await accept_run(services, caller.tenant_id, episode, recall_ids=body.recall_ids, keep_first=False, digests=digests)
    return answer_of(services, accepted, response)


@router.get("", operation_id="list_episodes", openapi_extra=needs("read"))
async def list_episodes(query: Annotated[EpisodesQuery, Query()], services: Use, caller: Caller) -> EpisodePage:
    """List finished tasks, the newest end first. Without `user_id`: those that name no user; with an admin key, everybody's."""
    after = decode(query.cursor)
    rows, following = await services.engine.ledger.read(
        lambda conn: page(
            lambda place, n: episodes.page(
                conn,
                caller.tenant_id,
                user_id=query.user_id or "",
                agent_id=query.agent_id or "",
                outcome=str(query.outcome or ""),
                ownerless=not query.user_id and not is_admin(caller),
                after=place,
                limit=n,
            ),
            lambda row: Place(row.ended_at, row.id),
            after,
            query.limit,
        )
    )
    return EpisodePage(items=[EpisodeAnswer(**_plain(row)) for row in rows], next_cursor=following)


@router.get("/{episode_id}", operation_id="get_episode", openapi_extra=needs("read"))
async def get_episode(episode_id: str, services: Use, caller: Caller) -> EpisodeDetail:
    """Tell a finished task with its turns and all verdicts."""
    return await services.engine.ledger.read(lambda conn: _detail(conn, caller.tenant_id, episode_id))


@router.post("/outcome", status_code=202, operation_id="post_outcome_of_task", openapi_extra=needs("outcome"))
async def post_outcome_of_task(
    query: Annotated[TaskQuery, Query()], body: OutcomeBody, services: Use, caller: Caller, response: Response
) -> AcceptedAnswer:
    """A later or corrected verdict on a task named by its run, or on the newest task of a session."""
    if (query.run_id is None) == (query.session_id is None):
        raise InvalidInput("name the task by `run_id` or by `session_id`, one of them")
    ids = await services.engine.ledger.read(
        lambda conn: episodes.find_ids(conn, caller.tenant_id, run_id=query.run_id or "", session_id=query.session_id or "")
    )
    if not ids:
        raise NotFound(f"no finished task of {'run' if query.run_id else 'session'} {(query.run_id or query.session_id)!r}")
    return answer_of(services, await accept_outcome(services, caller.tenant_id, ids[0], body.outcome(services.storing.text)), response)


@router.post("/{episode_id}/outcome", status_code=202, operation_id="post_outcome", openapi_extra=needs("outcome"))
async def post_outcome(episode_id: str, body: OutcomeBody, services: Use, caller: Caller, response: Response) -> AcceptedAnswer:
    """A later or corrected verdict. Where it changes the outcome, a new reflection replaces what the old one concluded."""
    return answer_of(services, await accept_outcome(services, caller.tenant_id, episode_id, body.outcome(services.storing.text)), response)


def _plain(row: Row[Any]) -> dict[str, Any]:
    return {
        "episode_id": row.id,
        "user_id": row.user_id,
        "agent_id": row.agent_id,
        "session_id": row.session_id,
        "run_id": row.run_id,
        "source": row.source,
        "goal": row.goal,
        "outcome": Outcome(**row.outcome),
        "closed_by": row.closed_by,
        "started_at": row.started_at,
        "ended_at": row.ended_at,
    }


def _detail(conn: Connection, tenant_id: str, episode_id: str) -> EpisodeDetail:
    row = episodes.row_of(conn, tenant_id, episode_id)
    newest = reflections.newest_of_episode(conn, episode_id)
    turns, truncated = _turns(conn, row)
    return EpisodeDetail(
        **_plain(row),
        inputs=row.inputs,
        turns=turns,
        truncated=truncated,
        verdicts=[VerdictAnswer(outcome=v.outcome, at=v.at, accepted=v.accepted) for v in episodes.verdicts(row)],
        reflection_id=newest.id if newest else None,
        purged=row.purged_at is not None,
    )


def _turns(conn: Connection, row: Row[Any]) -> tuple[list[Turn], bool]:
    """The first turns of a task, and whether some were left out. Read page by page: a turn may hold 256 KiB."""
    kept: list[Turn] = []
    size = 0
    for first in range(row.first_seq, row.last_seq + 1, _PAGE):
        for turn in sessions.turns_of(conn, row.tenant_id, row.session_key, first, min(first + _PAGE - 1, row.last_seq)):
            size += len(turn.text())
            if len(kept) == _MAX_TURNS or (kept and size > _MAX_CHARS):
                return kept, True
            kept.append(turn)
    return kept, False
