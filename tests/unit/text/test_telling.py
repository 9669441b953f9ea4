"""What a question is about is left of it, in English and in Chinese."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindwise.text.telling import telling_tokens
from hindwise.text.tokens import query_tokens


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("what does my uncle do for work", ["uncl", "work"]),
        ("我叔叔是做什么工作的呢？", ["叔叔", "工作"]),
        ("where is the invoice", ["invoic"]),
        ("发票在哪里呢", ["发票"]),
        ("API 的密钥是多少来着", ["api", "密钥"]),
    ],
)
def test_function_words_do_not_tell(question: str, told: list[str]) -> None:
    assert telling_tokens(question) == told


@pytest.mark.parametrize("word", ["目的", "了解", "酒吧", "其他", "吉他", "也门", "哪吒", "吗啡", "他汀"])
def test_a_sign_within_a_word_stays(word: str) -> None:
    assert telling_tokens(f"{word}是什么") == [word]


@pytest.mark.parametrize("question", ["who am I", "你是谁", "什么", "的", "我的车在哪"])
def test_where_nothing_tells_everything_is_asked(question: str) -> None:
    assert telling_tokens(question) == query_tokens(question) != []


@given(st.text(alphabet="我的叔叔工作是什么 uncle work，。A1", max_size=40))
def test_nothing_is_asked_that_was_not_said(text: str) -> None:
    said = query_tokens(text)
    told = telling_tokens(text)
    assert bool(told) == bool(said)
    assert set(told) <= set(said)
