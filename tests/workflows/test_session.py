"""A session counts turns, starts reflections, and ends when it is closed or idle."""

from datetime import timedelta

import pytest
from temporalio.client import WorkflowExecutionStatus

from tests.workflows.stage import Stage, details_of, until
from workflows import policies
from workflows.contracts import CloseIdleResult

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def _status(stage: Stage) -> WorkflowExecutionStatus | None:
    return (await stage.session().describe()).status


async def test_a_turn_opens_the_session_and_later_ones_are_counted(stage: Stage) -> None:
    """The ledger's numbers are the count, so overlapping news changes nothing."""
    async with stage.workers():
        assert (await stage.turns(1, 1)).turn_count == 1
        assert (await stage.turns(2, 5)).turn_count == 5
        assert (await stage.turns(3, 5, update_id="late")).turn_count == 5
        assert await details_of(stage.session()) == "5 turns, 0 finished tasks, waiting for the next turn or 30 min idle."


async def test_the_same_update_told_twice_counts_once(stage: Stage) -> None:
    """The server answers a repeated update id from its memory, the ring answers after continue-as-new."""
    async with stage.workers():
        first = await stage.turns(1, 2, update_id="same")
        again = await stage.turns(1, 2, update_id="same")
        assert first == again
        history = await stage.session().fetch_history()
        accepted = [event for event in history.events if event.HasField("workflow_execution_update_accepted_event_attributes")]
        assert len(accepted) == 1


async def test_a_completed_task_starts_exactly_one_reflection(stage: Stage) -> None:
    """Told three times, under the same and under another update id, the reflection runs once at a time and reads one ledger."""
    async with stage.workers():
        await stage.turns(1, 3)
        for update_id in ("c1", "c1", "c2"):
            await stage.completed(f"{stage.prefix}-r1", 3, update_id=update_id)
        report = await stage.reflecting(f"{stage.prefix}-r1").result()
        assert report.status == "completed"
        assert {message.reflection_id for message in stage.asked("gather")} == {f"{stage.prefix}-r1"}
        history = await stage.session().fetch_history()
        started = [event for event in history.events if event.HasField("child_workflow_execution_started_event_attributes")]
        assert 1 <= len(started) <= 2
        assert await _status(stage) is WorkflowExecutionStatus.RUNNING


async def test_a_reflection_outlives_its_session(stage: Stage) -> None:
    """Closing ends the session's run at once; the reflection goes on."""
    async with stage.workers():
        await stage.turns(1, 2)
        await stage.completed(f"{stage.prefix}-r1", 2, close=True)
        state = await stage.session().result()
        assert (state.turn_count, state.episodes, state.closed_seq) == (2, 1, 2)
        assert (await stage.reflecting(f"{stage.prefix}-r1").result()).status == "completed"


async def test_a_reflection_that_runs_already_is_fine(stage: Stage) -> None:
    """The API's sweep may have started it before the session did."""
    async with stage.workers():
        running = await stage.reflection(f"{stage.prefix}-r1")
        await stage.turns(1, 1)
        await stage.completed(f"{stage.prefix}-r1", 1, close=True)
        assert (await stage.session().result()).episodes == 1
        assert (await running.result()).status == "completed"


async def test_a_turn_after_closing_opens_a_new_run_of_the_same_session(stage: Stage) -> None:
    """Nothing is refused."""
    async with stage.workers():
        await stage.turns(1, 2)
        await stage.completed(f"{stage.prefix}-r1", 2, close=True)
        await stage.session().result()
        assert (await stage.turns(3, 3)).turn_count == 3
        assert await _status(stage) is WorkflowExecutionStatus.RUNNING


async def test_turns_and_ends_of_a_session_that_temporal_does_not_know_open_it(stage: Stage) -> None:
    """What came before stands in the ledger; Temporal may have lost it, or somebody ended the run."""
    async with stage.workers():
        assert (await stage.turns(4, 5)).turn_count == 5
        await stage.session().terminate("by hand")
        assert (await stage.turns(6, 6)).turn_count == 6
        await stage.session().terminate("by hand")
        assert (await stage.completed(f"{stage.prefix}-r1", 6, close=True)).last_seq == 6
        assert (await stage.session().result()).episodes == 1


async def test_later_news_told_twice_counts_once(stage: Stage) -> None:
    """Also where the second time it is told in the way that opens a session."""
    async with stage.workers():
        await stage.turns(1, 1)
        first = await stage.turns(2, 3, update_id="same")
        assert first == await stage.turns(2, 3, update_id="same")
        assert first == await stage.turns(1, 3, update_id="same")
        history = await stage.session().fetch_history()
        accepted = [event for event in history.events if event.HasField("workflow_execution_update_accepted_event_attributes")]
        assert len(accepted) == 2


async def test_idle_sessions_close_their_open_task(stage: Stage) -> None:
    """After the idle time, and not before; the reflection that the ledger names is started."""
    stage.on("close_idle", lambda message: CloseIdleResult(reflection_ids=(f"{stage.prefix}-idle",), last_seq=message.last_seq))
    async with stage.workers():
        await stage.turns(1, 4)
        await stage.environment.fast_forward(stage.session(), timedelta(minutes=29))
        assert stage.asked("close_idle") == []
        await stage.environment.fast_forward(stage.session(), timedelta(minutes=2))
        state = await stage.session().result()
        assert [message.last_seq for message in stage.asked("close_idle")] == [4]
        assert (state.closed_seq, state.episodes) == (4, 1)
        assert (await stage.reflecting(f"{stage.prefix}-idle").result()).status == "completed"


async def test_a_turn_moves_the_idle_deadline(stage: Stage) -> None:
    """One absolute deadline; no timer is set anew for each turn."""
    stage.on("close_idle", lambda message: CloseIdleResult(last_seq=message.last_seq))
    async with stage.workers():
        await stage.turns(1, 1)
        await stage.environment.fast_forward(stage.session(), timedelta(minutes=20))
        await stage.turns(2, 2)
        await stage.environment.fast_forward(stage.session(), timedelta(minutes=20))
        assert stage.asked("close_idle") == []
        await stage.environment.fast_forward(stage.session(), timedelta(minutes=11))
        assert (await stage.session().result()).last_seq == 2


async def test_a_turn_that_only_the_ledger_knows_keeps_the_session_open(stage: Stage) -> None:
    """Its news is on the way: the session adopts the number and waits once more."""
    stage.on("close_idle", CloseIdleResult(newer_turns=True, last_seq=9), lambda message: CloseIdleResult(last_seq=message.last_seq))
    async with stage.workers():
        await stage.turns(1, 4)
        await stage.environment.fast_forward(stage.session(), timedelta(minutes=31))
        await until(lambda: len(stage.asked("close_idle")) == 1)
        assert await _status(stage) is WorkflowExecutionStatus.RUNNING
        await stage.environment.fast_forward(stage.session(), timedelta(minutes=31))
        assert (await stage.session().result()).last_seq == 9
        assert [message.last_seq for message in stage.asked("close_idle")] == [4, 9]


async def test_a_session_continues_as_new_and_forgets_nothing(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts, open task and seen updates are carried; what is still to be started is started."""
    monkeypatch.setattr(policies, "CONTINUE_AFTER_TURNS", 5)
    async with stage.workers():
        for seq in range(1, 13):
            assert (await stage.turns(seq, seq)).turn_count == seq
        # Told again in a later run: the server has forgotten it, the ring has not.
        assert (await stage.turns(2, 2)).turn_count == 12
        await stage.completed(f"{stage.prefix}-r1", 12, close=True)
        state = await stage.session().result()
        assert (state.turn_count, state.episodes) == (12, 1)
        assert len(state.seen_updates) == 13
        description = await stage.session().describe()
        assert description.raw_description.workflow_execution_info.first_run_id != description.run_id
        assert (await stage.reflecting(f"{stage.prefix}-r1").result()).status == "completed"


async def test_the_ring_of_seen_updates_is_bounded(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """State stays a few KB however long a session lives."""
    monkeypatch.setattr(policies, "SEEN_UPDATES", 3)
    async with stage.workers():
        for seq in range(1, 6):
            await stage.turns(seq, seq)
        await stage.completed(f"{stage.prefix}-r1", 5, close=True)
        assert (await stage.session().result()).seen_updates == ("u-4-4", "u-5-5", f"c-{stage.prefix}-r1")


async def test_people_find_a_session_by_its_attributes_and_read_its_summary(stage: Stage) -> None:
    """Hashes in the attributes, plain words in the summary; the phase follows."""
    async with stage.workers():
        await stage.turns(1, 1)
        description = await stage.session().describe()
        found = {pair.key.name: pair.value for pair in description.typed_search_attributes if pair.key.name.startswith("Hindwise")}
        assert found == {"HindwiseTenant": "tenanthash", "HindwiseSpace": "spacehash", "HindwisePhase": "open"}
        assert await description.static_summary() == policies.SESSION_SUMMARY
        await stage.completed(f"{stage.prefix}-r1", 1, close=True)
        await stage.session().result()
        ended = await stage.session().describe()
        assert ended.typed_search_attributes.get(policies.PHASE) == "closed"


async def test_a_session_without_registered_attributes_runs_all_the_same(stage: Stage) -> None:
    """The starter decides; nothing is upserted then, in the session or in the reflection it starts."""
    async with stage.workers():
        await stage.turns(1, 1, search_attributes=False)
        await stage.completed(f"{stage.prefix}-r1", 1, close=True, search_attributes=False)
        await stage.session().result()
        await stage.reflecting(f"{stage.prefix}-r1").result()
        for handle in (stage.session(), stage.reflecting(f"{stage.prefix}-r1")):
            history = await handle.fetch_history()
            upserts = [e for e in history.events if e.HasField("upsert_workflow_search_attributes_event_attributes")]
            assert upserts == []
