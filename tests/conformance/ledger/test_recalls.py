"""What was told, to which task, and what came of it."""

from datetime import timedelta

from sqlalchemy import select

from hindwise.ledger import episodes, intake, recalls, sessions
from hindwise.ledger.schema import memories as memory_rows
from hindwise.ledger.schema import recalls as recall_rows
from tests.build import NOON, TENANT, make_draft, make_outcome, make_turn
from tests.conformance.ledger.conftest import RULES
from tests.conformance.ledger.test_resolution import resolve

HOUR = timedelta(hours=1)


def told(recall_id, memory_ids, *, at, session="s1", run=""):
    row = {
        "id": recall_id,
        "tenant_id": TENANT,
        "user_id": "u1",
        "agent_id": "",
        "session_id": session,
        "run_id": run,
        "query": "?",
        "memory_ids": list(memory_ids),
        "degraded": False,
        "at": at,
    }
    return lambda conn: recalls.log(conn, [row])


def finish_task(turn_id, at):
    def work(conn):
        row = sessions.lock_or_open(conn, b"k", TENANT, "s1", "u1", "", at)
        recorded = sessions.record_turns(conn, row, [make_turn(turn_id, turn_id=turn_id)], at)
        return intake.complete_task(conn, recorded.session, RULES, goal="", outcome=make_outcome(), recall_ids=[], close=False, now=at)

    return work


def used_by(accepted):
    def work(conn):
        row = episodes.row_of(conn, TENANT, accepted.episode_id)
        return recalls.told_to_task(
            conn,
            TENANT,
            session_id=row.session_id,
            run_id=row.run_id,
            recall_ids=row.recall_ids,
            user_id=row.user_id,
            after=episodes.recorded_before(conn, row),
            until=row.recorded_at,
        )

    return work


async def test_a_brief_belongs_to_the_first_task_that_ends_after_it(ledger):
    await ledger.write(told("r1", ["m1"], at=NOON))
    first = await ledger.write(finish_task("a", NOON + HOUR))
    await ledger.write(told("r2", ["m2"], at=NOON + 2 * HOUR))
    second = await ledger.write(finish_task("b", NOON + 3 * HOUR))
    await ledger.write(told("r3", ["m3"], at=NOON + 4 * HOUR))
    assert await ledger.read(used_by(first)) == {"m1"}
    assert await ledger.read(used_by(second)) == {"m2"}


async def test_a_use_counts_once_per_task_and_feedback_replaces_itself(ledger):
    (decision,) = await ledger.write(resolve("r1", make_draft("window")))
    memory_id = decision.memory_id

    async def counts():
        query = select(memory_rows.c.hits, memory_rows.c.helpful, memory_rows.c.harmful).where(memory_rows.c.id == memory_id)
        return tuple(await ledger.read(lambda conn: conn.execute(query).one()))

    for _ in range(3):
        await ledger.write(lambda conn: recalls.credit_use(conn, TENANT, "e1", [memory_id], "success", NOON))
    assert await counts() == (1, 0, 0)
    for verdict in ("helpful", "helpful", "harmful"):
        await ledger.write(lambda conn, verdict=verdict: recalls.feedback(conn, TENANT, "q1", [memory_id], verdict, "", NOON))
    assert await counts() == (1, 0, 1)


async def test_the_oldest_recalls_are_purged_page_by_page_and_what_came_of_them_stays(ledger):
    for number in range(5):
        await ledger.write(told(f"r{number}", ["m1"], at=NOON + number * HOUR))
    assert await ledger.write(lambda conn: recalls.purge(conn, NOON + 3 * HOUR, 2)) == 2
    assert await ledger.write(lambda conn: recalls.purge(conn, NOON + 3 * HOUR, 2)) == 1
    left = await ledger.read(lambda conn: conn.execute(select(recall_rows.c.id).order_by(recall_rows.c.at)).scalars().all())
    assert left == ["r3", "r4"]
