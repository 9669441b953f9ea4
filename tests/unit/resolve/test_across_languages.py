"""A wish told once in English and once in Chinese is one memory; a changed mind closes the older, whichever language tells it."""

import pytest

from bench.reflection.bilingual import becomes, pairs
from hindwise.model.memory import Draft
from hindwise.resolve.slots import same_value, slot_key
from tests.build import make_draft

EVERY = list(pairs())


def test_most_of_what_is_said_again_in_the_other_language_agrees_and_none_of_it_supersedes() -> None:
    """In both directions; what is not recognised is kept beside."""
    for first, second in (("en", "zh"), ("zh", "en")):
        found = [becomes(words[first], first, words[second], second) for _, same, words in EVERY if same]
        assert found.count("agree") >= 0.8 * len(found), (first, found)
        assert "supersede" not in found


@pytest.mark.parametrize(("first", "second"), [("en", "zh"), ("zh", "en")])
def test_an_opposite_in_the_other_language_never_agrees(first, second) -> None:
    """A wrong agreement would lose the change of mind."""
    found = {words[first]: becomes(words[first], first, words[second], second) for _, same, words in EVERY if not same}
    assert [words for words, what in found.items() if what == "agree"] == []
    assert list(found.values()).count("supersede") >= 0.65 * len(found)


def _todo(conclusion: str, attribute: str) -> Draft:
    return make_draft(conclusion, kind="todo", attribute=attribute, value=conclusion)


def test_a_todo_is_the_same_however_it_says_that_it_is_one() -> None:
    """ "still have to" and 提醒 say no more than its kind does."""
    one, other = _todo("Still has to book the hotel", "still book hotel"), _todo("提醒用户订酒店", "提醒订酒店")
    assert (slot_key(one), same_value(one, other)) == (slot_key(other), True)


def test_numbers_beside_a_value_count_across_languages_too() -> None:
    """Row 9 and row 20 are two wishes."""
    near = make_draft("Prefers window seats near row 9", attribute="seat", value="window")
    assert same_value(near, make_draft("喜欢第9排靠窗的座位", attribute="seat", value="靠窗"))
    assert not same_value(near, make_draft("喜欢第20排靠窗的座位", attribute="seat", value="靠窗"))


def test_where_another_person_lives_is_no_answer_to_where_the_user_lives() -> None:
    """My mother in Beijing closes nothing about me in Berlin."""
    assert becomes("I live in Berlin.", "en", "我妈妈住在北京。", "zh") == "apart"
    assert becomes("I am a vegetarian.", "en", "My wife is a vegetarian.", "en") in {"apart", "unread"}
