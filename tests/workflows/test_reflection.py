"""The story of a reflection: the usual way, asking again, falling back to rules, and never an empty success."""

from datetime import timedelta

import pytest
from temporalio.exceptions import ApplicationError

from tests.workflows.stage import Stage, details_of, until
from workflows import policies
from workflows.contracts import FinishResult, GatherResult, GroundResult, IndexResult, ReflectResult, ResolveResult

pytestmark = pytest.mark.asyncio(loop_scope="session")

BY_MODEL = GatherResult(reflector="llm", outcome="failure", turns=7, budget_s=600)
GROUNDLESS = GroundResult(accepted=0, rejected=3, complaints=3)
USUAL_STEPS = ["gather", "reflect", "ground", "resolve", "index", "credit", "finish"]


async def test_the_usual_way_by_rules(stage: Stage) -> None:
    """Seven steps in order, each once; the ledger is told the end."""
    async with stage.workers():
        report = await (await stage.reflection()).result()
    assert stage.steps() == USUAL_STEPS
    assert (report.status, report.reflector, report.fallback_cause) == ("completed", "rules", "")
    assert (report.added, report.superseded) == (2, 1)
    assert [(m.status, m.skip_code) for m in stage.asked("finish")] == [("completed", "")]
    assert [(m.attempt, m.fallback_from) for m in stage.asked("resolve")] == [(1, "")]


async def test_the_usual_way_by_a_model(stage: Stage) -> None:
    """One question where the validators have no complaint."""
    stage.on("gather", BY_MODEL)
    async with stage.workers():
        report = await (await stage.reflection()).result()
    assert (stage.steps(), report.reflector) == (USUAL_STEPS, "llm")


async def test_complaints_are_put_to_the_model_again(stage: Stage) -> None:
    """Attempt two carries what was wrong with attempt one; the last answer counts."""
    stage.on("gather", BY_MODEL)
    stage.on("ground", GROUNDLESS, GroundResult(accepted=2, rejected=0, complaints=0))
    async with stage.workers():
        report = await (await stage.reflection()).result()
    assert [m.attempt for m in stage.asked("reflect")] == [1, 2]
    assert [(m.attempt, m.fallback_cause) for m in stage.asked("resolve")] == [(2, "")]
    assert report.reflector == "llm"


async def test_where_the_days_tokens_are_used_up_no_model_is_asked(stage: Stage) -> None:
    """Told at the gathering: nothing waits in the model's queue only to hear it. People see why."""
    stage.on("gather", BY_MODEL.model_copy(update={"over_budget": True}))
    async with stage.workers():
        handle = await stage.reflection()
        report = await handle.result()
        details = await details_of(handle)
    assert stage.steps() == USUAL_STEPS
    assert [m.reflector for m in stage.asked("reflect")] == ["rules"]
    assert [(m.fallback_from, m.fallback_cause) for m in stage.asked("resolve")] == [("llm", "budget")]
    assert (report.status, report.reflector, report.fallback_cause) == ("completed", "rules", "budget")
    assert "tokens for the model are used up" in details


@pytest.mark.parametrize(("accepted", "reflector", "cause"), [(0, "rules", "budget"), (2, "llm", "")])
async def test_tokens_that_end_between_two_questions_leave_what_stands(stage: Stage, accepted: int, reflector: str, cause: str) -> None:
    """What the first answer said with ground is kept; where nothing of it stands, rules reflect."""
    stage.on("gather", BY_MODEL)
    stage.on("reflect", ReflectResult(usable=True, drafts=3), ReflectResult(usable=False, over_budget=True), ReflectResult(usable=True))
    stage.on("ground", GroundResult(accepted=accepted, rejected=1, complaints=1), GroundResult(accepted=1, rejected=0, complaints=0))
    async with stage.workers():
        report = await (await stage.reflection()).result()
    assert [m.reflector for m in stage.asked("reflect")] == ["llm", "llm", "rules"][: 2 if accepted else 3]
    assert (report.reflector, report.fallback_cause) == (reflector, cause)


async def test_what_stands_after_the_last_complaint_stands(stage: Stage) -> None:
    """A model that repairs two of three drafts is not thrown away for the third."""
    stage.on("gather", BY_MODEL)
    stage.on("ground", GroundResult(accepted=1, rejected=2, complaints=2), GroundResult(accepted=2, rejected=1, complaints=1), GROUNDLESS)
    async with stage.workers():
        report = await (await stage.reflection()).result()
    assert len(stage.asked("reflect")) == policies.GROUND_TRIES
    assert [(m.attempt, m.fallback_from) for m in stage.asked("resolve")] == [(2, "")]
    assert (report.status, report.reflector) == ("completed", "llm")


async def test_the_same_complaints_twice_end_the_asking(stage: Stage) -> None:
    """A third question would be the second one again: rules stand in at once, with the cause of the answers that there were."""
    stage.on("gather", BY_MODEL)
    stage.on(
        "reflect", ReflectResult(usable=True, drafts=1), ReflectResult(usable=True, drafts=1), ReflectResult(usable=False, same_again=True)
    )
    stage.on("ground", GROUNDLESS, GROUNDLESS, GroundResult(accepted=2, rejected=0, complaints=0))
    async with stage.workers():
        report = await (await stage.reflection()).result()
    assert [m.reflector for m in stage.asked("reflect")] == ["llm", "llm", "llm", "rules"]
    assert (report.reflector, report.fallback_cause) == ("rules", "ungrounded")


@pytest.mark.parametrize(("first", "kept", "cause"), [(0, "rules", "ungrounded"), (2, "llm", "")])
async def test_a_model_that_gives_up_after_a_complaint_is_no_reason_to_keep_nothing(
    stage: Stage, first: int, kept: str, cause: str
) -> None:
    """What stood of its first answer stands; where nothing did, rules reflect."""
    stage.on("gather", BY_MODEL)
    stage.on(
        "ground", GroundResult(accepted=first, rejected=1, complaints=1), GroundResult(accepted=0, rejected=0, complaints=0, gave_up=True)
    )
    async with stage.workers():
        report = await (await stage.reflection()).result()
    assert [m.reflector for m in stage.asked("reflect")] == ["llm", "llm", "rules"][: 2 if first else 3]
    assert (report.reflector, report.fallback_cause) == (kept, cause)
    assert stage.asked("resolve")[0].attempt == (1 if first else 3)


async def test_a_question_may_take_as_long_as_the_settings_say(stage: Stage) -> None:
    """Told by the gathering, and the limit of the step itself; rules keep theirs."""
    stage.on("gather", BY_MODEL.model_copy(update={"step_s": 900.0, "budget_s": 1_800.0}))
    async with stage.workers():
        handle = await stage.reflection()
        await handle.result()
        history = await handle.fetch_history()
    scheduled = [event.activity_task_scheduled_event_attributes for event in history.events]
    limits = {one.activity_type.name: one.start_to_close_timeout.ToTimedelta() for one in scheduled if one.activity_type.name}
    assert (limits["reflect"], limits["ground"]) == (timedelta(seconds=900), policies.LEDGER_STEP.start_to_close)


@pytest.mark.parametrize(
    ("answers", "grounds", "cause"),
    [
        ((ReflectResult(usable=False),), (), "unusable"),
        ((ReflectResult(usable=True, drafts=1),), (GROUNDLESS,), "ungrounded"),
    ],
)
async def test_rules_stand_in_for_a_model_without_ground(
    stage: Stage, answers: tuple[ReflectResult, ...], grounds: tuple[GroundResult, ...], cause: str
) -> None:
    """After three tries, marked with the cause; never an empty success."""
    stage.on("gather", BY_MODEL)
    stage.on("reflect", *answers * 3, ReflectResult(usable=True, drafts=2))
    stage.on("ground", *grounds * 3, GroundResult(accepted=2, rejected=0, complaints=0))
    async with stage.workers():
        handle = await stage.reflection()
        report = await handle.result()
        assert "by rules, because" in await details_of(handle)
    assert [(m.attempt, m.reflector) for m in stage.asked("reflect")] == [(1, "llm"), (2, "llm"), (3, "llm"), (4, "rules")]
    assert [(m.attempt, m.fallback_from, m.fallback_cause) for m in stage.asked("resolve")] == [(4, "llm", cause)]
    assert (report.status, report.reflector, report.fallback_cause) == ("completed", "rules", cause)


async def test_rules_stand_in_for_a_model_that_does_not_answer(stage: Stage) -> None:
    """After the budget of the settings, not after the default of the activity."""
    stage.on("gather", BY_MODEL.model_copy(update={"budget_s": 2.0}))
    away = ApplicationError("the model at localhost did not answer", type="model-unavailable", next_retry_delay=timedelta(milliseconds=300))
    stage.on("reflect", lambda message: ReflectResult(usable=True, drafts=2) if message.reflector == "rules" else _raise(away))
    async with stage.workers():
        report = await (await stage.reflection()).result()
    asked = [m.reflector for m in stage.asked("reflect")]
    assert asked.count("llm") > 1
    assert asked[-1] == "rules"
    assert (report.status, report.fallback_cause) == ("completed", "unavailable")


def _raise(error: Exception) -> ReflectResult:
    raise error


@pytest.mark.parametrize("code", ["nothing-to-learn", "newer-verdict"])
async def test_what_gather_skips_ends_at_once_with_its_reason(stage: Stage, code: str) -> None:
    """No model is asked; the ledger is told why."""
    stage.on("gather", GatherResult(skip=True, skip_code=code))
    async with stage.workers():
        report = await (await stage.reflection()).result()
    assert stage.steps() == ["gather", "finish"]
    assert (report.status, report.skip_code) == ("skipped", code)
    assert stage.asked("finish")[0].skip_code == code


async def test_a_final_reflection_started_again_touches_nothing(stage: Stage) -> None:
    """However late the duplicate comes: the ledger decides, not Temporal's retention."""
    async with stage.workers():
        handle = await stage.reflection(f"{stage.prefix}-r")
        await handle.result()
        stage.calls.clear()
        stage.on("gather", GatherResult(skip=True, skip_code="final"))
        again = await stage.reflection(f"{stage.prefix}-r")
        report = await again.result()
    assert stage.steps() == ["gather"]
    assert report.skip_code == "final"


async def test_a_verdict_that_came_meanwhile_ends_the_older_reflection(stage: Stage) -> None:
    """The transaction saw it."""
    stage.on("resolve", ResolveResult(skipped=True))
    async with stage.workers():
        report = await (await stage.reflection()).result()
    assert (report.status, report.skip_code) == ("skipped", "newer-verdict")
    assert "credit" not in stage.steps()


async def test_nothing_kept_is_skipped_and_no_success(stage: Stage) -> None:
    """An answer without any draft still goes through resolve, because an earlier reflection may have to be superseded."""
    stage.on("ground", GroundResult(accepted=0, rejected=1, complaints=0))
    stage.on("resolve", ResolveResult(rejected=1))
    async with stage.workers():
        report = await (await stage.reflection()).result()
    assert stage.steps() == USUAL_STEPS
    assert (report.status, report.skip_code) == ("skipped", "nothing-kept")


async def test_an_index_that_is_away_does_not_hold_up_a_reflection(stage: Stage) -> None:
    """Completed all the same, marked as pending."""
    stage.on("index", IndexResult(pending=True))
    async with stage.workers():
        report = await (await stage.reflection()).result()
    assert (report.status, report.index_pending) == ("completed", True)
    assert stage.asked("finish")[0].index_pending


GONE = ApplicationError("gone", type="not-found", non_retryable=True)


async def test_what_was_erased_meanwhile_ends_quietly(stage: Stage) -> None:
    """Nothing in flight brings the erased back, nobody is asked, nothing is tried again."""
    stage.on("resolve", ApplicationError("gone", type="space-erased", non_retryable=True))
    async with stage.workers():
        report = await (await stage.reflection()).result()
    assert (report.status, report.skip_code) == ("skipped", "erased")
    assert (len(stage.asked("resolve")), stage.asked("park")) == (1, [])


async def test_what_is_gone_for_a_moment_is_read_anew(stage: Stage) -> None:
    """Another task closed or erased what a step had read: the step sees what stands there now."""
    stage.on("resolve", GONE, GONE, ResolveResult(added=1))
    async with stage.workers():
        report = await (await stage.reflection()).result()
    assert (report.status, report.added, len(stage.asked("resolve"))) == ("completed", 1, 3)


async def test_what_stays_gone_ends_as_failed_and_names_the_step(stage: Stage) -> None:
    """Three tries, no person, no end as a success, nor as an erasure that nobody asked for."""
    stage.on("gather", GatherResult(reflector="rules", turns=7, began="2026-03-02T09:00:00"))
    stage.on("resolve", GONE)
    async with stage.workers():
        report = await (await stage.reflection()).result()
    (told,) = stage.asked("finish")
    assert (report.status, report.skip_code, len(stage.asked("resolve"))) == ("failed", "vanished", 3)
    assert (told.status, told.step, told.began, stage.asked("park")) == ("failed", "resolve", "2026-03-02T09:00:00", [])


async def test_a_reflection_that_the_ledger_lost_was_erased(stage: Stage) -> None:
    """Its row went with the user: that is no failure."""
    stage.on("gather", GONE)
    stage.on("finish", FinishResult(gone=True))
    async with stage.workers():
        report = await (await stage.reflection()).result()
    assert (report.status, report.skip_code) == ("skipped", "erased")


async def test_conclusions_stand_where_only_the_credit_finds_something_gone(stage: Stage) -> None:
    """What was kept is kept."""
    stage.on("credit", GONE)
    async with stage.workers():
        report = await (await stage.reflection()).result()
    assert (report.status, stage.asked("finish")[0].status) == ("completed", "completed")


async def test_people_find_a_reflection_and_read_what_it_did(stage: Stage) -> None:
    """Attributes, summaries on the activities, and the end in plain words."""
    async with stage.workers():
        handle = await stage.reflection()
        await handle.result()
        described = await handle.describe()
        assert {pair.key.name: pair.value for pair in described.typed_search_attributes if pair.key.name.startswith("Hindwise")} == {
            "HindwiseTenant": "tenanthash",
            "HindwiseSpace": "spacehash",
            "HindwisePhase": "completed",
            "HindwiseOutcome": "failure",
            "HindwiseReflector": "rules",
        }
        assert await described.static_summary() == policies.REFLECTION_SUMMARY
        assert await details_of(handle) == (
            "Completed by rules: added 2, agreed 0, superseded 1, rejected 0. Due: review 2 on 12 Dec. "
            "Credited 1 memories that the task was told."
        )
        scheduled = [e for e in (await handle.fetch_history()).events if e.HasField("activity_task_scheduled_event_attributes")]
        assert all(event.user_metadata.summary.data for event in scheduled)


async def test_a_worker_that_was_away_finds_everything_waiting(stage: Stage) -> None:
    """Started while nobody works; done as soon as somebody does."""
    handle = await stage.reflection()
    async with stage.workers():
        await until(lambda: "finish" in stage.steps())
        assert (await handle.result()).status == "completed"
