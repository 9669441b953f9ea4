"""Conclusions are whole sentences of at most 160 characters: said in fewer words, never cut in the middle."""

import pytest

from hindwise.model.memory import MAX_CONCLUSION_CHARS, Draft, Kind
from hindwise.reflect.base import Known
from hindwise.reflect.rules import reflect_by_rules
from hindwise.reflect.rules.wording import general_error, when, whole
from tests.build import make_call, make_episode, make_outcome, make_turn

_LONG = ("get_everything_about_the_customer", "search_all_of_the_direct_connections", "update_the_reservation_with_new_flights")


def _run(ask: str, answer: str, status: str, note: str = "") -> list[Draft]:
    turns = [make_turn(ask)]
    for name in _LONG:
        arguments = {f"{name[:12]}_argument_{n}": f"v{n}" for n in range(8)}
        call = make_call(name, **arguments)
        turns.append(make_turn("", role="assistant", seq=len(turns) + 1, tool_calls=(call,)))
        turns.append(make_turn(answer, role="tool", name=name, tool_call_id=call.id, seq=len(turns) + 1))
    return list(reflect_by_rules(make_episode(turns=tuple(turns), outcome=make_outcome(status, note=note)), Known()).drafts)


_ASKS = (
    "Hi! I would like to change the outbound flights of all my reservations from New York to Seattle, as my sister is getting married.",
    "你好，我想把我名下所有从北京到上海的航班都改签到下周三，因为我妹妹要结婚了，麻烦你尽快处理一下。",
)
_ERROR = "Error: the total amount of all payments does not add up to the price, which is 1290, but 1180 was paid with two cards of the user"
_ERROR_ZH = "错误：所有支付方式的总金额与订单价格不一致，订单价格为1290元，实际支付1180元，请核对后重新提交支付信息，或联系客服人员处理"


@pytest.mark.parametrize("ask", _ASKS)
@pytest.mark.parametrize("answer", ["ok", _ERROR, _ERROR_ZH])
@pytest.mark.parametrize("status", ["success", "failure", "partial"])
@pytest.mark.parametrize(
    "note", ["", f"missing: {', '.join(_LONG)}; other arguments: {_LONG[2]}(passengers, payment_methods, nonfree_baggages, cabin)"]
)
def test_long_names_and_errors_never_cut_a_conclusion(ask: str, answer: str, status: str, note: str) -> None:
    for draft in _run(ask, answer, status, note):
        assert len(draft.conclusion) <= MAX_CONCLUSION_CHARS
        assert "…" not in draft.conclusion
        assert draft.conclusion.count('"') % 2 == 0
        if draft.kind is Kind.LESSON:
            assert draft.conclusion.endswith((".", "。"))


def test_a_lesson_takes_the_fullest_wording_that_fits() -> None:
    actions = ("call " + "a" * 150, "call a and b", "call a")
    assert when("en", "asked to book a flight", actions, "that worked") == "When asked to book a flight, call a and b, because that worked."
    assert when("zh", "预订航班", ("调用" + "甲" * 160, "调用甲"), "已成功") == "当预订航班时，调用甲，因为已成功。"


def test_what_must_be_shortened_ends_with_a_clause() -> None:
    assert (
        whole("The build failed as zlib.h is missing, and so was the rest of it, for ever.", 50) == "The build failed as zlib.h is missing."
    )


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ("payment amount does not add up, total price is 1290, but paid 1180", "payment amount does not add up"),
        ("not enough seats on flight HAT045", "not enough seats"),
        ("HTTP 422: field must be a string", "HTTP 422: field must be a string"),
        ("请假天数 25 超过剩余年假 5", "请假天数超过剩余年假"),
    ],
)
def test_an_error_is_told_without_the_values_of_one_case(error: str, told: str) -> None:
    assert general_error(error, frozenset(), "en" if error.isascii() else "zh") == told


def test_the_same_advice_is_not_given_twice() -> None:
    def run(name: str, calls: tuple[str, ...], status: str, note: str = "") -> object:
        turns = [make_turn("Please cancel my flight")]
        for tool in calls:
            call = make_call(tool, n=1)
            turns.append(make_turn("", role="assistant", seq=len(turns) + 1, tool_calls=(call,)))
            turns.append(make_turn("ok", role="tool", name=tool, tool_call_id=call.id, seq=len(turns) + 1))
        return make_episode(name, turns=tuple(turns), outcome=make_outcome(status, note=note))

    good = run("good", ("get_flight",), "success")
    bad = run("bad", ("get_flight", "cancel_flight"), "failure", "extra: cancel_flight")
    after_failure = [d for d in reflect_by_rules(bad, Known(earlier=(good,))).drafts if d.kind is Kind.LESSON]
    after_success = [d for d in reflect_by_rules(good, Known(earlier=(bad,))).drafts if d.kind is Kind.LESSON]
    assert [d.topics for d in after_failure] == [("verdict",)]
    assert [d.topics for d in after_success] == [("contrast",)]
