"""Names behind the words that lead to a person, English and Chinese."""

import pytest

from hindwise.safety.introductions import introduced


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("请代我向王小雅女士道歉，航班是我改错的。", "王小雅"),
        ("我想向小雅妈妈问好。", "小雅"),
        ("Please apologise to Ms Ada Bell for the wrong flight.", "Ada Bell"),
        ("Give my regards to Aunt Ada, please.", "Ada"),
    ],
)
def test_who_is_spoken_to_is_introduced_by_the_word_before_and_the_title(said: str, name: str) -> None:
    assert name in set(introduced(said))


@pytest.mark.parametrize("said", ["请向导游确认集合时间。", "一直向上滑动就能看到。", "Please turn to the next page."])
def test_a_direction_introduces_nobody(said: str) -> None:
    assert set(introduced(said)) == set()


@pytest.mark.parametrize("said", ["我叫李雷，I'm Ada.", "I'm Ada.", "Passenger: Ada Bell — 我的朋友韩梅梅"])
def test_both_languages_are_read_in_one_text(said: str) -> None:
    told = set(introduced(said))
    assert any(name.startswith("Ada") for name in told)
    assert ("我" not in said) or any(not name.isascii() for name in told)
