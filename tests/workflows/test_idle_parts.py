"""An idle session that held two tasks ends in two episodes and two reflections, whoever dies in between."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
import pytest_asyncio
from sqlalchemy import Connection, select
from temporalio.testing import WorkflowEnvironment

from hindwise.ledger import recalls, sessions
from hindwise.ledger.episodes import purge_turns
from hindwise.ledger.schema import credits as credit_rows
from hindwise.ledger.schema import episodes
from hindwise.model.ids import derive, episode_of_range
from hindwise.model.turn import Turn
from tests.build import TENANT, make_call, make_outcome, make_turn, make_turns
from tests.workflows.rig import Rig, rig, snapshot
from tests.workflows.stage import until
from tests.workflows.test_killed_worker import Snapshot, _doomed, _line
from workflows import ids

pytestmark = pytest.mark.asyncio(loop_scope="session")

SESSION = "two-tasks"
FIRST = (
    make_turn("Please change my booking to the 9 am train. I always prefer a window seat.", seq=1),
    make_turn("", role="assistant", seq=2, tool_calls=(make_call("update_reservation", seat="12A"),)),
    make_turn("Error: payment method required", role="tool", seq=3, name="update_reservation", tool_call_id="call-update_reservation"),
    make_turn("I could not change it.", role="assistant", seq=4),
    make_turn("That is wrong, it is still the old train.", seq=5),
)
SECOND = (
    make_turn("换个话题，把这个月的加油小票做成表。以后合计一律放在第一行。", seq=6),
    make_turn("做好了，合计在第一行。", role="assistant", seq=7),
    make_turn("可以了，谢谢！", seq=8),
)


async def _idle(house: Rig, environment: WorkflowEnvironment, *, ends: bool = True) -> None:
    session = house.client.get_workflow_handle(ids.session_workflow(house.session_input(SESSION).handle))
    await environment.fast_forward(session, timedelta(minutes=31))
    if ends:
        await session.result()


async def _reflected(house: Rig, count: int) -> None:
    async def all_are() -> bool:
        rows = (await house.engine.ledger.read(snapshot))["reflections"]
        return [row[1] for row in rows] == ["completed"] * count

    await until(all_are, 90)


async def _episodes(house: Rig) -> list[tuple[str, int, int, str, str, str]]:
    columns = [episodes.c[name] for name in ("id", "first_seq", "last_seq", "outcome_status", "closed_by", "goal")]
    rows = await house.engine.ledger.read(lambda conn: conn.execute(select(*columns).order_by(episodes.c.first_seq)).all())
    return [tuple(row) for row in rows]


EXPECTED = [
    (episode_of_range(TENANT, SESSION, 1, 5), 1, 5, "failure", "idle", FIRST[0].content),
    (episode_of_range(TENANT, SESSION, 6, 8), 6, 8, "success", "idle", SECOND[0].content.removeprefix("换个话题，")),
]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def undisturbed(environment: WorkflowEnvironment, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Snapshot]:
    """What the two reflections leave when nobody dies."""
    async with rig(tmp_path_factory.mktemp("calm"), environment.client) as house:
        async with house.workers():
            await house.say(SESSION, "ana", "travel", (*FIRST, *SECOND))
            await _idle(house, environment)
            await _reflected(house, 2)
        assert await _episodes(house) == EXPECTED
        yield await house.engine.ledger.read(snapshot)


async def test_two_tasks_of_an_idle_session_are_two_episodes_with_two_reflections(undisturbed: Snapshot) -> None:
    """Each with its own goal, outcome and conclusions, in its own language."""
    assert len(undisturbed["reflections"]) == 2
    conclusions = [row[4] for row in undisturbed["memories"]]
    assert any("window seat" in line for line in conclusions)
    assert any("合计" in line for line in conclusions)


@pytest.mark.parametrize("step", ["close_idle", "gather"])
async def test_a_worker_killed_while_the_parts_are_closed_or_started_loses_and_doubles_nothing(
    environment: WorkflowEnvironment, undisturbed: Snapshot, tmp_path: Path, step: str
) -> None:
    """Before and after the ledger has the episodes; and while the first of their reflections begins and the second waits."""
    async with rig(tmp_path / "data", environment.client) as house:
        async with house.workers():
            await house.say(SESSION, "ana", "travel", (*FIRST, *SECOND))
        async with _doomed(house, step) as process:
            await _idle(house, environment, ends=False)
            assert [await _line(process), await _line(process)] == ["before 9", "after 9"]
            assert await _line(process) == "healthy"
            await _reflected(house, 2)
        assert await _episodes(house) == EXPECTED
        left = await house.engine.ledger.read(snapshot)
    for name in ("reflections", "drafts", "memories", "evidence", "events"):
        assert left[name] == undisturbed[name], name


async def test_tasks_that_a_caller_ends_are_never_cut(environment: WorkflowEnvironment, tmp_path: Path) -> None:
    """Completed, the same turns are one episode."""
    async with rig(tmp_path / "data", environment.client) as house, house.workers():
        await house.say(SESSION, "ana", "travel", (*FIRST, *SECOND))
        accepted = await house.complete(SESSION, make_outcome("partial"), close=True)
        await house.final(accepted.reflection_id)
        assert [row[1:4] for row in await _episodes(house)] == [(1, 8, "partial")]


async def test_a_brief_is_credited_to_the_task_it_was_told_to(environment: WorkflowEnvironment, tmp_path: Path) -> None:
    """By the ledger's clock: what was told after the first task's last turn belongs to the second."""
    told = {part: derive("memory", part) for part in ("first", "second")}
    async with rig(tmp_path / "data", environment.client) as house:

        async def recalled(part: str) -> None:
            row = {
                "id": derive("recall", part), "tenant_id": TENANT, "user_id": "ana", "agent_id": "travel", "session_id": SESSION,
                "run_id": "", "query": part, "memory_ids": [told[part]], "degraded": False, "at": house.engine.clock.now(),
            }  # fmt: skip
            await house.engine.ledger.write(lambda conn: recalls.log(conn, [row]))

        async with house.workers():
            await recalled("first")
            await house.say(SESSION, "ana", "travel", FIRST)
            await recalled("second")
            await house.say(SESSION, "ana", "travel", SECOND)
            await _idle(house, environment)
            await _reflected(house, 2)
        rows = await house.engine.ledger.read(
            lambda conn: conn.execute(select(credit_rows.c.memory_id, credit_rows.c.source_id).where(credit_rows.c.kind == "use")).all()
        )
    assert {tuple(row) for row in rows} == {(told["first"], EXPECTED[0][0]), (told["second"], EXPECTED[1][0])}


async def test_twelve_tasks_of_one_idle_session_are_all_reflected(environment: WorkflowEnvironment, tmp_path: Path) -> None:
    """The bound of a cut and the bound of what one close may start fit together."""
    words = ("train", "garden", "invoice", "choir", "kitchen", "bicycle", "poem", "server", "passport", "piano", "tent", "sauna")
    lines = [
        line
        for word in words
        for line in (
            ("user", f"New task: I always want my {word} list sorted by date, sort it."),
            ("assistant", f"The {word} list is sorted."),
        )
    ]
    turns: tuple[Turn, ...] = make_turns(*lines)
    async with rig(tmp_path / "data", environment.client) as house, house.workers():
        await house.say(SESSION, "ana", "travel", turns)
        await _idle(house, environment)

        async def all_final() -> bool:
            rows = (await house.engine.ledger.read(snapshot))["reflections"]
            return len(rows) == 12 and {row[1] for row in rows} <= {"completed", "skipped"}

        await until(all_final, 90)
        kept = await _episodes(house)

        def closed(conn: Connection) -> tuple[str, int]:
            session = sessions.lock(conn, TENANT, SESSION)
            return session.state, session.open_seq

        assert await house.engine.ledger.write(closed) == ("closed", 25)
        now = house.engine.clock.now()
        await house.engine.ledger.write(lambda conn: purge_turns(conn, now, now, 100))
        purged = await _episodes(house)
    assert [(row[1], row[2]) for row in kept] == [(2 * n + 1, 2 * n + 2) for n in range(12)]
    assert [word in row[5] for word, row in zip(words, kept, strict=True)] == [True] * 12
    # The goal is words of a turn, and goes when the turns go.
    assert {row[5] for row in purged} == {""}
