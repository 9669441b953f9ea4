"""The build of a new generation, step by step: what follows on what, what waits for a person, and what each answer does."""

from datetime import timedelta

import pytest
from temporalio.exceptions import ApplicationError

from tests.workflows.stage import Stage, until
from workflows import policies
from workflows.contracts import CheckResult, CompareResult, Done, FillResult, ReindexBegun, SwitchInput, SwitchResult
from workflows.start_reindex import signal_reindex

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_build_is_filled_checked_compared_switched_and_the_one_before_settled(stage: Stage) -> None:
    """Batches until the end, the check carries its cursor, and the counts go with the switch."""
    stage.on("reindex_fill", FillResult(done=40, total=90), FillResult(end=True, done=90, total=90))
    stage.on(
        "reindex_check",
        CheckResult(spaces=50, memories=80, removed=1, cursor=50, end=False),
        CheckResult(spaces=3, memories=10, cursor=53, end=True),
    )
    async with stage.workers():
        report = await (await stage.reindex()).result()
    assert stage.steps() == [
        "reindex_begin", "reindex_fill", "reindex_fill", "reindex_check", "reindex_check", "reindex_compare", "reindex_switch",
        "reindex_settle",
    ]  # fmt: skip
    assert [message.cursor for message in stage.asked("reindex_check")] == [0, 50]
    assert (report.status, report.memories, report.removed, report.asked, report.same) == ("switched", 90, 1, 20, 20)
    [switched] = stage.asked("reindex_switch")
    assert isinstance(switched, SwitchInput)
    assert (switched.checked.memories, switched.compared.same) == (90, 20)


async def test_a_build_that_lacks_something_waits_and_retry_writes_everything_again(stage: Stage) -> None:
    stage.on("reindex_check", CheckResult(spaces=3, memories=90, missing=2), CheckResult(spaces=3, memories=90))
    async with stage.workers():
        handle = await stage.reindex()
        await until(lambda: stage.asked("reindex_park"))
        assert stage.asked("reindex_park")[0].cause == "differs"
        assert await signal_reindex(stage.client, 7, "retry", queue_prefix=stage.prefix)
        assert (await handle.result()).status == "switched"
    assert [message.again for message in stage.asked("reindex_fill")] == [False, True]


async def test_other_answers_wait_for_a_person_where_both_were_made_alike_and_he_may_switch_all_the_same(stage: Stage) -> None:
    stage.on("reindex_compare", CompareResult(asked=20, same=12, overlap=0.8, alike=True))
    async with stage.workers():
        handle = await stage.reindex()
        await until(lambda: stage.asked("reindex_park"))
        assert "20 questions only 12" in stage.asked("reindex_park")[0].detail
        assert await signal_reindex(stage.client, 7, "switch", queue_prefix=stage.prefix)
        assert (await handle.result()).same == 12


async def test_another_embedder_answers_otherwise_and_switches_without_a_person(stage: Stage) -> None:
    stage.on("reindex_compare", CompareResult(asked=20, same=1, overlap=0.3, alike=False))
    async with stage.workers():
        assert (await (await stage.reindex()).result()).overlap == 0.3
    assert not stage.asked("reindex_park")


async def test_a_step_that_fails_for_good_waits_and_drop_gives_the_build_up(stage: Stage) -> None:
    stage.on("reindex_fill", ApplicationError("the endpoint says 401", type="model-refused", non_retryable=True))
    async with stage.workers():
        handle = await stage.reindex()
        await until(lambda: stage.asked("reindex_park"))
        parked = stage.asked("reindex_park")[0]
        assert (parked.cause, "401" in parked.detail) == ("model-refused", True)
        assert await signal_reindex(stage.client, 7, "drop", queue_prefix=stage.prefix)
        assert (await handle.result()).status == "abandoned"
    assert stage.steps()[-1] == "reindex_drop"
    assert not stage.asked("reindex_switch")


async def test_a_key_that_is_refused_is_tried_with_other_workers_for_seconds_and_then_waits(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not for half an hour as what is away; and who retries it is told what else it needs."""
    monkeypatch.setattr(policies, "REFUSED_PAUSE", timedelta(milliseconds=50))
    refused = ApplicationError("Weaviate refuses our key: set WEAVIATE_API_KEY", type="index-refused")
    tries = policies.REFUSED_TRIES + 1
    stage.on("reindex_fill", *[refused] * (tries + 1), FillResult(end=True, done=90, total=90))
    async with stage.workers():
        handle = await stage.reindex()
        await until(lambda: stage.asked("reindex_park"))
        assert len(stage.asked("reindex_fill")) == tries
        parked = stage.asked("reindex_park")[0]
        assert parked.cause == "index-refused"
        for words in ("set WEAVIATE_API_KEY", "restart the workers", "changes and erasures wait"):
            assert words in parked.detail
        assert await signal_reindex(stage.client, 7, "retry", queue_prefix=stage.prefix)
        assert (await handle.result()).status == "switched", "refused by one worker, taken by the next"
    assert len(stage.asked("reindex_park")) == 1


async def test_a_damaged_file_of_a_build_waits_at_once(stage: Stage) -> None:
    stage.on("reindex_fill", ApplicationError("the index file index-7.db is damaged", type="index-damaged"))
    async with stage.workers():
        handle = await stage.reindex()
        await until(lambda: stage.asked("reindex_park"))
        assert len(stage.asked("reindex_fill")) == 1
        assert "ask for another one" in stage.asked("reindex_park")[0].detail
        assert await signal_reindex(stage.client, 7, "drop", queue_prefix=stage.prefix)
        assert (await handle.result()).status == "abandoned"


async def test_a_build_that_is_being_written_is_given_up_after_the_batch(stage: Stage) -> None:
    """Not only at the next failure: a new run of a long build would not know of the wish."""
    stage.on("reindex_fill", FillResult(done=40, total=90), FillResult(end=True, done=90, total=90))
    handle = await stage.reindex()
    assert await signal_reindex(stage.client, 7, "drop", queue_prefix=stage.prefix)
    async with stage.workers():
        assert (await handle.result()).status == "abandoned"
    assert stage.steps() == ["reindex_begin", "reindex_fill", "reindex_drop"]


async def test_a_wish_to_give_up_outlives_a_ledger_that_does_not_take_it(stage: Stage) -> None:
    stage.on("reindex_fill", ApplicationError("the endpoint says 401", type="model-refused", non_retryable=True))
    stage.on("reindex_drop", ApplicationError("the disk is full", type="ledger-unavailable", non_retryable=True), Done())
    async with stage.workers():
        handle = await stage.reindex()
        await until(lambda: stage.asked("reindex_park"))
        assert await signal_reindex(stage.client, 7, "drop", queue_prefix=stage.prefix)
        await until(lambda: len(stage.asked("reindex_park")) == 2)
        assert stage.asked("reindex_park")[1].cause == "ledger-unavailable"
        assert await signal_reindex(stage.client, 7, "retry", queue_prefix=stage.prefix)
        assert (await handle.result()).status == "abandoned"
    assert stage.steps()[-1] == "reindex_drop"


@pytest.mark.parametrize("step", ["reindex_begin", "reindex_fill", "reindex_switch"])
async def test_a_build_that_was_given_up_meanwhile_ends_and_switches_nothing(stage: Stage, step: str) -> None:
    gone = {"reindex_begin": ReindexBegun(gone=True), "reindex_fill": FillResult(gone=True), "reindex_switch": SwitchResult(gone=True)}
    stage.on(step, gone[step])
    async with stage.workers():
        assert (await (await stage.reindex()).result()).status == "abandoned"
    assert not stage.asked("reindex_settle")


async def test_a_build_that_serves_already_is_only_settled(stage: Stage) -> None:
    """As where a workflow is started again after the switch."""
    stage.on("reindex_begin", ReindexBegun(serves=True))
    async with stage.workers():
        await (await stage.reindex()).result()
    assert stage.steps() == ["reindex_begin", "reindex_settle"]


async def test_a_long_build_goes_on_in_a_new_run(stage: Stage) -> None:
    """What was written is in the ledger, so the new run needs to know nothing."""
    most = policies.CONTINUE_AFTER_BATCHES
    stage.on("reindex_fill", *[FillResult(done=at, total=most + 2) for at in range(most + 1)], FillResult(end=True, done=most, total=most))
    async with stage.workers():
        handle = await stage.reindex()
        first = (await handle.describe()).run_id
        assert (await handle.result()).status == "switched"
        assert (await handle.describe()).run_id != first
    assert len(stage.asked("reindex_begin")) == 2
    assert len(stage.asked("reindex_fill")) == most + 2


async def test_a_build_is_started_once(stage: Stage) -> None:
    """Every worker tries."""
    handles = [await stage.reindex() for _ in range(3)]
    assert len({(await handle.describe()).run_id for handle in handles}) == 1
    async with stage.workers():
        await handles[0].result()
    assert len(stage.asked("reindex_switch")) == 1
