"""Questions to a model have a queue of their own: so many at a time, so many a minute, and nothing else waits behind them."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from hindwise.model.episode import Episode
from hindwise.model.reflection import Answer, Complaint
from hindwise.reflect.base import Known, Reflector
from hindwise.reflect.rules import RuleReflector
from tests.build import make_episode, make_outcome, make_turn
from tests.workflows.rig import Rig, rig
from tests.workflows.stage import until
from workflows import connection

pytestmark = pytest.mark.asyncio(loop_scope="session")

ASKS = {"en": "Please refund the order that never arrived.", "zh": "请退款，这个订单一直没有送到。"}


class Slow:
    """A model that answers nothing worth keeping, when it may. Notes when it was asked and how many questions were open at a time."""

    name, model, prompt_version = "llm", "slow", "1"

    def __init__(self) -> None:
        self.may = asyncio.Event()
        self.asked: list[float] = []
        self.open = self.most = 0

    async def reflect(self, episode: Episode, known: Known, complaints: Sequence[Complaint] = ()) -> Answer:
        self.asked.append(time.monotonic())
        self.open += 1
        self.most = max(self.most, self.open)
        try:
            async with asyncio.timeout(60):
                await self.may.wait()
        finally:
            self.open -= 1
        return Answer(nothing_because="nothing to learn / 没有可学的")


def task(name: str, lang: str = "en") -> Episode:
    turns = (make_turn(ASKS[lang], seq=1), make_turn("I could not do it.", role="assistant", seq=2))
    return make_episode(name, turns=turns, outcome=make_outcome("failure"), goal="")


@asynccontextmanager
async def two_workers(house: Rig, model: Reflector) -> AsyncIterator[None]:
    """Each with a connection of its own, as two processes have."""
    other = Rig(house.engine, await connection.connect(house.engine.settings))
    known = {"rules": RuleReflector(), "llm": model}
    async with house.workers(known), other.workers(known):
        yield


@asynccontextmanager
async def house(environment: WorkflowEnvironment, data: Path, **settings: float) -> AsyncIterator[Rig]:
    async with rig(data, environment.client, reflector="llm", llm_model="slow", **settings) as opened:
        yield opened


async def test_a_worker_has_no_more_questions_open_than_it_may_and_rules_wait_for_none(
    environment: WorkflowEnvironment, tmp_path: Path
) -> None:
    model = Slow()
    async with (
        house(environment, tmp_path / "data", llm_concurrency=2) as ours,
        rig(tmp_path / "data", environment.client, prefix=ours.prefix, reflector="rules") as by_rules,
        ours.workers({"rules": RuleReflector(), "llm": model}),
    ):
        started = [await ours.run(task(f"m{number}", "zh" if number % 2 else "en")) for number in range(6)]
        await until(lambda: model.open == 2)
        # The queue of the model is full: what rules reflect goes through all the same.
        quick = await by_rules.run(task("quick"))
        assert (await by_rules.final(quick.reflection_id)).written_by.startswith("rules")
        assert (model.open, len(model.asked)) == (2, 2)
        model.may.set()
        for accepted in started:
            assert (await ours.final(accepted.reflection_id)).usage.calls == 0
    assert (len(model.asked), model.most) == (6, 2)


async def test_two_workers_have_twice_as_many_open(environment: WorkflowEnvironment, tmp_path: Path) -> None:
    model = Slow()
    async with house(environment, tmp_path / "data", llm_concurrency=2) as ours, two_workers(ours, model):
        started = [await ours.run(task(f"m{number}")) for number in range(7)]
        await until(lambda: model.open == 4)
        model.may.set()
        for accepted in started:
            await ours.final(accepted.reflection_id)
    assert model.most == 4


async def test_all_workers_together_ask_no_more_than_so_often(environment: WorkflowEnvironment, tmp_path: Path) -> None:
    """120 a minute, whichever of two workers asks. A worker without the limit takes it off again.

    The server's four partitions of a queue share the limit, each lets its first task through at once: ten need two rounds of 2 s at least.
    """
    model = Slow()
    model.may.set()
    async with house(environment, tmp_path / "data", llm_requests_per_minute=120) as ours:
        async with two_workers(ours, model):
            started = [await ours.run(task(f"m{number}")) for number in range(10)]
            for accepted in started:
                await ours.final(accepted.reflection_id)
        asked = sorted(model.asked)
        assert asked[-1] - asked[0] >= 3.0, asked
        model.asked.clear()
        async with (
            rig(tmp_path / "data", environment.client, prefix=ours.prefix, reflector="llm", llm_model="slow") as free,
            free.workers({"rules": RuleReflector(), "llm": model}),
        ):
            again = [await free.run(task(f"free{number}")) for number in range(40)]
            for accepted in again:
                assert (await free.final(accepted.reflection_id)).written_by.startswith("llm")
    asked = sorted(model.asked)
    assert asked[-1] - asked[0] < 30, asked
