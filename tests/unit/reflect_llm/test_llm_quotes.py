"""A quote that is nearly right is looked up in the transcript; one with another word in it is another quote."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindwise.model.reflection import Answer
from hindwise.reflect.base import Known
from hindwise.reflect.judged import judge
from hindwise.reflect.llm.draft import drafts_of
from hindwise.reflect.llm.prompt import question
from hindwise.reflect.llm.quotes import span_of
from hindwise.reflect.llm.schema import read_answer
from tests.unit.reflect_llm.episodes import episode

SAID = {
    "en": (
        ("user", "Please send “weekly.csv” to me,  and never on a Friday."),
        ("assistant", "Sent weekly.csv, 1.5 MB, at -5 degrees."),
        ("tool", "Never trust a Monday report, it says."),
    ),
    "zh": (
        ("user", "请把《周报》发给我，以后都不要在周五发。"),
        ("assistant", "已发送周报，共 1.5 页。"),
        ("tool", "周一的报表都不可信，它说。"),
    ),
}


def quoted(lang: str, quote: str, *turns: int):
    """The evidence of a lesson with this quote, and whether the validators let it pass."""
    run = episode(*SAID[lang], status="success")
    conclusion = "When a report is sent, mind the day" if lang == "en" else "当发送周报时，应注意是哪一天"
    lesson = {"conclusion": conclusion, "lesson_type": "strategy", "applies_when": conclusion, "turns": list(turns), "quote": quote}
    drafts = drafts_of(read_answer({"lessons": [lesson]}), run, question(run, Known()))
    refused = [item.rule for _, item in judge(run, Answer(drafts=drafts)).rejected]
    return [(place.turn_id, place.quote) for place in drafts[0].evidence], refused


@pytest.mark.parametrize(
    ("lang", "quote", "words"),
    [
        ("en", 'send "weekly.csv" to me, and never on a friday', "send “weekly.csv” to me,  and never on a Friday"),
        ("en", "...and NEVER on a Friday!", "and never on a Friday"),
        ("zh", "请把“周报”发给我,以后都不要在周五发!", "请把《周报》发给我，以后都不要在周五发"),
        ("zh", "以后 都不要 在周五发", "以后都不要在周五发"),
    ],
)
def test_other_marks_blanks_and_capitals_are_put_right_word_for_word(lang, quote, words):
    assert quoted(lang, quote, 1) == ([("t-11", words)], [])


@pytest.mark.parametrize(
    ("lang", "quote"),
    [
        ("en", "and always on a Friday"),
        ("en", "and never on Friday"),
        ("en", "weekly.csv, 15 MB"),
        ("en", "15 MB, at -5 degrees"),
        ("en", "MB, at 5 degrees, sent"),
        ("zh", "以后都可以在周五发"),
        ("zh", "以后都不要在周六发"),
        ("zh", "周报，共 15 页"),
    ],
)
def test_another_word_or_number_is_refused(lang, quote):
    _, refused = quoted(lang, quote, 1, 2)
    assert refused == ["quote-occurs"]


def test_the_number_of_the_turn_before_is_put_right_where_one_turn_alone_holds_the_words():
    assert quoted("en", "and never on a Friday", 2) == ([("t-11", "and never on a Friday")], [])
    assert quoted("zh", "以后都不要在周五发", 2) == ([("t-11", "以后都不要在周五发")], [])


def test_nothing_becomes_the_users_word_because_a_tools_turn_was_named():
    assert quoted("en", "and never on a Friday", 3) == ([("t-13", "and never on a Friday")], ["quote-occurs"])
    assert quoted("zh", "以后都不要在周五发", 3) == ([("t-13", "以后都不要在周五发")], ["quote-occurs"])


def test_words_that_several_turns_hold_are_nobodys():
    run = episode(("user", "Send the weekly report."), ("assistant", "I send the weekly report."), ("assistant", "Done."), status="success")
    lesson = {
        "conclusion": "When asked, send it",
        "lesson_type": "strategy",
        "applies_when": "x",
        "turns": [3],
        "quote": "the weekly report",
    }
    (draft,) = drafts_of(read_answer({"lessons": [lesson]}), run, question(run, Known()))
    assert [item.rule for _, item in judge(run, Answer(drafts=(draft,))).rejected] == ["quote-occurs"]


@given(st.text(max_size=60), st.text(max_size=20))
def test_what_is_found_stands_in_the_text_and_has_the_same_letters(text, quote):
    span = span_of(text, quote)
    assert span in text
    if span:
        assert [c for c in span.casefold() if c.isalpha()] != [] or any(c.isalnum() for c in span)


@given(st.text(alphabet="ab 1.5-，。“汉字话", min_size=12, max_size=60), st.integers(0, 40))
def test_a_stretch_of_a_text_without_its_marks_is_found_again_or_too_short(text, begin):
    stretch = text[begin:]
    found = span_of(text, stretch.replace("，", " ").replace("。", "").replace("“", '"'))
    assert found == "" or found in text
