"""Tokens: what both indexes search by."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindwise.text.clean import nfkc
from hindwise.text.tokens import query_tokens, tokens

any_text = st.text(st.characters(exclude_categories=()), max_size=200)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The reservations were cancelled", ["reserv", "cancel"]),
        ("用户要退款", ["用户", "户要", "要退", "退款"]),
        ("票", ["票"]),
        ("用户１２３ＡＢＣ", ["用户", "123abc"]),
        ("HTTP 404", ["http", "404"]),
        ("HTTP404 error", ["http404", "error"]),
        ("order_id", ["order", "id", "order_id"]),
        ("getOrderDetails", ["get", "order", "detail", "getorderdetails"]),
        ("调用 get_user 失败", ["调用", "get", "user", "get_user", "失败"]),
        ("XEHM4B", ["xehm4b"]),
        ("1,000.50 元", ["1000.50", "元"]),
        ("2026-05-01", ["2026", "05", "01", "2026-05-01"]),
        ("a well-known fact", ["well", "known", "fact"]),
        ("the user’s wish", ["user", "wish"]),
        ("", []),
        ("?! …", []),
    ],
)
def test_a_text_gives_these_tokens(text, expected):
    assert tokens(text) == expected


def test_a_question_of_stop_words_alone_keeps_them():
    assert tokens("Who am I?") == []
    assert query_tokens("Who am I?") == ["who", "am", "i"]
    assert query_tokens("What is the refund?") == ["refund"]


def test_words_of_one_stem_meet_and_others_do_not():
    assert tokens("refunded") == tokens("refunds") == tokens("Refunding")
    assert tokens("refund") != tokens("reload")


def test_a_very_long_run_is_cut():
    assert [len(token) for token in tokens("x" * 10_000)] == [64]


@given(any_text)
def test_any_text_gives_the_same_clean_tokens_every_time(text):
    found = tokens(text)
    assert found == tokens(text)
    assert all(token and token == token.lower() and not any(c.isspace() for c in token) for token in found if token.isascii())
    assert set(found) <= set(query_tokens(text))
    " ".join(found).encode("utf-8")


@given(any_text)
def test_folding_first_changes_nothing(text):
    assert tokens(nfkc(text)) == tokens(text)


def test_many_threads_stem_alike():
    text = " ".join(f"reservations{'' if i % 2 else ' cancellations'} flights bookings" for i in range(50))
    with ThreadPoolExecutor(8) as pool:
        assert set(map(tuple, pool.map(tokens, [text] * 64))) == {tuple(tokens(text))}
