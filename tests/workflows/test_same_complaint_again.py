"""A model that earns the same complaint again is asked no more, and rules stand in: they are never taken for the same question."""

from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from hindwise.cli.worker_process import reflectors
from hindwise.model.reflection import ReflectionStatus
from tests.fake_llm import FakeLlm
from tests.workflows.rig import rig
from tests.workflows.test_daily_ceiling import task
from workflows import policies

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    ("before", "asked"),
    [([], 2), (["half_json"], 3)],
    ids=["from the first answer on", "at the last two"],
)
async def test_rules_stand_in_for_a_model_that_repeats_itself(
    environment: WorkflowEnvironment, tmp_path: Path, lang: str, before: list[str], asked: int
) -> None:
    with FakeLlm(before) as llm:
        llm.mode = "invented_quote"
        model = {"reflector": "llm", "llm_base_url": llm.url, "llm_model": "fake-model", "llm_api_key": "sk-test"}
        async with rig(tmp_path / "data", environment.client, **model) as house, reflectors(house.engine) as known, house.workers(known):
            done = await house.final((await house.run(task("t", lang))).reflection_id)
            assert asked <= len(llm.requests) <= policies.GROUND_TRIES
    assert (done.status, done.fallback_from, done.written_by.split()[0]) == (ReflectionStatus.COMPLETED, "llm: ungrounded", "rules")
