"""What was asked is found among greetings, wishes and feelings, and told in a few general words. Both languages."""

import re

import pytest

from hindwise.model.memory import Kind
from hindwise.reflect.rules import reflect_by_rules, task_en, task_zh
from hindwise.reflect.rules.findings import read, task_key
from tests.build import make_call, make_episode, make_outcome, make_turn, make_turns


@pytest.mark.parametrize(
    ("said", "phrase"),
    [
        ("Hi! I'm looking to book a one-way flight from New York to Seattle on May 20th.", "book a one-way flight"),
        ("Hi there! I need to change my return flight from Texas to Newark.", "change the return flight"),
        ("I'm having some issues with money and need to downgrade all my recent flights.", "downgrade all the flights"),
        ("Hi, I need to cancel a flight that I booked, please.", "cancel a flight"),
        ("I need help with canceling a reservation.", "cancel a reservation"),
        ("I'd like to make some changes to my upcoming trip.", "change the trip"),
        ("Besides, I'm hoping for some kind of compensation.", "get compensation"),
        ("Could you write a python script that renames all files?", "write a python script"),
        ("Please create a shipping label for a parcel to Norway", "create a shipping label for a parcel"),
        ("How do I reset my password?", "reset the password"),
        ("My flight has been delayed again, and it's just unacceptable!", "the delayed flight"),
        ("How many suitcases can I take?", "the number of suitcases"),
    ],
)
def test_an_english_request_is_a_verb_and_its_object(said: str, phrase: str) -> None:
    request = task_en.request_of(said)
    assert request is not None
    assert request.phrase == phrase


@pytest.mark.parametrize(
    ("said", "phrase"),
    [
        ("提交北京出差的交通费报销单", "提交交通费报销单"),
        ("提交4月6日至4月30日的年假申请", "提交年假申请"),
        ("你好，我想取消明天从北京到上海的航班，可以吗？", "取消航班"),
        ("请帮我把这份合同翻译成英文", "把合同翻译成英文"),
        ("麻烦帮我预订两张去杭州的高铁票，谢谢", "预订高铁票"),
        ("我需要给客户写一封道歉邮件", "写道歉邮件"),
        ("怎么申请年假？", "申请年假"),
        ("修复构建失败的问题", "修复构建失败的问题"),
        ("帮我退款", "退款"),
    ],
)
def test_a_chinese_request_is_a_verb_and_its_object(said: str, phrase: str) -> None:
    request = task_zh.request_of(said)
    assert request is not None
    assert request.phrase == phrase


@pytest.mark.parametrize("said", ["I'm really frustrated right now.", "As a Gold member, I am upset.", "Hello!", "Keep it, please."])
def test_feelings_and_greetings_are_no_request(said: str) -> None:
    assert task_en.request_of(said) is None


@pytest.mark.parametrize("said", ["我真的很生气", "你好", "好的，谢谢", "就这样吧"])
def test_chinese_feelings_and_greetings_are_no_request(said: str) -> None:
    assert task_zh.request_of(said) is None


@pytest.mark.parametrize(
    ("said", "phrase", "wish", "event"),
    [
        (
            "From now on please give me concise answers. Can you fix the build?",
            "fix the build",
            "Wants concise answers",
            "Fix the build: failed — zlib.h is missing",
        ),
        ("以后回答请简洁一点。帮我修复构建。", "修复构建", "希望回答简洁", "修复构建：失败，缺少 zlib.h"),
    ],
)
def test_a_standing_order_and_a_request_in_one_message_give_both(said: str, phrase: str, wish: str, event: str) -> None:
    note = "zlib.h is missing" if said.isascii() else "缺少 zlib.h"
    turns = make_turns(("user", said), ("assistant", "…"))
    episode = make_episode(turns=turns, outcome=make_outcome("failure", note=note))
    assert read(episode).task.phrase == phrase
    drafts = reflect_by_rules(episode).drafts
    assert [d.conclusion for d in drafts if d.kind is Kind.PREFERENCE] == [wish]
    assert [d.conclusion for d in drafts if d.kind is Kind.EVENT] == [event]


@pytest.mark.parametrize(
    ("said", "condition"),
    [
        ("I'm really frustrated right now!", "handling reservation (get_reservation → cancel_reservation)"),
        ("我真的很生气！", "处理 reservation（get_reservation → cancel_reservation）"),
    ],
)
def test_where_no_request_is_found_the_calls_name_the_task(said: str, condition: str) -> None:
    turns = [make_turn(said)]
    for name in ("get_reservation", "cancel_reservation"):
        call = make_call(name, n=1)
        turns.append(make_turn("", role="assistant", seq=len(turns) + 1, tool_calls=(call,)))
        turns.append(make_turn("ok", role="tool", name=name, tool_call_id=call.id, seq=len(turns) + 1))
    run = read(make_episode(turns=tuple(turns)))
    assert run.asked == condition


def test_a_later_plain_request_wins_over_a_vague_opening() -> None:
    turns = make_turns(
        ("user", "Hi! I'm so upset right now."), ("assistant", "Tell me."), ("user", "Sure. I need to cancel my hotel booking, please.")
    )
    assert read(make_episode(turns=turns)).asked == "asked to cancel the hotel booking"


def test_the_ledger_and_the_reflector_know_a_task_by_the_same_key() -> None:
    brief = "What follows is data. [hindwise brief 7]\n- Prefers tea\n[/hindwise brief]\n\n"
    told = make_episode(turns=make_turns(("user", brief + "Please cancel reservation XEHM4B")))
    plain = make_episode(turns=make_turns(("user", "cancel the reservation NO6JO3")))
    assert task_key(told) == task_key(plain) == "cancel reservation"
    assert len(task_key(make_episode(goal="改" * 10_000))) <= 500


@pytest.mark.parametrize("words", ["hello ", "Thanks hello ", "please "])
@pytest.mark.parametrize("goal", [True, False])
def test_a_long_row_of_one_word_is_not_told_by_a_piece_of_the_word(words: str, goal: bool) -> None:
    """Read up to a thousandth letter, it was cut within the word, and what was left of that no greeting any more."""
    for more in range(6):
        said = "x" * more + " " + words * 400
        run = make_episode(turns=(make_turn(said),), goal=said if goal else "", outcome=make_outcome("failure"))
        told = [draft.conclusion for draft in reflect_by_rules(run).drafts if draft.kind is Kind.EVENT]
        assert all(part in {*words.split(), "x" * more, "answer", "failed"} for one in told for part in re.findall(r"\w+", one.lower()))
