"""The same thing said in other words, English and Chinese side by side: refusals, hand-overs, corrections, rules, errors, open ends."""

import re

import pytest

from hindwise.model.memory import Kind
from hindwise.reflect import cues
from hindwise.reflect.rules import reflect_by_rules
from hindwise.reflect.rules.slots import slot_of
from hindwise.reflect.rules.statements import kind_of, statements_of
from hindwise.reflect.rules.task import requests_in
from hindwise.reflect.rules.task_zh import request_of
from hindwise.reflect.rules.tidy import one_liner
from hindwise.reflect.transcript import Language, error_of, is_nothing
from tests.build import make_episode, make_outcome, make_turns


def _drafts(*said: str) -> list[tuple[Kind, str]]:
    """What is learned from words that user and assistant say in turn, in a task that was done in part."""
    turns = make_turns(*(("assistant" if place % 2 else "user", words) for place, words in enumerate(said)))
    episode = make_episode(turns=turns, outcome=make_outcome("partial", "user"))
    return [(draft.kind, draft.conclusion) for draft in reflect_by_rules(episode).drafts]


@pytest.mark.parametrize(
    ("cue", "en", "zh"),
    [
        (cues.REFUSED, "I'm not authorised to reopen a closed case.", "我无权重新打开已关闭的工单。"),
        (cues.REFUSED, "We don't offer that for rentals.", "租车不提供这项服务。"),
        (cues.REFUSED, "There's nothing I can do about the deposit.", "押金的事我无能为力。"),
        (cues.REFUSED, "Our system won't let me do that.", "系统不让改。"),
        (cues.HAND_OVER, "A colleague of mine will take it from here.", "后面由我同事接手。"),
        (cues.HAND_OVER, "I've opened a ticket for second-level support.", "我已经提交给二线支持处理。"),
        (cues.HAND_OVER, "I'm forwarding your case to the claims team.", "您的案子我转交理赔组了。"),
        (cues.CORRECTION, "Other way round: first the invoice, then the letter.", "反了，先发发票再发信。"),
        (cues.CORRECTION, "Hold on, that's the old price.", "等一下，那是旧价格。"),
        (cues.CORRECTION, "You mixed up the two addresses.", "你把两个地址弄混了。"),
        (cues.FORGOTTEN, "You still haven't refunded the deposit.", "你还没退押金。"),
        (cues.CORRECTION, "That's outdated. Ask the new office.", "这个过时了，问新的办公室。"),
        (cues.FORGOTTEN, "You never sent me the confirmation.", "确认函一直没发给我。"),
    ],
)
def test_a_cue_is_read_in_both_languages(cue: re.Pattern[str], en: str, zh: str) -> None:
    assert cue.search(en)
    assert cue.search(zh)


@pytest.mark.parametrize(
    ("cue", "text"),
    [
        (cues.HAND_OVER, "I forwarded it to your e-mail address."),
        (cues.HAND_OVER, "我已经把文件转成了表格。"),
        (cues.CORRECTION, "You got it, thanks."),
        (cues.FORGOTTEN, "第二块盘还没备份，下周再弄吧。"),
        (cues.HAND_OVER_CALL, "upgrade_seat"),
        (cues.HAND_OVER_CALL, "升级座位"),
    ],
)
def test_what_only_looks_like_a_cue_is_none(cue: re.Pattern[str], text: str) -> None:
    assert not cue.search(text)


@pytest.mark.parametrize(
    ("kind", "en", "zh"),
    [
        (Kind.INSTRUCTION, "Every report needs a summary on top.", "每份报告开头都得有摘要。"),
        (Kind.INSTRUCTION, "Keep replies to customers under five lines.", "给客户的回复控制在五行以内。"),
        (Kind.INSTRUCTION, "It's our rule to get two quotes for anything above 500.", "我们的规矩是超过500的要有两份报价。"),
        (Kind.INSTRUCTION, "Make it a habit to add the order number to the subject.", "主题里养成加订单号的习惯。"),
        (Kind.INSTRUCTION, "Whenever a flight is cancelled, call me first.", "航班一旦取消，先给我打电话。"),
        (Kind.PREFERENCE, "Mornings work best for me.", "我上午比较方便。"),
        (Kind.FACT, "We have an office in Lyon.", "我们在里昂有办公室。"),
        (Kind.FACT, "Our accountant is called Brill.", "我们的会计叫布里尔。"),
        (Kind.INSTRUCTION, "Sign my mails with kind regards, always.", "我的邮件落款都写此致敬礼。"),
        (Kind.PREFERENCE, "I don't do sports in the morning.", "我早上不运动的。"),
        (Kind.FACT, "We're vegetarians at home.", "我们家都吃素。"),
        (Kind.FACT, "I work night shifts.", "我上夜班。"),
        (Kind.FACT, "My son starts school in September.", "我儿子九月上学。"),
        (Kind.TODO, "The blue folder hasn't been scanned yet.", "蓝色文件夹还没扫描。"),
    ],
)
def test_a_statement_is_read_in_both_languages(kind: Kind, en: str, zh: str) -> None:
    assert kind_of(en) == kind_of(zh) == kind


@pytest.mark.parametrize(
    "text",
    [
        "I need every passenger moved to the later flight.",
        "Change every leg of this trip, please.",
        "两个行程都要用礼品卡付款。",
        "把这三份都加上签名。",
        "总价控制在500以内。",
        "我女儿上次订的那家酒店还有房吗？",
        "请更新我的地址，并重置我的密码。",
        "Yes, it is open.",
        "我下午不在，请改到晚上。",
    ],
)
def test_what_is_wanted_today_is_no_rule(text: str) -> None:
    assert kind_of(text) is None


@pytest.mark.parametrize(
    ("en", "zh"),
    [
        ("Permission denied for folder /srv", "没有访问该文件夹的权限"),
        ("Connection refused", "连接被拒绝"),
        ("Could not resolve host", "无法解析主机"),
        ("Quota exceeded", "配额已用完"),
        ("Unknown parameter 'lang'", "未知参数 lang"),
        ("401 not logged in", "401 未登录"),
        ("Rendering failed: the page is too large", "渲染失败：页面过大"),
        ('{"ok": false, "message": "sold out"}', '{"ok": false, "message": "已售完"}'),
        ("The request timed out", "等待30秒后超时"),
        ("Room already booked", "会议室已被预订"),
    ],
)
def test_a_short_answer_that_names_a_failure_is_an_error(en: str, zh: str) -> None:
    assert error_of(en)
    assert error_of(zh)


@pytest.mark.parametrize(
    "text", ["404 rows copied", "500 items in stock", "Opened room 4", "已预订四号会议室", "The office is open until six."]
)
def test_a_short_answer_that_names_none_is_no_error(text: str) -> None:
    assert error_of(text) == ""


@pytest.mark.parametrize(("en", "zh"), [("nothing matched", "未找到符合条件的酒店"), ("empty", "结果为空"), ("No entries.", "查无此人")])
def test_an_answer_that_found_nothing_is_seen(en: str, zh: str) -> None:
    assert is_nothing(en)
    assert is_nothing(zh)


@pytest.mark.parametrize("text", ["没有问题", "无需处理", "nothing changed"])
def test_that_all_is_well_is_not_nothing_found(text: str) -> None:
    assert not is_nothing(text)


@pytest.mark.parametrize(
    ("en", "zh"),
    [
        ("Please stop using emojis when you answer customers.", "回复客户的时候别再用表情符号了。"),
        ("I prefer an aisle seat if the flight is long.", "如果航班很长，我喜欢靠过道的座位。"),
    ],
)
def test_a_fixed_sentence_never_drops_the_condition(en: str, zh: str) -> None:
    assert re.search("customers|long", one_liner(en, "en", slot_of(en)))
    assert re.search("客户|很长", one_liner(zh, "zh", slot_of(zh)))


def test_how_far_a_rule_holds_is_no_rule_of_its_own() -> None:
    (statement,) = statements_of("File names should begin with the date, every time.")
    assert statement.sentence.startswith("File names")


@pytest.mark.parametrize("text", ["The second disk is still missing. Let's do that next week.", "第二块盘还没备份。下周再弄吧。"])
def test_an_open_end_that_points_back_is_told_once(text: str) -> None:
    assert [statement.kind for statement in statements_of(text)] == [Kind.TODO]


@pytest.mark.parametrize(
    ("language", "text", "phrases"),
    [
        ("en", "Pay the piano tuner and send me the receipt.", ["pay the piano tuner", "send the receipt"]),
        ("zh", "把调琴师的钱付了，再把收据发给我。", ["付调琴师的钱", "发收据"]),
        ("en", "Please book a table for six.", ["book a table for six"]),
        ("zh", "请更新我的地址，并重置我的密码。", ["更新地址", "重置密码"]),
        ("zh", "发票上的税号错了。", []),
    ],
)
def test_every_request_of_a_sentence_is_read(language: Language, text: str, phrases: list[str]) -> None:
    assert [request.phrase for _, request in requests_in(text, (), language)] == phrases


def test_a_described_thing_is_read_as_the_object() -> None:
    request = request_of("能把一起订的花瓶取消掉吗？")
    assert request and request.phrase == "取消花瓶"


@pytest.mark.parametrize(
    ("said", "word"),
    [
        (("Cancel the newspaper and send me the receipt.", "Cancelled.", "You forgot to send me the receipt."), "receipt"),
        (("把报纸退了，再把收据发给我。", "退好了。", "你忘了把收据发给我。"), "收据"),
        (("Could you cancel the vase too?", "That is not something I can do.", "Pity."), "vase"),
        (("能把一起订的花瓶取消掉吗？", "这个我们不提供。", "可惜了。"), "花瓶"),
        (("Please delete my old account.", "Your account exists.", "I know. You didn't delete it."), "account"),
        (("请注销我的旧账户。", "您的账户存在。", "我知道，可你没注销。"), "账户"),
        (("Send the plan and cancel the tour.", "The plan is sent, but I can't cancel tours.", "Hm."), "tour"),
        (("把图纸发一下，再取消行程。", "图纸发了，行程取消不了。", "唉。"), "行程"),
    ],
)
def test_what_was_asked_for_and_not_done_stays_open(said: tuple[str, ...], word: str) -> None:
    assert any(kind is Kind.TODO and word in told for kind, told in _drafts(*said))
