"""An erasure: its steps in order, what runs for the user stopped, and never an end before everything is gone."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import ApplicationError

from tests.workflows.stage import Stage, details_of, until
from workflows import policies
from workflows.contracts import EraseOpenResult, EraseResult

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_the_epoch_is_raised_first_and_the_receipt_completed_last(stage: Stage) -> None:
    async with stage.workers():
        handle = await stage.erasure()
        report = await handle.result()
        assert "Completed: 7 rows" in await details_of(handle)
    assert stage.steps() == ["erase_begin", "erase_open", "erase_wipe", "erase_check"]
    assert (report.status, report.rows, report.objects, report.shared_lessons_kept, report.cancelled) == ("completed", 7, 2, 1, 0)


async def test_open_workflows_of_the_user_are_cancelled_page_by_page(stage: Stage) -> None:
    """A session, a reflection at work, and one that waits for a person; what does not run any more is no failure."""
    stage.on("gather", lambda _: asyncio.sleep(60))
    working = str(uuid4())
    async with stage.workers():
        await stage.turns(1, 2)
        await stage.reflection(working)
        await until(lambda: stage.asked("gather"))
        pages = [
            EraseOpenResult(sessions=(stage.handle, "zz-gone"), reflections=(), more=True),
            EraseOpenResult(reflections=(working, str(uuid4()))),
        ]
        stage.on("erase_open", *pages)
        report = await (await stage.erasure()).result()
        for handle in (stage.session(), stage.reflecting(working)):
            with pytest.raises(WorkflowFailureError):
                await asyncio.wait_for(handle.result(), 20)
            assert (await handle.describe()).status is WorkflowExecutionStatus.CANCELED
    assert report.cancelled == 2
    assert [message.after_session for message in stage.asked("erase_open")] == ["", "zz-gone"]


async def test_what_cannot_go_on_says_so_and_goes_on_when_it_is_asked_again(stage: Stage) -> None:
    """The same call that starts an erasure releases one that waits."""
    broken = ApplicationError("the index did not answer", type="index-unavailable", non_retryable=True)
    stage.on("erase_wipe", broken, EraseResult(rows=1))
    erasure_id = str(uuid4())
    async with stage.workers():
        handle = await stage.erasure(erasure_id)
        await until(lambda: stage.asked("erase_park"))
        told = stage.asked("erase_park")[0]
        assert (told.step, told.cause, told.detail) == ("erase_wipe", "index-unavailable", "the index did not answer")
        assert "Needs attention" in await details_of(handle)
        await stage.erasure(erasure_id)
        assert (await handle.result()).rows == 1
    assert stage.steps()[-3:] == ["erase_park", "erase_wipe", "erase_check"]


async def test_an_erasure_that_waits_tries_again_by_itself(stage: Stage) -> None:
    """Nobody needs to think of it."""
    stage.on("erase_check", ApplicationError("a reader", type="ledger-unavailable", non_retryable=True), EraseResult(rows=1))
    async with stage.workers():
        handle = await stage.erasure()
        await until(lambda: stage.asked("erase_park"))
        await stage.environment.fast_forward(handle, timedelta(minutes=16))
        assert (await handle.result()).status == "completed"
    assert len(stage.asked("erase_check")) == 2


async def test_without_a_receipt_there_is_nothing_to_do(stage: Stage) -> None:
    stage.on("erase_begin", ApplicationError("no such thing", type="not-found", non_retryable=True))
    async with stage.workers():
        report = await (await stage.erasure()).result()
    assert (report.status, stage.steps()) == ("unknown", ["erase_begin"])


async def runs_of(handle: WorkflowHandle[Any, Any], client: Client) -> list[int]:
    """How many events each run of a workflow has, the first one first."""
    found, run_id = [], (await handle.describe()).raw_description.workflow_execution_info.first_run_id
    while run_id:
        events = (await client.get_workflow_handle(handle.id, run_id=run_id).fetch_history()).events
        found.append(len(events))
        run_id = events[-1].workflow_execution_continued_as_new_event_attributes.new_execution_run_id
    return found


async def test_an_erasure_that_waits_for_weeks_adds_to_no_history(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """After some waits a new run goes on; what was stopped is neither forgotten nor asked again."""
    monkeypatch.setattr(policies, "CONTINUE_AFTER_WAITS", 2)
    away = ApplicationError("the index did not answer", type="index-unavailable", non_retryable=True)
    stage.on("erase_open", lambda asked: EraseOpenResult(sessions=() if asked.after_session else (stage.handle,)))
    stage.on("erase_wipe", *[away] * 5, EraseResult(rows=1))
    erasure_id = str(uuid4())
    async with stage.workers():
        await stage.turns(1, 1)
        handle = await stage.erasure(erasure_id)
        for waits in range(1, 6):
            await until(lambda waits=waits: len(stage.asked("erase_park")) == waits)  # type: ignore[misc]
            await stage.erasure(erasure_id)
        report = await handle.result()
        events = await runs_of(handle, stage.client)
    assert (report.status, report.rows, report.cancelled) == ("completed", 1, 1)
    assert len(events) == 3
    assert max(events) < 40 * policies.CONTINUE_AFTER_WAITS
    assert [message.after_session for message in stage.asked("erase_open")] == ["", stage.handle, stage.handle]


async def test_thousands_of_open_workflows_are_stopped_in_several_runs(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policies, "CONTINUE_AFTER_PAGES", 2)
    stage.on("erase_open", *(EraseOpenResult(sessions=(f"gone-{page}",), more=page < 4) for page in range(5)))
    async with stage.workers():
        handle = await stage.erasure()
        report = await handle.result()
        events = await runs_of(handle, stage.client)
    assert (report.status, len(events)) == ("completed", 3)
    assert [message.after_session for message in stage.asked("erase_open")] == ["", "gone-0", "gone-1", "gone-2", "gone-3"]


async def test_the_limits_keep_an_erasure_far_below_what_the_server_ends_a_run_at() -> None:
    """A wait is some 20 events, a page of 200 workflows some 410; the server warns at 10,240 and ends a run at 51,200."""
    assert 20 * policies.CONTINUE_AFTER_WAITS + 410 * policies.CONTINUE_AFTER_PAGES < 10_240
