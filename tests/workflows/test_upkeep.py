"""Upkeep: each activity in batches, bounded, by a schedule that no pass of its own can overtake."""

import asyncio
from datetime import timedelta

import pytest
from temporalio.client import ScheduleOverlapPolicy
from temporalio.exceptions import ApplicationError

from tests.workflows.stage import Stage, until
from workflows import contracts, ids, policies, start
from workflows.contracts import BatchResult, UpkeepInput, UpkeepReport
from workflows.upkeep import STEPS

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def _pass(stage: Stage) -> UpkeepReport:
    report: UpkeepReport = await stage.client.execute_workflow(
        contracts.UPKEEP_WORKFLOW,
        UpkeepInput(queue_prefix=stage.prefix, page=50),
        id=f"{stage.prefix}-upkeep",
        task_queue=policies.session_queue(stage.prefix),
        result_type=UpkeepReport,
    )
    return report


async def test_every_upkeep_activity_is_called_and_counted(stage: Stage) -> None:
    """Until it says that nothing is left, with the page of the input."""
    stage.on("expire", BatchResult(changed=50, more=True), BatchResult(changed=7))
    async with stage.workers():
        report = await _pass(stage)
    assert set(stage.steps()) == policies.UPKEEP_ACTIVITIES == set(STEPS)
    assert report.changed["expire"] == 57
    assert {message.page for _, message in stage.calls} == {50}


async def test_a_walk_over_everything_carries_its_cursor(stage: Stage) -> None:
    """Each batch begins where the one before ended."""
    stage.on("compare_index", BatchResult(more=True, cursor=40), BatchResult(more=True, cursor=80), BatchResult(cursor=95))
    async with stage.workers():
        await _pass(stage)
    assert [message.cursor for message in stage.asked("compare_index")] == [0, 40, 80]


async def test_a_pass_is_bounded(stage: Stage) -> None:
    """What is left waits for the next one."""
    stage.on("decay", BatchResult(changed=50, more=True))
    async with stage.workers():
        report = await _pass(stage)
    assert len(stage.asked("decay")) == policies.UPKEEP_PAGES
    assert report.changed["decay"] == 50 * policies.UPKEEP_PAGES


async def test_one_failing_activity_does_not_stop_the_others(stage: Stage) -> None:
    """It is named, and its work waits for the next pass."""
    stage.on("expire", ApplicationError("broken", type="internal", non_retryable=True))
    async with stage.workers():
        report = await _pass(stage)
    assert report.failed == ("expire",)
    assert set(stage.steps()) == policies.UPKEEP_ACTIVITIES


async def test_the_schedule_starts_passes_and_is_made_once(stage: Stage) -> None:
    """Made again it takes the new interval; it skips while a pass runs, and after an outage it does not make up for days."""
    handle = stage.client.get_schedule_handle(ids.upkeep_schedule(stage.prefix))
    try:
        async with stage.workers():
            await start.ensure_schedule(stage.client, queue_prefix=stage.prefix, every_minutes=60)
            await handle.pause(note="a person paused it")
            await start.ensure_schedule(stage.client, queue_prefix=stage.prefix, every_minutes=5)
            described = await handle.describe()
            assert described.schedule.spec.intervals[0].every == timedelta(minutes=5)
            assert described.schedule.policy.overlap is ScheduleOverlapPolicy.SKIP
            assert described.schedule.policy.catchup_window <= timedelta(hours=12)
            assert described.schedule.state.paused
            await handle.trigger()
            await until(lambda: set(stage.steps()) == policies.UPKEEP_ACTIVITIES)
    finally:
        await handle.delete()
        await asyncio.sleep(0)
