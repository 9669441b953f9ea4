"""What must be, need not be, was or will be is no other way to say what is: in one slot it never agrees across languages."""

from datetime import UTC, datetime, timedelta

import pytest

from hindwise.model.memory import Draft, Memory, Status, Words
from hindwise.resolve.decide import decide
from tests.build import make_draft

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)

DIFFERENT = [
    ("You do not have to send an invoice", "不要发送发票"),
    ("Must not deploy on Friday", "周五不用部署"),
    ("Was a doctor", "是医生"),
    ("I will move to Berlin", "我搬到柏林了"),
    ("I have a dog", "我要一只狗"),
    ("I had a dog", "我有一只狗"),
    ("I used to live in Berlin", "我住在柏林"),
    ("I lived in Berlin", "我住在柏林"),
    ("I live in Berlin", "我以前住在柏林"),
    ("I am a teacher", "我曾经是老师"),
    ("I am a doctor", "我会是医生"),
    ("I do not have to eat fish", "我不吃鱼"),
    ("You don't have to use WeChat", "你不用微信"),
    ("You need not send the report", "不要发送报告"),
    ("You must not send the report", "不必发送报告"),
    ("Do not send the report", "无需发送报告"),
    ("I drink tea", "我要喝茶"),
    ("I eat beef", "我吃了牛肉"),
    ("I liked coffee", "我喜欢咖啡"),
    ("I did not like coffee", "我不喜欢咖啡"),
    ("I don't have a dog", "我不要狗"),
    ("I want a dog", "我有一只狗"),
    ("I would eat fish", "我吃鱼"),
    ("I must book the hotel", "我不用订酒店"),
    ("I have to book the hotel", "我订酒店"),
    ("You should pay by credit card", "你必须用信用卡付款"),
    ("I won't eat beef", "我不吃牛肉"),
    ("I was married", "我结婚了"),
    ("I do not move to Berlin", "我没有搬到柏林"),
    ("I could cook", "我可以做饭"),
    ("I never have to work on Sunday", "我周日不准上班"),
    ("I no longer have to work on Sunday", "我周日不上班"),
    ("I had to work on Sunday", "我周日上班"),
    ("You must always ask me", "不一定要问我"),
]
SAME = [
    ("You don't have to send an invoice", "不必发送发票"),
    ("You do not need to send an invoice", "无需发送发票"),
    ("You must not deploy on Friday", "周五不准部署"),
    ("Do not deploy on Friday", "周五不要部署"),
    ("I moved to Berlin", "我搬到柏林了"),
    ("I have moved to Berlin", "我搬到了柏林"),
    ("I have a dog", "我有一只狗"),
    ("I do not have a dog", "我没有狗"),
    ("I am retired", "我退休了"),
    ("I am not married", "我没结婚"),
    ("I no longer eat beef", "我不吃牛肉了"),
    ("I have diabetes", "我有糖尿病"),
    ("I am diabetic", "我有糖尿病"),
    ("I should eat fish", "我应该吃鱼"),
    ("I must work on Sunday", "我周日必须上班"),
    ("I do not need a visa", "我不需要签证"),
    ("I would like a window seat", "我想要靠窗的座位"),
    ("I want a dog", "我想要一只狗"),
    ("I still have to book the hotel", "我还要订酒店"),
]


def _settled(known: Draft, said: Draft) -> str:
    words = known.model_dump(include=set(Words.model_fields))
    head = Memory(**words, id="m1", tenant_id="t", space="user:u", status=Status.ACTIVE, head=True, valid_from=NOON, recorded_at=NOON)
    return decide(said, NOON + timedelta(days=1), [head], []).action


def _both_ways(english: str, chinese: str) -> set[str]:
    one, other = (make_draft(said, kind="fact", attribute="one slot", value=said) for said in (english, chinese))
    return {_settled(one, other), _settled(other, one)}


@pytest.mark.parametrize(("english", "chinese"), DIFFERENT)
def test_another_duty_or_time_never_agrees_in_one_slot(english: str, chinese: str) -> None:
    """In both directions; a wrong agreement would lose what was said last."""
    assert "agree" not in _both_ways(english, chinese)


@pytest.mark.parametrize(("english", "chinese"), SAME)
def test_the_same_duty_or_time_agrees_in_one_slot(english: str, chinese: str) -> None:
    """Where a word tells it plainly in both languages."""
    assert _both_ways(english, chinese) == {"agree"}
