"""What a real model of 1.5 billion parameters answered: the form filled in with nothing is no loss, and what it made up is not kept."""

import json

import pytest

from hindwise.errors import AnswerUnusable
from hindwise.model.reflection import Answer
from hindwise.reflect.base import Known
from hindwise.reflect.judged import BESIDE, judge, own_share
from hindwise.reflect.llm.draft import drafts_of
from hindwise.reflect.llm.prompt import question
from hindwise.reflect.llm.schema import form_sketch, read_answer, wire_schema
from hindwise.reflect.rules import reflect_by_rules
from tests.build import make_draft, make_episode, make_evidence, make_turns
from tests.unit.reflect_llm.episodes import known_memory

SAID = {
    "en": {
        "talk": (("user", "Please export last week's report. From now on always send csv."), ("assistant", "Here is sales.csv.")),
        "lesson": "When a report is asked for, send csv, because it opens everywhere",
        "when": "a report is asked for",
        "quote": "always send csv",
        "false": "agent failed to export the report in the desired format",
        "order": "always send csv",
        "known": "The user likes tea",
    },
    "zh": {
        "talk": (("user", "请导出上周的报表。以后都用 csv 格式发给我。"), ("assistant", "这是 sales.csv。")),
        "lesson": "当要导出报表时，应使用 csv 格式，因为它到处都能打开",
        "when": "要导出报表",
        "quote": "以后都用 csv 格式发给我",
        "false": "导出报表失败，使用了不支持的格式",
        "order": "csv 格式",
        "known": "用户喜欢喝茶",
    },
}
LANGS = pytest.mark.parametrize("lang", ["en", "zh"])


def about(lang):
    return make_episode(turns=make_turns(*SAID[lang]["talk"]))


def drafts(lang, known=(), **answer):
    episode = about(lang)
    return drafts_of(read_answer(answer), episode, question(episode, Known(memories=tuple(known))))


def lesson(lang, **fields):
    own = {"turns": [1], "quote": SAID[lang]["quote"], "lesson_type": "strategy", "relation": "new", "known": 0}
    return own | {"conclusion": SAID[lang]["lesson"], "applies_when": SAID[lang]["when"], "importance": 6} | fields


def tea(lang):
    return known_memory(SAID[lang]["known"]).model_copy(update={"language": lang})


@LANGS
@pytest.mark.parametrize("number", [0, 1])
def test_agreeing_with_an_item_where_none_was_shown_is_left_out_because_nothing_can_be_lost(lang, number):
    assert len(drafts(lang, lessons=[lesson(lang)], agreed=[{"turns": [1], "quote": "", "known": number}])) == 1


@LANGS
def test_an_agreement_without_number_and_quote_is_left_out_and_one_with_a_quote_is_complained_about(lang):
    nothing, claim = ({"turns": [1], "quote": quote, "known": 0} for quote in ("", SAID[lang]["quote"]))
    assert len(drafts(lang, [tea(lang)], lessons=[lesson(lang)], agreed=[nothing])) == 1
    with pytest.raises(AnswerUnusable, match=r"agreed\[0\]\.known: 0"):
        drafts(lang, [tea(lang)], lessons=[lesson(lang)], agreed=[claim])


@LANGS
def test_what_relates_to_nothing_known_is_new(lang):
    (draft,) = drafts(lang, lessons=[lesson(lang, relation="refines", known=1)])
    assert not (draft.refines or draft.contradicts or draft.known_in)


def test_an_entry_in_which_every_text_is_empty_is_left_out_and_a_half_empty_one_is_complained_about():
    texts = {"conclusion": "", "applies_when": "", "not_when": " ", "why": "", "tools": [""], "topics": [""]}
    empty = {"turns": [1], "quote": "", "lesson_type": "strategy", "importance": 1} | texts
    item = {"turns": [1], "quote": "", "kind": "fact", "conclusion": "", "subject": "", "attribute": "", "value": "", "entities": [""]}
    form = read_answer({"lessons": [lesson("en"), empty], "items": [item]})
    assert (len(form.lessons), form.items) == (1, [])
    with pytest.raises(AnswerUnusable, match=r"lessons\[1\]\.conclusion"):
        read_answer({"lessons": [lesson("en"), empty | {"why": "it opens"}]})
    with pytest.raises(AnswerUnusable, match="nothing_because"):
        read_answer({"lessons": [empty], "items": [item]})


def test_empty_names_are_no_names():
    (draft,) = drafts("en", lessons=[lesson("en", tools=[""], topics=["", "csv"])])
    assert (draft.tools, draft.topics) == ((), ("csv",))


@LANGS
@pytest.mark.parametrize("kind", ["fact", "preference", "instruction", "todo"])
def test_a_statement_without_a_quote_is_refused_and_told_to_quote(lang, kind):
    episode = about(lang)
    draft = make_draft(SAID[lang]["lesson"], kind=kind, language=lang, evidence=(make_evidence(episode.id, "", seq=1, turn_id="t1"),))
    judged = judge(episode, Answer(drafts=(draft,)))
    assert [item.rule for _, item in judged.rejected] == ["quoted"]
    assert "`quote`" in judged.complaints[0].text and draft not in [kept for _, kept in judged.accepted]


def test_no_complaint_invites_to_leave_the_quote_out():
    for lang in ("en", "zh"):
        episode = about(lang)
        draft = make_draft(language=lang, evidence=(make_evidence(episode.id, "purple walrus", seq=1, turn_id="t1"),))
        text = judge(episode, Answer(drafts=(draft,))).complaints[0].text
        assert "leave it out" not in text and "不写" not in text


@LANGS
def test_what_happened_is_told_by_rules_and_never_in_a_models_words(lang):
    """The model's event is not even read: no quote of one turn shows how a task went."""
    episode = about(lang)
    told = drafts(lang, event=SAID[lang]["false"], lessons=[lesson(lang)])
    judged = judge(episode, Answer(drafts=told))
    (event,) = [draft for _, draft in judged.accepted if draft.kind == "event"]
    (by_rules,) = [draft for draft in reflect_by_rules(episode).drafts if draft.kind == "event"]
    assert event == by_rules and event.evidence[0].quote
    assert SAID[lang]["false"] not in str(judged)
    assert '"event"' not in form_sketch() and "event" not in wire_schema()["properties"]


@LANGS
def test_what_the_user_stated_is_kept_though_the_model_passes_it_over_and_once_where_it_does_not(lang):
    episode = about(lang)
    passed_over = judge(episode, Answer(drafts=drafts(lang, lessons=[lesson(lang)])))
    (order,) = [draft for _, draft in passed_over.accepted if draft.kind == "preference"]
    assert SAID[lang]["order"] in order.evidence[0].quote
    nothing = judge(episode, Answer(nothing_because="-"))
    assert order in [draft for _, draft in nothing.accepted] and not nothing.complaints
    own = make_draft(
        order.conclusion,
        kind="instruction",
        language=lang,
        attribute="file format",
        evidence=(make_evidence(episode.id, SAID[lang]["quote"], seq=1, turn_id="t1"),),
    )
    said = judge(episode, Answer(drafts=(own,)))
    assert [draft for _, draft in said.accepted if draft.kind != "event"] == [own]


@LANGS
def test_what_code_puts_beside_an_answer_is_no_success_of_the_models(lang):
    episode = about(lang)
    invented = make_draft(SAID[lang]["lesson"], kind="lesson", applies_when=SAID[lang]["when"], language=lang)
    judged = judge(episode, Answer(drafts=(invented,)))
    ordinals = [ordinal for ordinal, _ in judged.accepted]
    assert judged.complaints and ordinals and min(ordinals) >= BESIDE and own_share(ordinals) == 0
    by_rules = judge(episode, reflect_by_rules(episode))
    assert len(by_rules.accepted) == own_share([ordinal for ordinal, _ in by_rules.accepted]), "nothing twice where rules answered"


@LANGS
def test_where_nothing_is_known_nothing_is_asked_about_it(lang):
    asked = question(about(lang), Known())
    shown = question(about(lang), Known(memories=(tea(lang),)))
    for word in ('"agreed"', '"known"', "refines"):
        assert word not in asked.messages[0]["content"] and word in shown.messages[0]["content"]
    without, with_known = (json.dumps(wire_schema(with_known=known)) for known in (False, True))
    assert not any(f'"{word}"' in without for word in ("agreed", "known", "relation"))
    assert all(f'"{word}"' in with_known for word in ("agreed", "known", "relation"))


@LANGS
def test_the_form_shows_empty_lists_with_an_entry_beside_them(lang):
    system = question(about(lang), Known()).messages[0]["content"]
    assert '"lessons": [], "items": []' in system and 'lessons[i] = {"turns": [1]' in system and 'items[i] = {"turns": [1]' in system
    assert ("Empty lists are normal" if lang == "en" else "列表为空很正常") in system


@LANGS
def test_what_never_changes_stands_first(lang):
    """So that an endpoint which remembers how a prompt began reads the instructions once."""
    one = question(about(lang), Known())
    other = question(make_episode("another", turns=make_turns(*SAID[lang]["talk"][:1])), Known())
    systems = [asked.messages[0]["content"] for asked in (one, other)]
    same = next(place for place, (a, b) in enumerate(zip(*systems, strict=True)) if a != b)
    assert len(systems[0]) - same < 80, "only the marker and the day, at the end"
