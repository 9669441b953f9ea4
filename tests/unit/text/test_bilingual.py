"""The same said in English and in Chinese is the same; whatever a bag of words cannot tell is not."""

import pytest

from hindwise.text.bilingual import concept_key, same_in_both
from hindwise.text.bilingual_words import ENTRIES, VALUES_ZH, WHOLE_VALUES


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("window", "靠窗"),
        ("Likes green tea", "喜欢绿茶"),
        ("Does not like coffee", "不喜欢咖啡"),
        ("I can't stand garlic", "受不了大蒜"),
        ("Has two children", "有两个孩子"),
        ("The user's budget is 500 euros", "用户的预算是500欧元"),
        ("The user's budget is €500", "用户的预算是500欧元"),
        ("My birthday is May 4", "我的生日是5月4日"),
        ("My birthday is the 4th of May", "我的生日是5月4号"),
        ("Has a dog", "有一只狗"),
        ("The user's mother lives in Beijing", "用户妈妈住在北京"),
        ("Is not allergic to peanuts", "对花生不过敏"),
        ("Ask me before you delete files", "删除文件之前先问我"),
        ("Before you delete files, ask me", "删除文件之前先问我"),
        ("Send invoices to me as PDF", "把发票用PDF发给我"),
        ("Never eats beef", "从来不吃牛肉"),
        ("Pay the rent on Friday", "周五交房租"),
        ("Works at Nordlicht", "在Nordlicht上班"),
    ],
)
def test_the_same_in_other_words_of_the_other_language(english: str, chinese: str) -> None:
    """In both directions."""
    assert same_in_both(english, chinese)
    assert same_in_both(chinese, english)


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("window", "靠过道"),
        ("Likes green tea", "喜欢红茶"),
        ("Likes green tea", "不喜欢绿茶"),
        ("Is a vegetarian", "不吃素"),
        ("Has two children", "有三个孩子"),
        ("The user's budget is 500 euros", "用户的预算是500美元"),
        ("My birthday is May 4", "我的生日是4月5日"),
        ("Lives in Lyon", "住在里尔"),
        ("Works at Siemens", "在西门子医疗上班"),
        ("My mother calls me every day", "我每天给妈妈打电话"),
        ("My mother's doctor", "我医生的妈妈"),
        ("The train from Berlin to Munich", "从慕尼黑到柏林的火车"),
        ("Not window but aisle", "不要靠过道，要靠窗"),
        ("Likes tea and hates coffee", "喜欢咖啡讨厌茶"),
        ("Likes tea and does not like coffee", "不喜欢茶和喜欢咖啡"),
        ("Prefers tea over coffee", "比起茶更喜欢咖啡"),
        ("Delete files before you ask me", "删除文件之前先问我"),
        ("Ask me after you delete files", "删除文件之前先问我"),
        ("I am married", "我还没结婚"),
        ("Only eats fish", "吃鱼"),
        ("Never run the tests before you commit", "提交之前一定要先跑测试"),
        ("Send it unless it is urgent", "紧急时发送"),
        ("Reports without tax", "含税的报告"),
        ("Room 101", "102房间"),
        ("Does not dislike fish", "不喜欢鱼"),
    ],
)
def test_what_differs_or_cannot_be_told_is_not_the_same(english: str, chinese: str) -> None:
    """A wrong match would lose a change of mind."""
    assert not same_in_both(english, chinese)
    assert not same_in_both(chinese, english)


def test_two_texts_of_one_language_are_left_to_their_own_normal_form() -> None:
    """The lexicon brings languages together, not synonyms of one."""
    assert not same_in_both("likes films", "likes movies")
    assert not same_in_both("喜欢房间", "喜欢房")


@pytest.mark.parametrize(("english", "chinese"), sorted(VALUES_ZH.items()))
def test_every_listed_value_is_known_in_both_languages(english: str, chinese: str) -> None:
    """And is no other listed value."""
    assert same_in_both(english, chinese)
    assert [value for value in WHOLE_VALUES if same_in_both(english, value)] == [chinese]


def test_no_chinese_word_means_two_things() -> None:
    """A word in two entries would make two attributes one."""
    words = [word for _, chinese in ENTRIES for word in chinese]
    named = {word: {english[0] for english, chinese in ENTRIES if word in chinese} for word in words}
    assert {word: names for word, names in named.items() if len(names) > 1} == {}


@pytest.mark.parametrize(
    ("one", "other"),
    [("green tea", "绿茶"), ("allergy to peanuts", "对花生过敏"), ("favourite colour", "最喜欢的颜色"), ("weekdays", "工作日")],
)
def test_an_attribute_has_one_key_in_both_languages(one: str, other: str) -> None:
    """So that what is said of it meets in one slot."""
    assert concept_key(one) == concept_key(other)


@pytest.mark.parametrize("text", ["kubernetes ingress", "鱼香肉丝", "note 1f2e3d", ""])
def test_what_is_not_known_keeps_its_words_as_key(text: str) -> None:
    """Nothing meets that did not before."""
    assert concept_key(text) == text
