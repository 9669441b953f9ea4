"""A step finds something gone: an erasure ends the reflection, a memory that went is looked for anew, and no sweep begins it for ever."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection, update
from temporalio.testing import WorkflowEnvironment

from hindwise.errors import NotFound
from hindwise.ledger import reflections
from hindwise.ledger.schema import spaces
from hindwise.model.episode import Episode
from hindwise.model.reflection import Answer, Complaint, ReflectionStatus
from hindwise.privacy import erase_user
from hindwise.reflect.base import Known
from hindwise.reflect.rules import RuleReflector, reflect_by_rules
from tests.build import TENANT, make_episode, make_outcome, make_turn
from tests.nobody import nobody_at
from tests.workflows.rig import Rig, rig
from workflows import ids
from workflows.contracts import ReflectionReport

pytestmark = pytest.mark.asyncio(loop_scope="session")

EPISODE = make_episode(
    "gone",
    turns=(make_turn("Change my booking. I always prefer a window seat.", seq=1), make_turn("That is wrong.", seq=2)),
    outcome=make_outcome("failure", note="missing call: update_payment"),
    goal="change a train",
)


class Disturbed:
    """Reflects by rules, after something happened that it does not know of. Counts how often it was asked."""

    name, model, prompt_version = "llm", "m", "1"

    def __init__(self, happens: Callable[[], Awaitable[None]], times: int = 99) -> None:
        self.happens, self.times, self.asked = happens, times, 0

    async def reflect(self, episode: Episode, known: Known, complaints: Sequence[Complaint] = ()) -> Answer:
        """Let it happen, the first so many times."""
        self.asked += 1
        if self.asked <= self.times:
            await self.happens()
        return reflect_by_rules(episode, Known())

    async def close(self) -> None:
        """Nothing to close."""


async def _ended(house: Rig, reflector: Disturbed) -> tuple[ReflectionReport, str]:
    """Run the task; return what its workflow reports, and the reflection's id."""
    async with house.workers({"rules": RuleReflector(), "llm": reflector}):
        accepted = await house.run(EPISODE)
        handle = house.client.get_workflow_handle(
            ids.reflection_workflow(accepted.reflection_id, house.prefix), result_type=ReflectionReport
        )
        return await handle.result(), accepted.reflection_id


async def _left_to_sweep(house: Rig) -> list[str]:
    """What a sweep finds a day later."""
    later = house.engine.clock.now() + timedelta(days=1)

    def look(conn: Connection) -> list[str]:
        return [row.id for row in (*reflections.stalled(conn, later, 20), *reflections.waiting(conn, later, later, later, 20))]

    return await house.engine.ledger.read(look)


async def _not_found() -> None:
    raise NotFound("no memory 'm1'")


def _house(environment: WorkflowEnvironment, data: Path):  # type: ignore[no-untyped-def]
    return rig(data, environment.client, reflector="llm", llm_model="m", llm_base_url=f"http://{nobody_at()}")


async def test_what_stays_gone_is_failed_in_the_ledger_with_its_reason_and_no_sweep_begins_it_again(
    environment: WorkflowEnvironment, tmp_path: Path
) -> None:
    """Three looks; then the row says so, and how to go on."""
    async with _house(environment, tmp_path) as house:
        reflector = Disturbed(_not_found)
        report, reflection_id = await _ended(house, reflector)
        row = await house.status(reflection_id)
        assert (report.status, report.skip_code, reflector.asked) == ("failed", "vanished", 3)
        assert (row.status, row.error.split(" found")[0]) == (ReflectionStatus.FAILED, "the step reflect")
        assert "hindwise rerun" in row.error
        assert await _left_to_sweep(house) == []


async def test_what_is_gone_once_is_looked_for_anew_and_the_reflection_completes(environment: WorkflowEnvironment, tmp_path: Path) -> None:
    """Another task may have closed what was read."""
    async with _house(environment, tmp_path) as house:
        report, reflection_id = await _ended(house, Disturbed(_not_found, times=1))
        assert (report.status, (await house.status(reflection_id)).status) == ("completed", ReflectionStatus.COMPLETED)


async def test_an_erased_space_whose_reflection_is_left_ends_it_as_erased(environment: WorkflowEnvironment, tmp_path: Path) -> None:
    """The epoch moved, the row is there still: it ends, with that reason, without a second look."""
    async with _house(environment, tmp_path) as house:

        async def epoch_moves() -> None:
            await house.engine.ledger.write(lambda conn: conn.execute(update(spaces).values(epoch=spaces.c.epoch + 1)))

        report, reflection_id = await _ended(house, Disturbed(epoch_moves))
        row = await house.status(reflection_id)
        assert (report.skip_code, row.status, row.skip_reason) == ("erased", ReflectionStatus.SKIPPED, "its space was erased")
        assert await _left_to_sweep(house) == []


async def test_the_reflection_of_a_user_who_came_back_is_not_ended_for_the_erased_one(
    environment: WorkflowEnvironment, tmp_path: Path
) -> None:
    """Same run, same id, another row: it is left to the sweep, which begins it and completes it."""
    async with _house(environment, tmp_path) as house:

        async def erased_and_back() -> None:
            asked = await erase_user.request(house.engine, TENANT, EPISODE.user_id, "test")
            await erase_user.erase(house.engine, asked.id)
            await house.run(EPISODE)

        reflector = Disturbed(erased_and_back, times=1)
        report, reflection_id = await _ended(house, reflector)
        assert (report.status, report.skip_code) == ("skipped", "erased")
        assert (await house.status(reflection_id)).status is ReflectionStatus.QUEUED
        assert await _left_to_sweep(house) == [reflection_id]
        async with house.workers({"rules": RuleReflector(), "llm": reflector}):
            await house.start(reflection_id)
            assert (await house.final(reflection_id)).status is ReflectionStatus.COMPLETED
