"""When two slot values are the same, in English and in Chinese."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindwise.text.numbers import chinese_number
from hindwise.text.values import normalise_value


@pytest.mark.parametrize(
    "same",
    [
        ("5 days", "five days", "Five Days.", "５ days", "5-day"),
        ("五天", "5天", "5 天", "５天"),
        ("三万元", "3万元", "30000元", "30,000元"),
        ("两个", "二个", "2个"),
        ("1,000 dollars", "1000 dollars", "one thousand dollars"),
        ("25 minutes", "twenty-five mins"),
        ("May 1, 2026", "1 May 2026", "2026-05-01", "2026/5/1", "the 2026-05-01"),
        ("2026年5月1日", "2026-05-01", "２０２６年５月１号", "二〇二六年五月一日"),
        ("10%", "10 percent", "ten percent"),
        ("window seat", "a window seat", "The window  seat"),
        ("3–5 days", "3-5 days"),
    ],
)
def test_these_say_the_same(same):
    assert len({normalise_value(text) for text in same}) == 1


@pytest.mark.parametrize(
    "different",
    [
        ("5 days", "not 5 days", "-5 days", "3-5 days", "5 nights", "50 days", "5.5 days"),
        ("五天", "不是五天", "五个月", "五十天", "十五天"),
        ("two three", "23", "5", "2 30"),
        ("1.10", "1.1", "11", "110"),
        ("2026-05-01", "2026-01-05", "2026-05-10"),
        ("12/11/2026", "2026-12-11", "2026-11-12"),
        ("一般", "统一", "1"),
        ("with nuts", "without nuts", "no nuts"),
        ("吃辣", "不吃辣", "不太吃辣"),
    ],
)
def test_these_say_different_things(different):
    assert len({normalise_value(text) for text in different}) == len(different)


@pytest.mark.parametrize(
    ("numeral", "number"),
    [
        ("零", 0),
        ("十", 10),
        ("十五", 15),
        ("二十", 20),
        ("三百二十", 320),
        ("一千零五", 1005),
        ("一万二千", 12_000),
        ("三亿", 300_000_000),
        ("二〇二六", 2026),
    ],
)
def test_chinese_numerals_are_read(numeral, number):
    assert chinese_number(numeral) == number


@given(st.text(st.characters(exclude_categories=()), max_size=80))
def test_normalising_twice_changes_nothing_more(text):
    once = normalise_value(text)
    assert normalise_value(once) == once


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_numbers_never_merge(first, second):
    assert normalise_value(f"{first} {second}") == f"{first} {second}"
    if first != second:
        assert normalise_value(f"{first} days") != normalise_value(f"{second} days")
        assert normalise_value(f"{first}天") != normalise_value(f"{second}天")
