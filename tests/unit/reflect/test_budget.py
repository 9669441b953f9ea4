"""What a question may cost and did cost: never pretended, never unbounded."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from pydantic import ValidationError

from hindwise.model.reflection import Usage
from hindwise.reflect.budget import FIXED_TOKENS, Prices, accounted, day_of, estimate, next_day, spent
from hindwise.reflect.llm.prompt import MODEL_BUDGET
from hindwise.settings import Settings
from tests.build import make_turn

NOW = datetime(2026, 5, 1, 23, 30, tzinfo=UTC)


def used(prompt: int = 1_000, completion: int = 100) -> Usage:
    return Usage(calls=1, prompt_tokens=prompt, completion_tokens=completion)


def test_a_cost_is_told_only_where_both_prices_are_known() -> None:
    assert Prices(2.0, 8.0).cost_of(500_000, 250_000) == pytest.approx(3.0)
    for prices in (Prices(), Prices(2.0, 0.0), Prices(0.0, 8.0)):
        assert prices.cost_of(500_000, 250_000) is None
        assert accounted(used(), "m", prices, again=False).cost is None


def test_what_was_asked_again_is_counted_as_such() -> None:
    first, second = (accounted(used(), "m", Prices(1.0, 1.0), again=again) for again in (False, True))
    total = Usage().plus(first).plus(second).plus(Usage())
    assert (total.calls, total.reasks, total.tokens, total.model) == (2, 1, 2_200, "m")
    assert total.cost == pytest.approx(0.0022)


def test_a_sum_with_an_unknown_cost_is_unknown_and_rules_cost_nothing() -> None:
    known, unknown = accounted(used(), "m", Prices(1.0, 1.0), again=False), accounted(used(), "m", Prices(), again=True)
    assert known.plus(unknown).cost is None
    assert known.plus(Usage()).cost == known.cost
    assert accounted(Usage(), "m", Prices(1.0, 1.0), again=False) == Usage()


@pytest.mark.parametrize("words", ["please change the booking of the train ", "请帮我改签明天的火车票，谢谢。"], ids=["en", "zh"])
def test_an_estimate_grows_with_the_transcript_up_to_what_a_question_may_cost(words: str) -> None:
    estimates = [estimate([make_turn(words * 10, seq=n) for n in range(1, turns + 1)]) for turns in (0, 1, 10, 60, 2_000)]
    assert estimates[0] == FIXED_TOKENS
    assert estimates == sorted(estimates)
    assert estimates[-1] == MODEL_BUDGET
    assert estimate([make_turn(words * 100_000)]) == MODEL_BUDGET


def test_a_day_is_one_of_utc_wherever_the_clock_stands() -> None:
    east = NOW.astimezone(timezone(timedelta(hours=8)))
    assert day_of(NOW) == day_of(east) == "2026-05-01"
    assert next_day(east) == datetime(2026, 5, 2, tzinfo=UTC)
    error = spent(10_000, 8_000, 1_500, east)
    assert error.retry_after_s == 1_800
    for part in ("10,000", "8,000", "1,500", "2026-05-02 00:00 UTC", "HINDWISE_LLM_DAILY_TOKENS"):
        assert part in error.detail


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("llm_daily_tokens", "-1"),
        ("llm_daily_tokens", "many"),
        ("llm_price_input", "-0.1"),
        ("llm_price_output", "nan"),
        ("llm_concurrency", "0"),
        ("llm_concurrency", "201"),
        ("llm_requests_per_minute", "-1"),
        ("llm_requests_per_minute", "inf"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused_by_name(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"HINDWISE_{name.upper()}", value)
    with pytest.raises(ValidationError, match=name):
        Settings(_env_file=None)
