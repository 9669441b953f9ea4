"""Count the task for every memory that its brief held: use, not merit. Merit comes from outcomes and feedback."""

from typing import Any

from sqlalchemy import Connection, Row

from hindwise.engine import Engine
from hindwise.ledger import episodes, recalls, reflections
from workflows.contracts import CreditResult, StepInput


async def credit(engine: Engine, message: StepInput) -> CreditResult:
    """Raise `hits` of the memories that were told to this task, once per task however often it is reflected."""
    # Most tasks were told nothing: that is seen without a transaction that writes.
    if not await engine.ledger.read(lambda conn: _told(conn, _load(conn, message.reflection_id, lock=False)[1])):
        return CreditResult()
    now = engine.clock.now()

    def count(conn: Connection) -> CreditResult:
        row, episode = _load(conn, message.reflection_id, lock=True)
        reflections.set_running(conn, row.id, "credit", now)
        told = _told(conn, episode)
        counted = recalls.credit_use(conn, row.tenant_id, episode.id, sorted(told), episode.outcome_status, now)
        return CreditResult(credited=counted)

    return await engine.ledger.write(count)


def _load(conn: Connection, reflection_id: str, *, lock: bool) -> tuple[Row[Any], Row[Any]]:
    """The rows of the reflection and of its episode. Locked, and before the reflection: what is counted goes with the episode when its
    user is erased.
    """
    row = reflections.row_of(conn, reflection_id)
    return row, episodes.row_of(conn, row.tenant_id, row.episode_id, lock=lock)


def _told(conn: Connection, episode: Row[Any]) -> set[str]:
    """Ids of the memories that this task's briefs held."""
    return set(
        recalls.told_to_task(
            conn,
            episode.tenant_id,
            session_id=episode.session_id,
            run_id=episode.run_id,
            recall_ids=episode.recall_ids,
            user_id=episode.user_id,
            after=episodes.recorded_before(conn, episode),
            until=episode.recorded_at,
        )
    )
