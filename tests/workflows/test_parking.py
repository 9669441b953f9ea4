"""What cannot go on parks: a person sees the cause and the next step, and one signal releases it."""

from typing import Any

import pytest
from temporalio.client import WorkflowHandle
from temporalio.exceptions import ApplicationError

from tests.workflows.stage import Stage, details_of, refused, until
from workflows import policies, start
from workflows.contracts import CreditResult, Done, GatherResult, ReflectionReport, ReflectResult, ResolveResult

pytestmark = pytest.mark.asyncio(loop_scope="session")

BY_MODEL = GatherResult(reflector="llm", outcome="success", turns=4)


async def _parked(stage: Stage, reflection_id: str) -> WorkflowHandle[Any, ReflectionReport]:
    handle = await stage.reflection(reflection_id)
    await until(lambda: stage.asked("park"))

    async def waits() -> bool:
        described = await handle.describe()
        return described.typed_search_attributes.get(policies.PHASE) == "needs_attention"

    await until(waits)
    return handle


async def test_a_refused_key_parks_and_says_what_to_do(stage: Stage) -> None:
    """Asked once, because another try cannot help; nothing is kept meanwhile."""
    stage.on("gather", BY_MODEL)
    stage.on("reflect", refused())
    async with stage.workers():
        handle = await _parked(stage, f"{stage.prefix}-r")
        message = stage.asked("park")[0]
        assert (message.step, message.cause, message.detail) == ("reflect", "model-refused", "the endpoint says 401: set LLM_API_KEY")
        details = await details_of(handle)
        assert "Needs attention" in details
        assert "set LLM_API_KEY" in details
        assert "`retry`" in details
        assert stage.steps() == ["gather", "reflect", "park"]


async def test_the_ui_explains_each_signal(stage: Stage) -> None:
    """Each has a description."""
    stage.on("gather", BY_MODEL)
    stage.on("reflect", refused())
    async with stage.workers():
        handle = await _parked(stage, f"{stage.prefix}-r")
        metadata = await handle.query("__temporal_workflow_metadata")
        signals = {signal.name: signal.description for signal in metadata.definition.signal_definitions}
        assert set(signals) == {"retry", "use_rules", "skip"}
        assert all(len(description) > 20 for description in signals.values())


async def test_retry_alone_releases(stage: Stage) -> None:
    """From the step that failed, under the same attempt."""
    stage.on("gather", BY_MODEL)
    stage.on("reflect", refused(), ReflectResult(usable=True, drafts=1))
    async with stage.workers():
        handle = await _parked(stage, f"{stage.prefix}-r")
        assert await start.signal_reflection(stage.client, f"{stage.prefix}-r", "retry", queue_prefix=stage.prefix)
        report = await handle.result()
    assert (report.status, report.reflector) == ("completed", "llm")
    assert [m.attempt for m in stage.asked("reflect")] == [1, 1]
    assert stage.steps().count("gather") == 1


async def test_use_rules_alone_releases(stage: Stage) -> None:
    """Marked as a person's wish."""
    stage.on("gather", BY_MODEL)
    stage.on("reflect", refused(), ReflectResult(usable=True, drafts=1))
    async with stage.workers():
        handle = await _parked(stage, f"{stage.prefix}-r")
        assert await start.signal_reflection(stage.client, f"{stage.prefix}-r", "use_rules", queue_prefix=stage.prefix)
        report = await handle.result()
    assert (report.status, report.reflector, report.fallback_cause) == ("completed", "rules", "person")
    assert [(m.fallback_from, m.fallback_cause) for m in stage.asked("resolve")] == [("llm", "person")]


async def test_skip_alone_releases(stage: Stage) -> None:
    """Skipped by a person; the ledger knows."""
    stage.on("gather", BY_MODEL)
    stage.on("reflect", refused())
    async with stage.workers():
        handle = await _parked(stage, f"{stage.prefix}-r")
        assert await start.signal_reflection(stage.client, f"{stage.prefix}-r", "skip", queue_prefix=stage.prefix)
        report = await handle.result()
    assert (report.status, report.skip_code) == ("skipped", "person")
    assert [(m.status, m.skip_code) for m in stage.asked("finish")] == [("skipped", "person")]


async def test_a_step_that_parks_again_waits_again(stage: Stage) -> None:
    """An old retry does not count for a new failure."""
    stage.on("gather", BY_MODEL)
    stage.on("reflect", refused(), refused("the endpoint says 403: the model is not yours"), ReflectResult(usable=True, drafts=1))
    async with stage.workers():
        handle = await _parked(stage, f"{stage.prefix}-r")
        await handle.signal("retry")
        await until(lambda: len(stage.asked("park")) == 2)
        assert len(stage.asked("reflect")) == 2
        await handle.signal("retry")
        assert (await handle.result()).status == "completed"


async def test_every_other_step_parks_and_goes_on_too(stage: Stage) -> None:
    """Gather, resolve, credit and finish, one after the other in the same run."""
    broken = ApplicationError("the schema is too old", type="invalid-input", non_retryable=True)
    stage.on("gather", broken, GatherResult(reflector="rules"))
    stage.on("resolve", broken, ResolveResult(added=1))
    stage.on("credit", broken, CreditResult())
    stage.on("finish", broken, Done())
    async with stage.workers():
        handle = await stage.reflection()
        for number in range(1, 5):
            await until(lambda number=number: len(stage.asked("park")) == number)  # type: ignore[misc]
            await handle.signal("retry")
        assert (await handle.result()).status == "completed"
    assert [m.step for m in stage.asked("park")] == ["gather", "resolve", "credit", "finish"]
    assert len(stage.asked("reflect")) == 1


async def test_skipping_the_credit_keeps_the_conclusions(stage: Stage) -> None:
    """They stand in the ledger already: the reflection is completed, not skipped."""
    stage.on("credit", ApplicationError("broken", type="internal", non_retryable=True))
    async with stage.workers():
        handle = await _parked(stage, f"{stage.prefix}-r")
        await handle.signal("skip")
        report = await handle.result()
    assert (report.status, report.added) == ("completed", 2)


async def test_a_ledger_that_cannot_even_be_told_still_parks(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then Temporal alone shows it."""
    down = ApplicationError("the ledger did not answer", type="ledger-unavailable", non_retryable=True)
    stage.on("gather", down, GatherResult(reflector="rules"))
    stage.on("park", down)
    async with stage.workers():
        handle = await _parked(stage, f"{stage.prefix}-r")
        assert "ledger-unavailable" in await details_of(handle)
        await handle.signal("retry")
        assert (await handle.result()).status == "completed"


async def test_a_wish_for_rules_before_the_question_is_heard(stage: Stage) -> None:
    """Nobody has to wait for the failure first."""
    stage.on("gather", lambda message: _after_wish(stage))
    async with stage.workers():
        handle = await stage.reflection(f"{stage.prefix}-r")
        report = await handle.result()
    assert [m.reflector for m in stage.asked("reflect")] == ["rules"]
    assert report.fallback_cause == "person"


async def _after_wish(stage: Stage) -> GatherResult:
    await start.signal_reflection(stage.client, f"{stage.prefix}-r", "use_rules", queue_prefix=stage.prefix)
    return BY_MODEL


async def test_a_signal_to_nobody_is_told(stage: Stage) -> None:
    """False for a reflection that does not run; ValueError for a signal that does not exist."""
    assert not await start.signal_reflection(stage.client, f"{stage.prefix}-none", "retry", queue_prefix=stage.prefix)
    with pytest.raises(ValueError, match="no such signal"):
        await start.signal_reflection(stage.client, f"{stage.prefix}-none", "explode")
