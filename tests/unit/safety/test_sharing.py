"""A lesson that others read names nobody: neither who was introduced nor who only stands in free words. English and Chinese."""

import json

import pytest

from hindwise.model.episode import Episode
from hindwise.model.memory import Draft
from hindwise.reflect.base import Known
from hindwise.reflect.rules import reflect_by_rules
from hindwise.safety.identities import identities
from hindwise.safety.personal import personal_data
from hindwise.safety.sharing import shared_form, without_people
from tests.build import make_call, make_draft, make_episode, make_evidence, make_outcome, make_turn


def _episode(
    said: str, note: str = "", *, call: str = "update_booking", comment: str = "", result: str = "ok", status: str = "failure"
) -> Episode:
    turns = (
        make_turn(said),
        make_turn("", role="assistant", seq=2, tool_calls=(make_call(call, comment=comment),)),
        make_turn(result, role="tool", name=call, seq=3),
    )
    return make_episode(turns=turns, outcome=make_outcome("failure", note=note, source="user"))


def _told(episode: Episode) -> tuple[str, list[Draft]]:
    lessons = [shared_form(draft, episode) for draft in reflect_by_rules(episode, Known()).drafts if draft.kind == "lesson"]
    return json.dumps([draft.model_dump(mode="json", exclude={"evidence"}) for draft in lessons], ensure_ascii=False).lower(), lessons


@pytest.mark.parametrize(
    ("episode", "hidden"),
    [
        (
            _episode("Please change the booking", "Mbekizwe Tshabalalax should confirm", comment="Mbekizwe Tshabalalax should confirm it"),
            ("mbekizwe", "tshabalalax"),
        ),
        (
            _episode(
                "hi, i am hugo zzyxwv and i want to cancel my booking", "hugo zzyxwv has leukemia. He cannot travel. No refund was booked"
            ),
            ("hugo", "zzyxwv", "leukemia", "travel"),
        ),
        (_episode("Book a seat for Aunt Philomenazz", "Philomenazz waits for the seat", comment="Philomenazz waits"), ("philomenazz",)),
        (_episode("this is bertilda quaxx speaking, cancel my order", "bertilda's pacemaker is why"), ("bertilda", "quaxx", "pacemaker")),
        (_episode("帮小明妈妈预订去上海的机票", "小明妈妈得了糖尿病。缺少护照号", call="预订机票"), ("小明", "糖尿病")),
        (_episode("请帮王晓梅的爸爸退票", "王晓梅不同意，她住院了", call="退票"), ("王晓梅", "住院")),
        (_episode("请退票", "欧阳梓涵还没确认", call="退票"), ("欧阳", "梓涵")),
        (_episode("替老周老师和阿强退票", "阿强说过不退", call="退票"), ("老周", "阿强")),
        (_episode("please call QUAXX BRINDLE about it", "QUAXX BRINDLE did not answer"), ("quaxx", "brindle")),
        (_episode("please book for my daughter annika", "annika is allergic to nuts"), ("annika", "allergic")),
        (_episode("我妈李秀英想退票", "李秀英有高血压", call="退票"), ("李秀英", "高血压")),
        (_episode("Close the ticket", "error", result="Error: ticket is held by Quillonda Brax", call="close"), ("quillonda", "brax")),
    ],
)
def test_nobody_who_stands_in_free_words_stands_in_a_shared_lesson(episode: Episode, hidden: tuple[str, ...]) -> None:
    text, lessons = _told(episode)
    assert lessons
    assert [word for word in hidden if word in text] == []


def test_what_a_note_says_besides_stays() -> None:
    """The sentence about the person goes; the cause that names nobody is what the lesson is about."""
    text, _ = _told(_episode("hi, i am hugo zzyxwv, cancel my booking", "hugo zzyxwv is ill. The refund was not booked"))
    assert "the refund was not booked" in text
    text, _ = _told(_episode("帮小明妈妈预订去上海的机票", "小明妈妈得了糖尿病。缺少护照号", call="预订机票"))
    assert "缺少护照号" in text
    assert "上海" in text


@pytest.mark.parametrize(
    "told",
    [
        "When asked to book a flight from New York to Seattle on Monday, call get_flights first, because GitHub and AWS were away.",
        "When asked to convert a file, check that the PDF is readable, because ImportError came from Python.",
        'When update_order fails with "Insufficient balance", change payment_id to gift_card, because the call then worked.',
        "当需要预订去上海的机票时，应先调用 search_flights，因为缺少护照号会失败。",
    ],
)
def test_ordinary_words_places_and_tools_stay(told: str) -> None:
    episode = _episode("Please book a flight", call="get_flights")
    draft = make_draft(told, kind="lesson", applies_when="asked to book a flight", evidence=(make_evidence("e1", "Please book"),))
    assert shared_form(draft, episode) == draft


def test_a_word_in_capitals_that_was_also_said_small_is_no_name() -> None:
    episode = _episode("the zorblatt is broken, please restart it")
    draft = make_draft("When it is broken, restart the Zorblatt, then ask Quaxx.", kind="lesson")
    assert shared_form(draft, episode).conclusion == "When it is broken, restart the Zorblatt, then ask someone."


def test_someone_stands_for_whom_nobody_knows_and_a_key_is_left_without() -> None:
    episode = _episode("please ask Quaxx about the seats")
    draft = make_draft("When asked about seats, ask Quaxx first.", kind="lesson", generalized_query="ask quaxx about seats")
    shared = shared_form(draft, episode)
    assert (shared.conclusion, shared.generalized_query) == ("When asked about seats, ask someone first.", "ask about seats")
    assert len(shared_form(make_draft("a " * 76 + "by Li.", kind="lesson"), episode).conclusion) <= 160


def test_sentences_about_somebody_go_whole_and_so_do_those_that_go_on() -> None:
    episode = _episode("i am hugo zzyxwv")
    assert without_people("hugo is ill. She waits. The card expired.", episode) == "The card expired."
    assert without_people("The card expired. She waits.", episode) == "The card expired. She waits."
    assert without_people("", episode) == ""


@pytest.mark.parametrize(
    ("said", "shared"),
    [
        ("Tell Aunt Philomenazz about it", "philomenazz waits"),
        ("Ask Dr. Ottoline Vexx", "Vexx must sign"),
        ("i am hugo zzyxwv and i want a refund", "ask zzyxwv"),
        ("hello, i'm zzyxwv, please help", "Zzyxwv"),
        ("this is bertilda quaxx speaking", "quaxx"),
        ("My name is hugo zzyxwv.", "hugo"),
        ("帮小明妈妈订票", "小明"),
        ("请联系小丽", "小丽"),
        ("我朋友王芳想改签", "王芳"),
        ("帮老周订一张票", "老周"),
        ("把票给阿强的妈妈", "阿强"),
        ("请问李雷老师在吗", "李雷"),
        ("帮张静怡先生改签", "张静怡"),
    ],
)
def test_every_part_of_a_name_that_is_told_in_passing_is_known(said: str, shared: str) -> None:
    assert personal_data(shared, names=identities(_episode(said)))


@pytest.mark.parametrize(
    "said",
    [
        "i am very sorry, but i am not sure. i'm late and i am having trouble",
        "i am a gold member and i'm unhappy with this. this is urgent, this is ridiculous",
        "my husband needs a seat and my daughter recently went home, my friend can pay. i am fine with economy. i am flying to boston",
        "帮我把小程序的文件给客户，小时数和老师的金额都要核对，老板说方案需要修改",
        "请帮高级会员退票，小费没有退，余额没有变，文件已经发了，白名单没有更新",
    ],
)
def test_ordinary_speech_introduces_nobody(said: str) -> None:
    assert identities(_episode(said)) == {"u1"}


def test_a_name_in_a_headline_stands_in_no_key_in_small_letters() -> None:
    goal = "Submit Expense Report For Quaxx Brindle"
    episode = make_episode(goal=goal, turns=(make_turn("go"),), outcome=make_outcome("failure", note="the budget is used up"))
    text, _ = _told(episode)
    assert "quaxx" not in text
    assert "brindle" not in text
    assert "expense report" in text


def test_who_stands_under_a_key_of_work_is_known_and_a_team_is_not() -> None:
    called = make_call("close", approver="quillonda brax", owner="Finance Team", reviewer="legal", 审批人="张静怡")
    names = identities(make_episode(turns=(make_turn("", role="assistant", tool_calls=(called,)),), user_id="user-1"))
    assert names == {"user-1", "Quillonda Brax", "张静怡"}
