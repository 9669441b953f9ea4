"""What all doors do with a finished run: keep it in one transaction, start its reflection in the background, tell where to look."""

from collections.abc import Sequence
from datetime import datetime

from fastapi import Response

from api.answers import AcceptedAnswer
from api.services import Services
from hindwise.engine import Engine
from hindwise.ledger import intake
from hindwise.ledger.intake import Accepted
from hindwise.model.episode import Episode, Outcome

RETRY_AFTER_S = 5


async def accept_run(
    services: Services,
    tenant_id: str,
    episode: Episode,
    *,
    recall_ids: Sequence[str],
    keep_first: bool,
    digests: Sequence[str] | None = None,
) -> Accepted:
    """Keep a whole run; a new one is handed to Temporal in the background. Raises EpisodeConflict unless `keep_first`.

    digests: of its turns' contents, where they are known.
    """
    engine = services.engine
    now, reflector = engine.clock.now(), engine.reflector_id()
    accepted = await engine.ledger.write(
        lambda conn: intake.accept_run(conn, episode, reflector, recall_ids=recall_ids, now=now, keep_first=keep_first, digests=digests)
    )
    _begin(services, tenant_id, accepted)
    return accepted


async def accept_outcome(services: Services, tenant_id: str, episode_id: str, outcome: Outcome) -> Accepted:
    """Keep a later verdict; where it changes the outcome, a new reflection begins. Raises NotFound."""
    engine: Engine = services.engine
    now, reflector = engine.clock.now(), engine.reflector_id()
    accepted = await engine.ledger.write(lambda conn: intake.later_outcome(conn, tenant_id, episode_id, outcome, reflector, now))
    _begin(services, tenant_id, accepted)
    return accepted


def _begin(services: Services, tenant_id: str, accepted: Accepted) -> None:
    # A duplicate that still waits belongs to whoever accepted it first, or to the sweeper: ten at once are one start.
    if not accepted.duplicate:
        services.dispatch.reflection(tenant_id, accepted)


def answer_of(services: Services, accepted: Accepted, response: Response) -> AcceptedAnswer:
    """The 202 of all doors, with where to look and when."""
    url, workflow_id = f"/v1/reflections/{accepted.reflection_id}", services.reflection_workflow(accepted.reflection_id)
    response.headers["Location"] = url
    response.headers["Retry-After"] = str(RETRY_AFTER_S)
    if accepted.duplicate:
        response.headers["Idempotent-Replayed"] = "true"
    return AcceptedAnswer(
        episode_id=accepted.episode_id,
        reflection_id=accepted.reflection_id,
        status=accepted.status,
        duplicate=accepted.duplicate,
        differs=accepted.differs,
        status_url=url,
        spaces=list(accepted.spaces),
        workflow_id=workflow_id,
        workflow_url=services.workflow_url(workflow_id),
    )


def run_episode(
    tenant_id: str,
    source: str,
    run_id: str,
    *,
    user_id: str,
    agent_id: str,
    goal: str,
    outcome: Outcome,
    turns: Sequence[object],
    inputs: dict[str, object],
    started_at: datetime,
    ended_at: datetime,
) -> Episode:
    """Return the episode of a run that a caller delimited."""
    return Episode.model_validate(
        {
            "id": intake.run_episode_id(tenant_id, source, run_id),
            "tenant_id": tenant_id,
            "user_id": user_id,
            "agent_id": agent_id,
            "run_id": run_id,
            "source": source,
            "goal": goal,
            "inputs": inputs,
            "outcome": outcome,
            "turns": tuple(turns),
            "started_at": started_at,
            "ended_at": ended_at,
        }
    )
