"""What models cost can be read, and a re-run keeps to the day's tokens like any other question."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from hindwise.ledger import reflections, spending
from hindwise.model.reflection import ReflectionStatus, Usage
from hindwise.reflect.budget import FIXED_TOKENS
from hindwise.reflect.metered import Meter
from hindwise.testing import FixedClock
from tests.api.front import Front, open_front
from tests.build import make_turns
from tests.fake_llm import FakeLlm

TODAY = FixedClock().now().date().isoformat()
WORDS = {"en": "Please refund the order that never arrived.", "zh": "请退款，这个订单一直没有送到。"}


@pytest.fixture
def llm() -> Any:
    with FakeLlm() as fake:
        yield fake


@pytest.fixture
async def metered(tmp_path: Path, llm: FakeLlm) -> AsyncIterator[Front]:
    """Room for two questions of a short task a day."""
    prices = {"llm_price_input": 2.0, "llm_price_output": 8.0}
    model = {"llm_base_url": llm.url, "llm_model": "fake-model", "llm_api_key": "sk-test", "reflector": "rules"}
    async with open_front(tmp_path, llm_daily_tokens=2 * FIXED_TOKENS + 500, **model, **prices) as opened:
        yield opened


async def finished(front: Front, number: int, lang: str = "en") -> str:
    """A task whose reflection is done."""
    turns = [{"role": "user", "content": WORDS[lang]}, {"role": "assistant", "content": "I could not do it."}]
    body = {"user_id": "ann", "run_id": f"run-{number}", "turns": turns, "outcome": {"status": "failure", "source": "env"}}
    told = (await front.post("/v1/episodes", body)).json()
    await front.engine.ledger.write(
        lambda conn: reflections.finish(conn, told["reflection_id"], ReflectionStatus.COMPLETED, front.engine.clock.now())
    )
    return str(told["reflection_id"])


async def usage(front: Front) -> dict[str, Any]:
    answer = await front.http.get("/v1/usage")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_before_any_question_there_is_nothing_and_no_ceiling(front: Front) -> None:
    told = await usage(front)
    assert (told["days"], told["used_tokens"], told["ceiling"], told["left"]) == ([], 0, None, None)
    assert (await front.http.get("/v1/usage", params={"days": 0})).status_code == 422


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_a_comparison_by_a_model_is_counted_with_its_price(metered: Front, lang: str) -> None:
    answer = await metered.post(f"/v1/reflections/{await finished(metered, 1, lang)}/rerun", {"reflector": "llm"})
    cost = answer.json()["usage"]
    assert (answer.status_code, cost["calls"], cost["model"]) == (200, 1, "fake-model"), answer.text
    assert cost["cost"] == pytest.approx((2 * cost["prompt_tokens"] + 8 * cost["completion_tokens"]) / 1e6)
    told = await usage(metered)
    [day] = told["days"]
    assert (day["day"], day["calls"], day["cost"]) == (TODAY, 1, cost["cost"])
    assert told["used_tokens"] == cost["prompt_tokens"] + cost["completion_tokens"]
    assert told["left"] == told["ceiling"] - told["used_tokens"]
    assert told["held_tokens"] == 0
    text = (await metered.http.get("/metrics")).text
    assert f'hindwise_llm_tokens_total{{kind="prompt",model="fake-model"}} {float(cost["prompt_tokens"])}' in text
    assert 'hindwise_llm_calls_total{kind="first",model="fake-model"} 1.0' in text
    assert 'hindwise_llm_cost_total{model="fake-model"}' in text


async def test_an_answer_that_cannot_be_used_is_paid_for_all_the_same_and_a_refusal_is_not(metered: Front, llm: FakeLlm) -> None:
    reflection_id = await finished(metered, 1)
    for behaviour, status in (("half_json", 503), ("unauthorized", 503), ("server_error:503", 503)):
        llm.script(behaviour)
        assert (await metered.post(f"/v1/reflections/{reflection_id}/rerun", {"reflector": "llm"})).status_code == status
    told = await usage(metered)
    assert [day["calls"] for day in told["days"]] == [1]
    assert told["used_tokens"] > 0 == told["held_tokens"]


async def test_a_cost_without_prices_is_null_and_in_no_figure(tmp_path: Path, llm: FakeLlm) -> None:
    async with open_front(tmp_path, llm_base_url=llm.url, llm_model="fake-model", llm_api_key="sk-test") as front:
        await front.post(f"/v1/reflections/{await finished(front, 1)}/rerun", {"reflector": "llm"})
        assert [(day["calls"], day["cost"]) for day in (await usage(front))["days"]] == [(1, None)]
        assert "hindwise_llm_cost_total{" not in (await front.http.get("/metrics")).text


async def test_reruns_are_queued_as_long_as_todays_tokens_last(metered: Front, llm: FakeLlm) -> None:
    """Asked for at once, as a script might: none of those queued will find its tokens gone, and the others are told when to come."""
    wanted = [await finished(metered, number, lang) for number, lang in enumerate(("en", "zh", "en", "zh", "en"))]
    body = {"reflector": "llm", "apply": True}
    answers = await asyncio.gather(*(metered.post(f"/v1/reflections/{one}/rerun", body) for one in wanted))
    assert sorted(answer.status_code for answer in answers) == [200, 200, 429, 429, 429]
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert (refused.json()["type"], refused.json()["resumes_at"]) == ("budget-spent", "2026-05-02T00:00:00Z")
    assert refused.headers["retry-after"] == str(15 * 3600)
    for part in ("HINDWISE_LLM_DAILY_TOKENS", "2026-05-02 00:00 UTC"):
        assert part in refused.json()["detail"]
    counted = await metered.engine.ledger.read(reflections.count_by_status)
    assert (counted["queued"], counted["completed"]) == (2, 5)
    assert (await usage(metered))["left"] < FIXED_TOKENS
    assert llm.requests == []
    # Neither does a comparison go past it, and rules need no tokens.
    dry = next(one for one, answer in zip(wanted, answers, strict=True) if answer.status_code == 429)
    assert (await metered.post(f"/v1/reflections/{dry}/rerun", {"reflector": "llm"})).status_code == 429
    assert (await metered.post(f"/v1/reflections/{dry}/rerun", {"reflector": "rules", "apply": True})).status_code == 200
    metered.engine.clock.advance(hours=15)  # type: ignore[attr-defined]
    assert (await metered.post(f"/v1/reflections/{wanted[-1]}/rerun", body)).status_code in {200, 409}
    assert [day["day"] for day in (await usage(metered))["days"]] == []


async def test_the_list_tells_what_each_reflection_cost(front: Front) -> None:
    reflection_id = await finished(front, 1)
    spent = Usage(calls=2, reasks=1, prompt_tokens=3_000, completion_tokens=400, model="m", cost=0.5)

    def note(conn: Connection) -> None:
        told = {"written_by": "llm m 1", "fallback_from": "", "usage": spent, "decisions": [], "rejected": [], "due": {}}
        reflections.set_result(conn, reflection_id, **told)  # type: ignore[arg-type]

    await front.engine.ledger.write(note)
    listed = (await front.http.get("/v1/reflections")).json()["items"]
    assert [item["usage"] for item in listed] == [spent.model_dump()]
    assert (await front.http.get(f"/v1/reflections/{reflection_id}")).json()["usage"] == spent.model_dump()


async def test_usage_is_the_callers_tenants_alone(front: Front) -> None:
    day, now = TODAY, front.engine.clock.now()

    def spend(conn: Connection) -> None:
        for tenant in ("default", "other"):
            held = spending.hold(conn, tenant, tenant, "m", day, tokens=9, ceiling=0, asked_by="x", now=now)
            assert isinstance(held, spending.Hold)
            spending.settle(conn, held, Usage(calls=1, prompt_tokens=len(tenant)), "m")

    await front.engine.ledger.write(spend)
    assert (await usage(front))["used_tokens"] == len("default")


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_comparisons_keep_to_the_questions_of_a_minute_that_reflections_leave(tmp_path: Path, llm: FakeLlm, lang: str) -> None:
    model = {"llm_base_url": llm.url, "llm_model": "fake-model", "llm_api_key": "sk-test", "reflector": "rules"}
    async with open_front(tmp_path, llm_requests_per_minute=2.0, llm_timeout_s=0.4, **model) as front:
        first, second = await finished(front, 1, lang), await finished(front, 2, lang)
        assert (await front.post(f"/v1/reflections/{first}/rerun", {"reflector": "llm"})).status_code == 200
        refused = await front.post(f"/v1/reflections/{second}/rerun", {"reflector": "llm"})
        assert refused.status_code == 503, refused.text
        assert "HINDWISE_LLM_REQUESTS_PER_MINUTE" in refused.json()["detail"]
        assert 25 <= int(refused.headers["retry-after"]) <= 30
        assert len(llm.requests) == 1, "the second was asked beyond the limit"
        by_rules = await front.post(f"/v1/reflections/{second}/rerun", {"reflector": "rules"})
        assert by_rules.status_code == 200, "rules ask no model"


async def test_a_reflections_question_takes_the_place_that_a_comparison_would_have(tmp_path: Path, llm: FakeLlm) -> None:
    model = {"llm_base_url": llm.url, "llm_model": "fake-model", "llm_api_key": "sk-test", "reflector": "rules"}
    async with open_front(tmp_path, llm_requests_per_minute=2.0, llm_timeout_s=0.4, **model) as front:
        reflection_id = await finished(front, 1)
        async with Meter(front.engine, "fake-model").question("default", "q1", make_turns(("user", "请退款"))):
            refused = await front.post(f"/v1/reflections/{reflection_id}/rerun", {"reflector": "llm"})
    assert refused.status_code == 503, refused.text
    assert llm.requests == []
