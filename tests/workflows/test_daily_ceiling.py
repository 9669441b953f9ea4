"""The daily ceiling with real workers and a real endpoint: never passed, marked where it ends, caught up with afterwards."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection
from temporalio.testing import WorkflowEnvironment

from hindwise.cli.worker_process import reflectors
from hindwise.ledger import reflections, reruns, spending
from hindwise.ledger.spending import Room, Spent
from hindwise.model.episode import Episode
from hindwise.model.reflection import Reflection, ReflectionStatus
from hindwise.reflect.budget import FIXED_TOKENS, estimate
from hindwise.reflect.metered import Meter
from tests.build import TENANT, make_call, make_episode, make_outcome, make_turn, make_turns
from tests.fake_llm import FakeLlm
from tests.workflows.rig import Rig, rig
from workflows import connection

pytestmark = pytest.mark.asyncio(loop_scope="session")

ASKS = {
    "en": "Please refund the order that never arrived. I always prefer short answers.",
    "zh": "请退款，这个订单一直没有送到。我一直喜欢简短的回答。",
}


class Steered:
    """A clock at noon of the day, which a test sets forward: no test runs over midnight."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC).replace(hour=12) + self.ahead


def task(name: str, lang: str = "en") -> Episode:
    call = make_call("refund_order")
    turns = (
        make_turn(ASKS[lang], seq=1),
        make_turn("", role="assistant", seq=2, tool_calls=(call,)),
        make_turn("Error: the order is not marked as lost", role="tool", seq=3, name="refund_order", tool_call_id=call.id),
        make_turn("I could not refund it." if lang == "en" else "我没能退款。", role="assistant", seq=4),
    )
    return make_episode(name, turns=turns, outcome=make_outcome("failure"), goal="", agent_id="shop", user_id=f"user-{name}")


@asynccontextmanager
async def shop(environment: WorkflowEnvironment, data: Path, llm: FakeLlm, **settings: float) -> AsyncIterator[Rig]:
    """Two workers, each with its own connection and its own client of the endpoint."""
    async with AsyncExitStack() as stack:
        model = {"reflector": "llm", "llm_base_url": llm.url, "llm_model": "fake-model", "llm_api_key": "sk-test"}
        ours = await stack.enter_async_context(rig(data, environment.client, clock=Steered(), **model, **settings))
        other = Rig(ours.engine, await connection.connect(ours.engine.settings))
        for house in (ours, other):
            known = await stack.enter_async_context(reflectors(ours.engine))
            await stack.enter_async_context(house.workers(known))
        yield ours


async def today(house: Rig) -> tuple[Room, list[Spent]]:
    day = house.engine.clock.now().date().isoformat()
    return await house.engine.ledger.read(lambda conn: (spending.room(conn, TENANT, day), spending.by_day(conn, TENANT, day)))


async def all_final(house: Rig, wanted: list[str]) -> list[Reflection]:
    return [await house.final(one) for one in wanted]


async def test_two_workers_at_the_ceiling_never_pass_it_and_rules_do_the_rest_and_say_so(
    environment: WorkflowEnvironment, tmp_path: Path
) -> None:
    """Twelve tasks at once, in both languages. A question costs less than is held for it: more are asked than could be held at once."""
    ceiling = 2 * FIXED_TOKENS + 1_000
    with FakeLlm() as llm:
        async with shop(environment, tmp_path / "data", llm, llm_daily_tokens=ceiling) as house:
            started = [(await house.run(task(f"t{n}", "zh" if n % 2 else "en"))).reflection_id for n in range(12)]
            done = await all_final(house, started)
            room, [spent] = await today(house)
    by_model = [one for one in done if not one.fallback_from]
    by_rules = [one for one in done if one.fallback_from]
    assert {one.status for one in done} == {ReflectionStatus.COMPLETED}
    assert {(one.reflector, one.fallback_from, one.written_by.split()[0], one.usage.calls) for one in by_rules} == {
        ("llm", "llm: budget", "rules", 0)
    }
    assert 3 <= len(by_model) == len(llm.requests) < 12
    assert (room.held, room.used) == (0, sum(one.usage.tokens for one in by_model))
    # Not one more would have fitted.
    assert ceiling - estimate(task("t").turns) < room.used <= ceiling
    assert (spent.calls, spent.refused, spent.cost) == (len(by_model), len(by_rules), None)


async def test_the_next_day_catches_up_and_a_planned_question_is_asked_though_others_come_between(
    environment: WorkflowEnvironment, tmp_path: Path
) -> None:
    with FakeLlm() as llm:
        async with shop(environment, tmp_path / "data", llm, llm_daily_tokens=FIXED_TOKENS, llm_price_input=1, llm_price_output=1) as house:
            left = await all_final(house, [(await house.run(task("left"))).reflection_id])
            assert (left[0].fallback_from, llm.requests) == ("llm: budget", [])
        # The ceiling is raised to what one question of this task may cost.
        one = estimate(task("left").turns)
        async with shop(environment, tmp_path / "data", llm, llm_daily_tokens=one, llm_price_input=1, llm_price_output=1) as house:
            engine, meter = house.engine, Meter(house.engine, "fake-model")

            def again(conn: Connection) -> str:
                accepted = reruns.queue(conn, TENANT, left[0].id, engine.reflector_id(), engine.clock.now())
                meter.plan(conn, TENANT, spending.hold_id(accepted.reflection_id, 1), one)
                return accepted.reflection_id

            planned = await engine.ledger.write(again)
            # A task that comes in between would fit, but what is left is kept for the planned one.
            between = (await house.run(task("between"))).reflection_id
            await house.start(planned)
            caught_up = await all_final(house, [planned, between])
            assert [one.fallback_from for one in caught_up] == ["", "llm: budget"]
            assert caught_up[0].usage.model == "fake-model"
            assert caught_up[0].usage.cost == pytest.approx(caught_up[0].usage.tokens / 1e6)
            assert (await today(house))[0] == Room(caught_up[0].usage.tokens, 0)
            engine.clock.ahead = timedelta(days=1)  # type: ignore[attr-defined]
            [next_day] = await all_final(house, [(await house.run(task("tomorrow"))).reflection_id])
            assert next_day.fallback_from == ""


async def test_what_was_asked_again_is_counted_and_so_is_an_answer_of_no_use(environment: WorkflowEnvironment, tmp_path: Path) -> None:
    with FakeLlm(["half_json", "invented_quote", "ok"]) as llm:
        async with shop(environment, tmp_path / "data", llm) as house:
            [done] = await all_final(house, [(await house.run(task("t"))).reflection_id])
            room, [spent] = await today(house)
    assert (done.fallback_from, done.usage.calls, done.usage.reasks, len(llm.requests)) == ("", 3, 2, 3)
    assert (spent.calls, spent.reasks, room.used, room.held) == (3, 2, done.usage.tokens, 0)


async def test_an_endpoint_that_is_away_costs_nothing_and_one_that_hangs_counts_as_estimated(
    environment: WorkflowEnvironment, tmp_path: Path
) -> None:
    with FakeLlm(["server_error:503", "rate_limited:1", "drops", "ok"]) as llm:
        async with shop(environment, tmp_path / "data", llm) as house:
            [done] = await all_final(house, [(await house.run(task("t"))).reflection_id])
            room, _ = await today(house)
            assert (done.fallback_from, room) == ("", Room(done.usage.tokens, 0))
    with FakeLlm(["hangs"]) as llm:
        async with shop(environment, tmp_path / "hung", llm, llm_timeout_s=3) as house:
            [done] = await all_final(house, [(await house.run(task("t", "zh"))).reflection_id])
            room, [spent] = await today(house)
            assert (done.fallback_from, spent.lost_tokens) == ("", estimate(task("t", "zh").turns))
            assert room == Room(done.usage.tokens + spent.lost_tokens, 0)


@pytest.mark.parametrize("words", [("hi", "hello", "thanks"), ("在吗", "在的", "好的")], ids=["en", "zh"])
async def test_what_the_free_check_saves_is_counted(environment: WorkflowEnvironment, tmp_path: Path, words: tuple[str, str, str]) -> None:
    turns = make_turns(("user", words[0]), ("assistant", words[1]), ("user", words[2]))
    with FakeLlm() as llm:
        async with shop(environment, tmp_path / "data", llm, llm_daily_tokens=100_000) as house:
            greeting = make_episode("g", turns=turns, outcome=make_outcome("unknown"), goal="")
            [done] = await all_final(house, [(await house.run(greeting)).reflection_id])
            room, [spent] = await today(house)
    assert (done.status, llm.requests, room) == (ReflectionStatus.SKIPPED, [], Room(0, 0))
    assert (spent.saved, spent.calls) == (1, 0)
    assert spent.model == "fake-model"


async def test_rules_alone_leave_no_trace_in_the_books(environment: WorkflowEnvironment, tmp_path: Path) -> None:
    async with rig(tmp_path / "data", environment.client, llm_daily_tokens=1) as house, house.workers():
        done = await house.final((await house.run(task("t"))).reflection_id)
        row = await house.engine.ledger.read(lambda conn: reflections.row_of(conn, done.id))
    assert (done.fallback_from, row.usage["calls"], row.usage["cost"]) == ("", 0, None)
    assert (await _books(tmp_path / "data")) == []


async def _books(data: Path) -> list[Spent]:
    from hindwise.ledger.engine import Ledger

    ledger = Ledger(f"sqlite:///{data / 'ledger.db'}")
    try:
        return await ledger.read(spending.by_model)
    finally:
        await ledger.close()
