"""A poor model on the real engine: it loses nothing that rules know, and it may take its time."""

from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from activities import STEPS
from hindwise.cli.worker_process import reflectors
from hindwise.ledger import attempts, intake
from hindwise.model.reflection import ReflectionStatus
from hindwise.reflect.judged import BESIDE, own_share
from hindwise.reflect.llm.short import short_schema
from hindwise.reflect.rules import reflect_by_rules
from tests.fake_llm import FakeLlm
from tests.nobody import nobody_at
from tests.workflows.rig import rig
from tests.workflows.test_daily_ceiling import task
from workflows.contracts import GatherResult, StepInput

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(("first", "cause"), [("invented_quote", "ungrounded"), ("empty_success", "unusable")])
async def test_nothing_said_only_after_a_complaint_is_giving_up_and_rules_stand_in(
    environment: WorkflowEnvironment, tmp_path: Path, lang: str, first: str, cause: str
) -> None:
    with FakeLlm([first, "nothing"]) as llm:
        model = {"reflector": "llm", "llm_base_url": llm.url, "llm_model": "fake-model", "llm_api_key": "sk-test"}
        async with rig(tmp_path / "data", environment.client, **model) as house, reflectors(house.engine) as known, house.workers(known):
            done = await house.final((await house.run(task("t", lang))).reflection_id)
            assert len(llm.requests) == 2
    assert (done.status, done.fallback_from, done.written_by.split()[0]) == (ReflectionStatus.COMPLETED, f"llm: {cause}", "rules")


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_who_says_nothing_in_the_long_form_teaches_in_the_short_one_and_what_rules_know_stands_beside_it(
    environment: WorkflowEnvironment, tmp_path: Path, lang: str
) -> None:
    with FakeLlm(["empty_success", "ok"]) as llm:
        model = {"reflector": "llm", "llm_base_url": llm.url, "llm_model": "fake-model", "llm_api_key": "sk-test"}
        async with rig(tmp_path / "data", environment.client, **model) as house, reflectors(house.engine) as known, house.workers(known):
            done = await house.final((await house.run(task("t", lang))).reflection_id)
            refused = await house.engine.ledger.read(lambda conn: attempts.all_of(conn, done.id))
    assert (done.status, done.fallback_from, done.written_by.split()[0]) == (ReflectionStatus.COMPLETED, "", "llm")
    assert [bool(attempt.unusable) for attempt in refused] == [True, False] and refused[1].answer.short
    accepted = [ordinal for ordinal, _ in (refused[1].grounded or {})["accepted"]]
    assert min(accepted) < BESIDE and len(accepted) - own_share(accepted) == len(reflect_by_rules(task("t", lang)).drafts)


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_who_was_asked_shortly_and_made_a_slip_is_not_asked_in_the_long_form_again(
    environment: WorkflowEnvironment, tmp_path: Path, lang: str
) -> None:
    with FakeLlm(["says:Sorry, no.", 'says:{"lessons": [{"turns": [1], "do": ""}], "nothing_because": ""}', "ok"]) as llm:
        model = {"reflector": "llm", "llm_base_url": llm.url, "llm_model": "fake-model", "llm_api_key": "sk-test"}
        async with rig(tmp_path / "data", environment.client, **model) as house, reflectors(house.engine) as known, house.workers(known):
            done = await house.final((await house.run(task("t", lang))).reflection_id)
            told = await house.engine.ledger.read(lambda conn: attempts.all_of(conn, done.id))
        asked = [body["response_format"]["json_schema"]["schema"] == short_schema() for body in llm.requests]
    assert asked == [False, True, True] == [attempt.answer.short for attempt in told]
    assert [bool(attempt.unusable) for attempt in told] == [True, True, False] and done.fallback_from == ""


@pytest.mark.parametrize(("timeout_s", "step_s"), [(60.0, GatherResult().step_s), (900.0, 960.0)])
async def test_the_limit_of_the_step_leaves_a_question_all_its_time(
    environment: WorkflowEnvironment, tmp_path: Path, timeout_s: float, step_s: float
) -> None:
    model = {"reflector": "llm", "llm_base_url": f"http://{nobody_at()}/v1", "llm_model": "m", "llm_timeout_s": timeout_s}
    async with rig(tmp_path / "data", environment.client, **model) as house:
        engine, episode = house.engine, task("t", "en")
        name, now = engine.reflector_id(), engine.clock.now()
        accepted = await engine.ledger.write(lambda conn: intake.accept_run(conn, episode, name, recall_ids=(), now=now, keep_first=True))
        gathered = await STEPS["gather"](engine, StepInput(reflection_id=accepted.reflection_id))
    assert gathered.step_s == step_s
