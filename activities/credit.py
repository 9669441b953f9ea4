"""Count the task for every memory that its brief held: use, not merit. Merit comes from outcomes and feedback."""

from sqlalchemy import Connection

from hindwise.engine import Engine
from hindwise.ledger import episodes, recalls, reflections
from workflows.contracts import CreditResult, StepInput


async def credit(engine: Engine, message: StepInput) -> CreditResult:
    """Raise `hits` of the memories that were told to this task, once per task however often it is reflected."""
    now = engine.clock.now()

    def count(conn: Connection) -> CreditResult:
        row = reflections.row_of(conn, message.reflection_id)
        # Locked, and before the reflection: what is counted here goes with the episode when its user is erased.
        episode = episodes.row_of(conn, row.tenant_id, row.episode_id, lock=True)
        reflections.set_running(conn, row.id, "credit", now)
        told = recalls.told_to_task(
            conn,
            row.tenant_id,
            session_id=episode.session_id,
            run_id=episode.run_id,
            recall_ids=episode.recall_ids,
            user_id=episode.user_id,
            after=episodes.recorded_before(conn, episode),
            until=episode.recorded_at,
        )
        counted = recalls.credit_use(conn, row.tenant_id, episode.id, sorted(told), episode.outcome_status, now)
        return CreditResult(credited=counted)

    return await engine.ledger.write(count)
