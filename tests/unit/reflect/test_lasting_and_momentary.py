"""What holds from now on is kept, how things stand at the moment is not: told in many words, English and Chinese."""

import pytest

from hindwise.model.memory import Kind
from hindwise.reflect.rules.slots import slot_of
from hindwise.reflect.rules.statements import classify_statement, statements_of
from hindwise.resolve.slots import slot_key
from tests.unit.reflect.runs_of_words import drafts_of

LASTING = [
    "凡是超过一千块的单子，先问我。",
    "代码里的注释用英文写。",
    "时间用24小时制。",
    "每周一上午给我一份汇总。",
    "没有我点头不要发出去。",
    "拿不准的地方直接问我，不要猜。",
    "涉及价格的内容不要自动发。",
    "这类投诉统一转给售后组。",
    "联系客户只用企业微信，不打电话。",
    "图片上线前都要先压到500KB以内。",
    "下回动数据库之前先在群里说一声。",
    "会议纪要里不要出现薪资内容，这是规定。",
    "排班表里记得写上每个人的分机号，长期都这样。",
    "发给客户的东西不能带内部编号。",
    "上线只能在周二和周四。",
    "回答直接给结论就行。",
    "给张总的邮件落款用中文名。",
]
WISHES = ["我坐高铁只订二等座。", "我这边的习惯是数量在前，单价在后。", "这个字段我们从来都填部门代码。", "我要的一直是Word。"]
FACTS = [
    "I am a vegetarian.",
    "我现在改在合肥的分部上班了。",
    "我妈妈住在北京。",
    "我家有两只猫。",
    "我女儿在上海读书。",
    "我们的客户都在欧洲。",
    "我们团队一共五个人。",
    "我们公司的财务年度是七月起算，上次你算错了。",
]
MOMENTARY = [
    "My daughter is waiting downstairs.",
    "My phone is broken, please call the office.",
    "我们公司的账户被锁了。",
    "我住在305房间，空调坏了。",
    "我的地址是对的，是你们送错了。",
    "我孩子在发烧，挂哪个科？",
    "我妈在机场等了两个小时了。",
    "我是会员，为什么不能打折？",
    "我们团队今天有三个人请假。",
    "我叫了外卖，地址写错了。",
    "我老公在楼下等着，快一点。",
    "我们公司现在停电了。",
    "我们仓库在等这批货。",
    "那部分剩下的余额退给我。",
]


@pytest.mark.parametrize("said", LASTING)
def test_an_order_that_holds_from_now_on_is_read_without_the_usual_words(said: str) -> None:
    """Neither 以后 nor 一律 stands in most of them."""
    assert [each.kind for each in statements_of(said)] == [Kind.INSTRUCTION]


@pytest.mark.parametrize(("said", "kind"), [*((said, Kind.PREFERENCE) for said in WISHES), *((said, Kind.FACT) for said in FACTS)])
def test_what_is_usual_or_true_of_somebody_is_read(said: str, kind: Kind) -> None:
    """A habit is a preference, what is so is a fact."""
    assert [each.kind for each in statements_of(said)] == [kind]


@pytest.mark.parametrize("said", MOMENTARY)
def test_how_things_stand_while_somebody_asks_for_help_is_no_memory(said: str) -> None:
    """It is over tomorrow."""
    assert list(statements_of(said)) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("我妈妈住在北京。", "我住在柏林。"),
        ("My wife is a vegetarian.", "I am a vegetarian."),
        ("我妈对百合过敏。", "我对百合过敏。"),
        ("My son is allergic to nuts.", "I am allergic to nuts."),
        ("我们公司的财年从七月开始。", "我们公司的仓库在嘉兴。"),
        ("落款用英文名。", "以后用英文回复我。"),
    ],
)
def test_two_things_have_two_slots(one: str, other: str) -> None:
    """What is told of one closes nothing of the other."""
    assert slot_of(one).attribute != slot_of(other).attribute
    assert slot_key(classify_statement(one)) != slot_key(classify_statement(other))


def test_a_refusal_told_by_a_complement_names_the_request_that_it_is_about() -> None:
    """「这边开不出来」 refuses; the sentence before its clause says what."""
    turns = [
        ("user", "能不能把我下周二的体检挪到周三，再开一张停车证明？"),
        ("call", "move_checkup"),
        ("assistant", "体检已挪到周三。停车证明要到前台办理，这边开不出来。"),
    ]
    assert any("停车证明" in draft.conclusion and draft.kind is Kind.LESSON for draft in drafts_of(turns))


@pytest.mark.parametrize(
    ("asked", "task"), [("我想把报销单里的酒店发票换成新的那张。", "酒店发票"), ("顺便把窗帘也关上，这边没法控制就算了。", "窗帘")]
)
def test_the_verb_behind_ba_is_found(asked: str, task: str) -> None:
    """Not the 发 of 发票, and also a short one that says what comes of it."""
    drafts = drafts_of([("user", asked), ("assistant", f"{task}我这边没法处理。")])
    assert any(task in draft.conclusion and "发酒店" not in draft.conclusion for draft in drafts)
