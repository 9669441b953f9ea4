"""English or Chinese, and how many tokens a text costs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindwise.text.language import language_of
from hindwise.text.token_budget import count_tokens


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Cancel the reservation", "en"),
        ("取消预订", "zh"),
        ("调用 get_reservation_details 和 cancel_reservation 失败", "zh"),
        ("用 Python 写一个 HTTP server", "zh"),
        ("Please call 李娜 about the order before noon", "en"),
        ("", "en"),
        ("12345 !!", "en"),
        ("订单 12345", "zh"),
    ],
)
def test_the_language_is_that_of_the_sentence_not_of_the_names_in_it(text, language):
    assert language_of(text) == language


def test_tokens_of_prose_lie_near_what_a_model_counts():
    english = "The customer asked for a refund after the airline had cancelled the second flight of the reservation."
    chinese = "航空公司取消了第二段航班之后，客户要求全额退款，客服先核对了会员等级。"
    assert 17 <= count_tokens(english) <= 26
    assert 20 <= count_tokens(chinese) <= 36
    assert count_tokens("") == 0


@given(st.text(max_size=200), st.text(max_size=200))
def test_a_longer_text_never_costs_less(first, second):
    assert count_tokens(first + "\n" + second) >= count_tokens(first)


@given(st.text(st.characters(max_codepoint=127), max_size=300))
def test_a_text_costs_the_same_whether_or_not_another_alphabet_stands_beside_it(text):
    assert count_tokens(text + " é") == count_tokens(text) + 1
