"""Records the golden histories anew: `python -m tests.replay.record`. Only when a changed order of steps is meant.

Open workflows in the field were started by the old code: give the change a `workflow.patched` branch, and keep the old histories
beside the new ones until no such run is left.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from temporalio.client import WorkflowHandle
from temporalio.exceptions import ApplicationError

from tests.temporal_server import temporal_server
from tests.workflows.stage import Stage, refused, until
from workflows import policies
from workflows.contracts import (
    CheckResult,
    CloseIdleResult,
    CompareResult,
    FillResult,
    GatherResult,
    GroundResult,
    ReflectResult,
    ResolveResult,
)
from workflows.erase_messages import EraseOpenResult, EraseResult

HISTORIES = Path(__file__).parent / "histories"
Handles = dict[str, WorkflowHandle[Any, Any]]
BY_MODEL = GatherResult(reflector="llm", outcome="failure", turns=7, budget_s=600)
RULES = GatherResult(reflector="rules", outcome="success", turns=7)


def _run_of(stage: Stage, handle: WorkflowHandle[Any, Any], run_id: str) -> WorkflowHandle[Any, Any]:
    return stage.client.get_workflow_handle(handle.id, run_id=run_id)


async def session_closed_by_the_caller(stage: Stage) -> Handles:
    await stage.turns(1, 3)
    await stage.completed("r-one", 3)
    await stage.turns(4, 4)
    await stage.completed("r-two", 4, close=True)
    await stage.session().result()
    return {"session-closed": stage.session()}


async def session_closed_when_idle(stage: Stage) -> Handles:
    stage.on("close_idle", CloseIdleResult(newer_turns=True, last_seq=3), CloseIdleResult(reflection_ids=("r-idle",), last_seq=3))
    await stage.turns(1, 2)
    for _ in range(2):
        await stage.environment.fast_forward(stage.session(), timedelta(minutes=31))
    await stage.session().result()
    return {"session-idle": stage.session()}


async def session_waiting(stage: Stage) -> Handles:
    await stage.turns(1, 2)
    await stage.turns(1, 2)
    return {"session-waiting": stage.session()}


async def session_over_two_runs(stage: Stage) -> Handles:
    for seq in range(1, policies.CONTINUE_AFTER_TURNS + 4):
        await stage.turns(seq, seq)
    first = (await stage.session().describe()).raw_description.workflow_execution_info.first_run_id
    await stage.completed("r-late", policies.CONTINUE_AFTER_TURNS + 3, close=True)
    last = await stage.session().describe()
    await stage.session().result()
    return {"session-first-run": _run_of(stage, stage.session(), first), "session-second-run": _run_of(stage, stage.session(), last.run_id)}


async def session_captured(stage: Stage) -> Handles:
    """The user asked for something to be remembered: kept after a pause, while the session is open."""
    await stage.turns(1, 2, capture=True)
    await until(lambda: stage.asked("capture"))
    await stage.completed("r-captured", 2, close=True)
    await stage.session().result()
    return {"session-captured": stage.session()}


async def reflection_by_rules(stage: Stage) -> Handles:
    stage.on("gather", RULES)
    handle = await stage.reflection()
    await handle.result()
    return {"reflection-rules": handle}


async def reflection_with_fallback(stage: Stage) -> Handles:
    stage.on("gather", BY_MODEL)
    stage.on("reflect", ReflectResult(usable=True, drafts=1), ReflectResult(usable=False), ReflectResult(usable=True, drafts=1))
    groundless = GroundResult(accepted=0, rejected=1, complaints=1)
    stage.on("ground", groundless, groundless, GroundResult(accepted=1, rejected=0, complaints=0))
    handle = await stage.reflection()
    await handle.result()
    return {"reflection-fallback": handle}


async def reflection_without_a_model(stage: Stage) -> Handles:
    away = ApplicationError("no answer", type="model-unavailable", non_retryable=True)
    stage.on("gather", BY_MODEL)
    stage.on("reflect", away, ReflectResult(usable=True, drafts=1))
    handle = await stage.reflection()
    await handle.result()
    return {"reflection-unavailable": handle}


async def reflection_over_budget(stage: Stage) -> Handles:
    """The day's tokens end between two questions; for a second task they are used up before the first."""
    stage.on("gather", BY_MODEL, BY_MODEL.model_copy(update={"over_budget": True}))
    stage.on("reflect", ReflectResult(usable=True, drafts=1), ReflectResult(usable=False, over_budget=True), ReflectResult(usable=True))
    stage.on("ground", GroundResult(accepted=0, rejected=1, complaints=1), GroundResult(accepted=1, rejected=0, complaints=0))
    between = await stage.reflection()
    await between.result()
    before = await stage.reflection()
    await before.result()
    return {"reflection-budget-between": between, "reflection-budget": before}


async def reflection_parked(stage: Stage) -> Handles:
    stage.on("gather", BY_MODEL)
    stage.on("reflect", refused())
    handle = await stage.reflection()
    await until(lambda: stage.asked("park"))
    await asyncio.sleep(1)
    return {"reflection-parked": handle}


async def reflection_released(stage: Stage, signal: str = "retry") -> Handles:
    stage.on("gather", BY_MODEL)
    stage.on("reflect", refused(), ReflectResult(usable=True, drafts=1))
    handle = await stage.reflection()
    await until(lambda: stage.asked("park"))
    await handle.signal(signal)
    await handle.result()
    return {f"reflection-{signal.replace('_', '-')}": handle}


async def reflection_taken_over_by_rules(stage: Stage) -> Handles:
    return await reflection_released(stage, "use_rules")


async def reflection_skipped_by_a_person(stage: Stage) -> Handles:
    return await reflection_released(stage, "skip")


async def reflection_skipped(stage: Stage) -> Handles:
    stage.on("gather", GatherResult(skip=True, skip_code="nothing-to-learn"))
    handle = await stage.reflection()
    await handle.result()
    return {"reflection-skipped": handle}


async def reflection_of_something_gone(stage: Stage) -> Handles:
    """Gone once and back, gone for good, and with its space. `reflection-gone-unpatched` stays: from before these were told apart."""
    gone, erased = (ApplicationError("gone", type=name, non_retryable=True) for name in ("not-found", "space-erased"))
    stage.on("gather", RULES)
    stage.on("resolve", gone, ResolveResult(added=1), gone, gone, gone, erased)
    found: Handles = {}
    for name in ("found-anew", "vanished", "erased"):
        found[f"reflection-{name}"] = await stage.reflection()
        await found[f"reflection-{name}"].result()
    return found


async def erasure(stage: Stage) -> Handles:
    stage.on("erase_open", EraseOpenResult(sessions=("no-such-session",), more=True), EraseOpenResult())
    stage.on("erase_wipe", ApplicationError("no answer", type="index-unavailable", non_retryable=True), EraseResult(rows=7, objects=2))
    handle = await stage.erasure()
    await until(lambda: stage.asked("erase_park"))
    await handle.signal("retry")
    await handle.result()
    return {"erase-retry": handle}


async def erasure_waiting(stage: Stage) -> Handles:
    stage.on("erase_wipe", ApplicationError("no answer", type="index-unavailable", non_retryable=True))
    handle = await stage.erasure()
    await until(lambda: stage.asked("erase_park"))
    await asyncio.sleep(1)
    return {"erase-waiting": handle}


async def erasure_over_two_runs(stage: Stage) -> Handles:
    """More open workflows than one run stops."""
    pages = policies.CONTINUE_AFTER_PAGES + 2
    stage.on("erase_open", *(EraseOpenResult(sessions=(f"gone-{page:02}",), more=page < pages - 1) for page in range(pages)))
    handle = await stage.erasure()
    first = (await handle.describe()).raw_description.workflow_execution_info.first_run_id
    await handle.result()
    last = await stage.client.get_workflow_handle(handle.id).describe()
    return {"erase-first-run": _run_of(stage, handle, first), "erase-second-run": _run_of(stage, handle, last.run_id)}


async def reflection_without_attributes(stage: Stage) -> Handles:
    stage.on("gather", RULES)
    handle = await stage.reflection(search_attributes=False)
    await handle.result()
    return {"reflection-no-attributes": handle}


async def reindex_switched(stage: Stage) -> Handles:
    stage.on("reindex_fill", FillResult(done=40, total=90), FillResult(end=True, done=90, total=90))
    handle = await stage.reindex(3)
    await handle.result()
    return {"reindex-switched": handle}


async def reindex_released(stage: Stage) -> Handles:
    stage.on("reindex_check", CheckResult(spaces=3, memories=90, missing=2), CheckResult(spaces=3, memories=90))
    handle = await stage.reindex(4)
    await until(lambda: stage.asked("reindex_park"))
    await handle.signal("retry")
    await handle.result()
    return {"reindex-retry": handle}


async def reindex_given_up(stage: Stage) -> Handles:
    stage.on("reindex_compare", CompareResult(asked=20, same=2, overlap=0.3, alike=True))
    handle = await stage.reindex(5)
    await until(lambda: stage.asked("reindex_park"))
    await handle.signal("drop")
    await handle.result()
    return {"reindex-drop": handle}


SCENES: tuple[Callable[[Stage], Awaitable[Handles]], ...] = (
    session_closed_by_the_caller,
    session_closed_when_idle,
    session_waiting,
    session_over_two_runs,
    session_captured,
    reflection_by_rules,
    reflection_with_fallback,
    reflection_without_a_model,
    reflection_over_budget,
    reflection_parked,
    reflection_released,
    reflection_taken_over_by_rules,
    reflection_skipped_by_a_person,
    reflection_skipped,
    reflection_without_attributes,
    reflection_of_something_gone,
    erasure,
    erasure_waiting,
    erasure_over_two_runs,
    reindex_switched,
    reindex_released,
    reindex_given_up,
)


def without_machine(value: Any) -> Any:
    """Leave out what names the machine: identities, and stack traces with their paths."""
    if isinstance(value, dict):
        return {key: "recorder" if key == "identity" else without_machine(item) for key, item in value.items() if key != "stackTrace"}
    return [without_machine(item) for item in value] if isinstance(value, list) else value


async def record() -> None:
    """Play every scene and write its histories."""
    async with temporal_server() as environment:
        for scene in SCENES:
            stage = Stage(environment)
            async with stage.workers():
                for name, handle in (await scene(stage)).items():
                    history = json.loads((await handle.fetch_history()).to_json())
                    text = json.dumps(
                        {"workflow_id": handle.id, "history": without_machine(history)}, separators=(",", ":"), sort_keys=True
                    )
                    await asyncio.to_thread((HISTORIES / f"{name}.json").write_text, text + "\n")
                    print(name, len(history["events"]), "events")
            await asyncio.sleep(0.1)


if __name__ == "__main__":
    asyncio.run(record())
