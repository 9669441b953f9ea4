"""Plain statements become drafts with a slot; the same thing in other words meets in one slot."""

import json

import pytest

from hindwise.model.memory import Kind
from hindwise.reflect.rules.statements import classify_statement, statements_of
from hindwise.reflect.rules.tidy import clause
from hindwise.text.language import language_of
from tests.data import eval_data
from tests.looking import drafts_of_text


@pytest.mark.parametrize(
    ("first", "then", "attribute"),
    [
        ("I prefer window seats", "I changed my mind, aisle seats please", "seat"),
        ("I prefer concise answers.", "Actually, please give me detailed answers from now on.", "answer style"),
        ("我喜欢靠窗的座位。", "我改主意了，以后坐靠过道。", "seat"),
        ("我喜欢简洁的回答。", "以后请详细回答。", "answer style"),
        ("I live in Hamburg.", "I moved to Porto.", "residence"),
        ("我住在杭州。", "我搬到苏州了。", "residence"),
        ("I like hiking.", "I no longer like hiking.", "hiking"),
        ("我喜欢喝可乐。", "我不再喜欢可乐了。", "可乐"),
        ("Always reply in English.", "以后都用中文回复我。", "answer language"),
    ],
)
def test_a_changed_mind_meets_the_earlier_statement_in_its_slot(first: str, then: str, attribute: str) -> None:
    older, newer = classify_statement(first), classify_statement(then)
    assert (older.subject, older.attribute, older.scope) == (newer.subject, newer.attribute, newer.scope) == ("user", attribute, "")
    assert older.value != newer.value


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Always give me prices without VAT.", Kind.INSTRUCTION),
        ("以后连库一律用只读账号。", Kind.INSTRUCTION),
        ("别再给我推荐香菜了。", Kind.INSTRUCTION),
        ("I don't drink coffee any more.", Kind.PREFERENCE),
        ("I'm allergic to shellfish.", Kind.FACT),
        ("我对青霉素过敏。", Kind.FACT),
        ("Please remind me to renew the passport.", Kind.TODO),
        ("文档还没写完，下次再写。", Kind.TODO),
    ],
)
def test_kinds_are_told_apart(text: str, kind: Kind) -> None:
    drafts = drafts_of_text(text, language_of(text))
    assert [d.kind for d in drafts] == [kind]


@pytest.mark.parametrize(
    "text",
    [
        "If I were to move to Paris, which district would be cheapest?",
        "假设我有两个孩子，哪种车合适？",
        "Sure, and I'm the Queen of the Moon.",
        'A reviewer wrote: "I hate this phone, the battery is awful."',
        "小说里的主角说：“我最讨厌下雨天。”帮我翻译这句。",
        "What time is it in Tokyo right now?",
        "Thanks!",
        "Never mind.",
        "I would like to book a flight.",
        "I'd prefer not to be transferred.",
    ],
)
def test_suppositions_jokes_quotes_and_questions_state_nothing(text: str) -> None:
    assert drafts_of_text(text, language_of(text)) == ()


def test_a_scope_keeps_two_rules_apart() -> None:
    work, rest = classify_statement("On weekdays, I get up at 6."), classify_statement("On weekends, I get up at 9.")
    assert work.scope != rest.scope


def test_one_sentence_can_set_two_attributes() -> None:
    drafts = drafts_of_text("以后都用表格给我汇报，回答简洁一点。", "zh")
    assert [(d.attribute, d.value) for d in drafts] == [("file format", "表格"), ("answer style", "简洁")]


def test_a_bare_note_never_meets_another_one() -> None:
    notes = [
        classify_statement(t) for t in ("Sally has a red car", "Bob has a blue car", "部署失败是因为证书过期", "I like tea. I hate rain.")
    ]
    assert len({n.attribute for n in notes}) == 4
    assert notes[0] == classify_statement("Sally has a red car")


def test_a_blank_note_is_refused_with_a_hint() -> None:
    with pytest.raises(ValueError, match="empty"):
        classify_statement("  ")


def test_a_memory_speaks_about_the_user() -> None:
    assert clause("I prefer my coffee black.", "en") == "Prefers their coffee black"
    assert clause("我喜欢喝可乐。", "zh") == "喜欢喝可乐"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("From now on please give me concise answers.", "Wants concise answers"),
        ("以后回答请简洁一点。", "希望回答简洁"),
        ("I prefer aisle seats because of my back problem.", "Prefers aisle seats (back problem)"),
        ("我改主意了，以后坐靠过道的，因为我腰不好。", "喜欢靠过道的座位（腰不好）"),
        ("I changed my mind: from now on please book aisle seats, my back needs it.", "Prefers aisle seats (their back needs it)"),
        ("我喜欢靠窗的座位。", "喜欢靠窗的座位"),
        ("Actually, always reply in English.", "Wants answers in English"),
        ("以后都用中文回复我。", "希望用中文回答"),
        ("We moved to Porto last autumn and I work from home on Mondays.", "Moved to Porto last autumn and works from home on Mondays"),
        ("对，另外我从今年起住在苏州。", "从今年起住在苏州"),
        ("I prefer aisle seats, never the middle one.", "Prefers aisle seats, never the middle one"),
        ("别再给我推荐香菜了，我受不了那个味道。", "别再推荐香菜了，受不了那个味道"),
        ("Always give me prices without VAT, please.", "Always wants prices without VAT"),
        ("不对，金额一律保留两位小数，下次也这样。", "金额一律保留两位小数"),
        ("My daughter is called Mia.", "The user's daughter is called Mia"),
        ("我们团队一共五个人。", "用户的团队一共五个人"),
    ],
)
def test_a_statement_is_told_in_one_tidy_line(said: str, told: str) -> None:
    (draft,) = drafts_of_text(said, language_of(said))
    assert draft.conclusion == told


def test_for_my_flights_narrows_a_payment_but_not_a_seat() -> None:
    assert [d.scope for d in drafts_of_text("From now on use the company card for my flights.", "en")] == ["flights"]
    assert [d.scope for d in drafts_of_text("For all my flights please book a window seat from now on.", "en")] == [""]


def test_an_exception_is_kept_apart() -> None:
    (en,) = drafts_of_text("Always pay with the company card unless the trip is private.", "en")
    (zh,) = drafts_of_text("以后请不要打电话给我，除非情况紧急。", "zh")
    assert en.not_when == "the trip is private"
    assert zh.not_when == "情况紧急"


@pytest.mark.eval_data
def test_statements_worth_keeping_are_found_and_others_are_not() -> None:
    rows = [json.loads(line) for line in eval_data("gating_dev.jsonl").read_text(encoding="utf-8").splitlines()]
    rows = [r for r in rows if r["role"] == "user" and r["kind"] != "task_status"]
    for lang in ("en", "zh"):
        own = [r for r in rows if r["lang"] == lang]
        said = [bool(drafts_of_text(r["text"], lang)) for r in own]
        hits = sum(s and r["expected"]["keep"] for s, r in zip(said, own, strict=True))
        f1 = 2 * hits / (sum(said) + sum(r["expected"]["keep"] for r in own))
        assert f1 >= 0.92, lang


@pytest.mark.eval_data
def test_statements_about_different_things_seldom_share_a_slot() -> None:
    rows = [json.loads(line) for line in eval_data("conflicts_dev.jsonl").read_text(encoding="utf-8").splitlines()]
    apart = [r for r in rows if not r["expected"]["slot_same"]]
    wrong = [r["id"] for r in apart if classify_statement(r["older"]["text"]).attribute == classify_statement(r["newer"]["text"]).attribute]
    assert len(wrong) <= 1, wrong


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("帮我订一家上海的酒店，两晚，我对海鲜过敏，以后房间都要高楼层。", ["我对海鲜过敏", "以后房间都要高楼层。"]),
        ("Please book a hotel in Rome, I am allergic to peanuts; from now on always pick a high floor.", 2),
    ],
)
def test_what_is_asked_today_is_no_standing_wish(said: str, told: object) -> None:
    found = [statement.sentence for statement in statements_of(said)]
    assert found == told if isinstance(told, list) else len(found) == told
    assert not any("酒店" in sentence or "hotel" in sentence for sentence in found)
