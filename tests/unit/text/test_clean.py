"""Cleaning and cutting: whatever comes in, what goes out can be stored, encoded and handed to C code."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindwise.text.clean import ELLIPSIS, clean, nfkc, one_line, truncate

any_text = st.text(st.characters(exclude_categories=()), max_size=300)


def test_nul_controls_and_lone_surrogates_go_and_the_words_stay():
    assert clean("a\0b\x07 c\ud83d 退款\x7f") == "ab c 退款"


def test_tab_and_newline_stay_and_carriage_returns_become_newlines():
    assert clean("a\tb\r\nc\rd\n") == "a\tb\nc\nd\n"


def test_nfkc_folds_full_width_letters_and_digits():
    assert nfkc("ＡＢ１２３　订单") == "AB123 订单"


@given(any_text)
def test_a_cleaned_text_can_be_encoded_and_is_clean_already(text):
    cleaned = clean(text)
    cleaned.encode("utf-8")
    assert "\0" not in cleaned
    assert clean(cleaned) == cleaned


@given(any_text)
def test_visible_characters_are_never_touched(text):
    visible = [c for c in text if unicodedata.category(c) not in ("Cc", "Cs")]
    assert [c for c in clean(text) if unicodedata.category(c) not in ("Cc", "Cs")] == visible


def test_one_line_joins_lines_and_spaces():
    assert one_line("  a\n\n b\t c ") == "a b c"


@pytest.mark.parametrize(
    ("text", "max_chars", "cut"),
    [
        ("short", 10, "short"),
        ("exactly", 7, "exactly"),
        ("the reservation was cancelled", 22, "the reservation was…"),
        ("取消预订之前先确认", 6, "取消预订之…"),
        ("x" * 50, 10, "x" * 9 + ELLIPSIS),
        ("anything", 1, ELLIPSIS),
        ("anything", 0, ""),
        ("anything", -3, ""),
    ],
)
def test_a_text_is_cut_at_a_word_where_one_is_near(text, max_chars, cut):
    assert truncate(text, max_chars) == cut


def test_a_cut_never_parts_a_letter_from_its_mark():
    assert truncate("cafe\u0301 au lait", 6) == "cafe\u0301…"
    assert truncate("cafe\u0301 au lait", 5) == "caf…"


@given(any_text, st.integers(min_value=-2, max_value=400))
def test_a_cut_text_is_never_longer_than_asked_and_only_loses_its_end(text, max_chars):
    cut = truncate(text, max_chars)
    assert len(cut) <= max(max_chars, 0)
    assert cut == text or text.startswith(cut.removesuffix(ELLIPSIS))
