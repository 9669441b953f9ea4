"""The free check before any model: what is not worth a question, and what must not be lost by it."""

import pytest

from hindwise.model.turn import Origin
from hindwise.reflect.gate import worth_reflecting
from tests.build import make_episode, make_outcome, make_turn, make_turns


def of(*turns):
    return make_episode(turns=turns, outcome=make_outcome("unknown"), goal="")


@pytest.mark.parametrize("words", [("hi", "Hello!", "thanks"), ("在吗", "在的", "好的")], ids=["en", "zh"])
def test_greetings_are_not_worth_a_question(words):
    turns = make_turns(("user", words[0]), ("assistant", words[1]), ("user", words[2]))
    assert worth_reflecting(of(*turns)) is not None


@pytest.mark.parametrize(
    "report",
    [
        'The import is finished: 3 of 4 files were read, "orders" failed because a column was missing.',
        "退款失败：原订单是用礼品卡支付的，系统不允许原路退回，已改为人工处理。",
    ],
    ids=["en", "zh"],
)
def test_what_an_agent_reports_is_worth_one_though_the_user_says_nothing_but_thanks(report):
    told = make_turn(report, role="assistant", seq=1)
    assert worth_reflecting(of(told)) is None
    assert worth_reflecting(of(told, make_turn("ok", seq=2))) is None
    assert worth_reflecting(of(told, make_turn("谢谢", seq=2))) is None


@pytest.mark.parametrize("error", ["HTTP 422: field must be a string, got integer", "错误：接口每分钟最多调用60次，请求已被拒绝。"])
def test_so_is_a_tools_error(error):
    assert worth_reflecting(of(make_turn(error, role="tool", name="orders", seq=1, origin=Origin.TOOL))) is None
