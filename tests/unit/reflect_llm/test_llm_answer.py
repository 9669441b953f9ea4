"""From a model's words to drafts: forgiving where nothing is lost, strict where something would be."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindwise.errors import AnswerUnusable
from hindwise.model.memory import Kind
from hindwise.model.turn import Origin
from hindwise.reflect.base import Known
from hindwise.reflect.llm.draft import drafts_of
from hindwise.reflect.llm.json_object import parse_object
from hindwise.reflect.llm.prompt import question
from hindwise.reflect.llm.schema import read_answer, wire_schema
from hindwise.testing import ScriptedModel
from tests.unit.reflect_llm.episodes import EN, episode, known_memory

LESSON = {
    "conclusion": "When a booking is to be cancelled, confirm first, because the tool refuses otherwise",
    "lesson_type": "pitfall",
    "turns": [3],
    "quote": "needs a confirmation first",
    "why": "no confirmation was asked for",
}
ITEM = {
    "kind": "instruction",
    "conclusion": "The user wants short sentences",
    "subject": "user",
    "attribute": "answer length",
    "value": "short",
    "turns": [1],
    "quote": "from now on always answer in short sentences",
}


def _drafts(said=EN, known=(), **answer):
    about = episode(*said)
    return drafts_of(read_answer(answer), about, question(about, Known(memories=known)))


def test_a_lesson_carries_its_turn_its_quote_and_why():
    (draft,) = _drafts(lessons=[LESSON], retrospective={"goal": "cancel a booking", "next_time": "confirm"}, generalized_query="cancel")
    assert (draft.kind, draft.lesson_type, draft.origin, draft.generalized_query) == (Kind.LESSON, "pitfall", Origin.TOOL, "cancel")
    assert (draft.evidence[0].seq, draft.evidence[0].turn_id, draft.evidence[0].quote) == (13, "t-13", "needs a confirmation first")
    assert draft.retrospective.what_failed_and_why == "no confirmation was asked for" and draft.retrospective.goal == "cancel a booking"


def test_an_item_carries_its_slot_and_the_origin_of_its_words():
    (draft,) = _drafts(items=[ITEM | {"since": "2026-02-01"}])
    assert (draft.kind, draft.subject, draft.attribute, draft.value) == (Kind.INSTRUCTION, "user", "answer length", "short")
    assert (draft.origin, draft.trust, draft.valid_from) == (Origin.USER, 1.0, datetime(2026, 2, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("said", "conclusion", "named", "attribute", "value"),
    [
        ("I want an aisle seat", "The user wants an aisle seat", "seating", "seat", "aisle"),
        ("以后都坐靠窗的座位", "用户以后都坐靠窗的座位", "座位偏好", "seat", "靠窗"),
        ("I moved to Berlin and I want an aisle seat", "The user's new home is Berlin", "home", "home", "Berlin"),
        ("my cat is called Miso", "The user's cat is called Miso", "cat name", "cat name", "Miso"),
    ],
)
def test_an_item_meets_in_one_slot_what_rules_found_and_never_another_ones(said, conclusion, named, attribute, value):
    item = {"kind": "preference", "conclusion": conclusion, "subject": "The user", "attribute": named, "turns": [1], "quote": said}
    (draft,) = _drafts(said=(("user", said),), items=[item | {"value": value}])
    assert (draft.subject, draft.attribute, draft.value) == ("user", attribute, value)


def test_the_slot_of_another_thing_is_the_models():
    (draft,) = _drafts(items=[ITEM | {"kind": "fact", "subject": "staging server", "attribute": "room"}])
    assert (draft.subject, draft.attribute) == ("staging server", "room")


def test_the_origin_comes_from_the_turn_and_never_from_the_model():
    (draft,) = _drafts(items=[ITEM | {"turns": [3], "origin": "user", "trust": 1.0}])
    assert draft.origin is Origin.TOOL and draft.trust < 1


def test_a_quote_goes_to_the_turn_that_holds_it():
    (draft,) = _drafts(lessons=[LESSON | {"turns": [2, 3]}])
    assert [(one.seq, bool(one.quote)) for one in draft.evidence] == [(13, True), (12, False)]


def test_agreeing_brings_evidence_and_no_new_words():
    known = known_memory("When a booking is to be cancelled, confirm first", id="m-7")
    (draft,) = _drafts(known=(known,), agreed=[{"known": 1, "turns": [3], "quote": "needs a confirmation first"}])
    assert (draft.agrees_with, draft.conclusion, draft.evidence[0].seq) == ("m-7", known.conclusion, 13)


def test_never_true_becomes_a_retraction_and_a_todo_stays_open():
    drafts = _drafts(items=[ITEM | {"kind": "fact", "never_true": True}, ITEM | {"kind": "todo"}])
    assert drafts[0].retracts and not drafts[1].retracts and drafts[1].retrospective.still_open


def test_harmless_slips_are_forgiven():
    slips = {"lesson_type": "Optimization", "not_when": None, "tools": "cancel_booking", "turns": 3, "importance": "7", "extra": 1}
    (draft,) = _drafts(lessons=[LESSON | slips], items=None)
    assert (draft.lesson_type, draft.not_when, draft.tools, draft.importance) == ("optimisation", "", ("cancel_booking",), 7)


@pytest.mark.parametrize(
    ("lesson_type", "kind", "read"),
    [
        ("Fix", "Standing order", ("recovery", "instruction")),
        ("教训", "偏好", ("pitfall", "preference")),
        ("tip", "to-do", ("strategy", "todo")),
    ],
)
def test_names_that_are_near_to_ours_are_read_as_ours(lesson_type, kind, read):
    lesson, item = _drafts(lessons=[LESSON | {"lesson_type": lesson_type}], items=[ITEM | {"kind": kind}])
    assert (lesson.lesson_type, item.kind) == read


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        ({"lessons": [LESSON | {"turns": [99]}]}, r"lessons\[0\]\.turns: 99"),
        ({"lessons": [LESSON | {"turns": []}]}, r"lessons\[0\]\.turns"),
        ({"lessons": [LESSON, LESSON | {"conclusion": "x" * 161}]}, r"lessons\[1\]\.conclusion.*160"),
        ({"lessons": [LESSON] * 4}, "lessons.*at most 3"),
        ({"items": [ITEM] * 9}, "items.*at most 8"),
        ({"items": [ITEM | {"kind": "rumour"}]}, r"items\[0\]\.kind"),
        ({"items": [ITEM | {"since": "last Tuesday"}]}, r"items\[0\]\.since.*YYYY-MM-DD"),
        ({"items": [ITEM | {"importance": 11}]}, r"items\[0\]\.importance"),
        ({"agreed": [{"known": 5, "turns": [1], "quote": "Please cancel"}]}, r"agreed\[0\]\.known: 5"),
        ({"agreed": [{"known": 0, "turns": [1], "quote": ""}]}, "nothing_because"),
        ({"result": {"lessons": [LESSON]}}, "nothing_because"),
        ({"event": "something happened"}, "nothing_because"),
    ],
)
def test_one_bad_item_makes_the_answer_unusable_and_is_named(answer, names):
    with pytest.raises(AnswerUnusable, match=names):
        _drafts(**answer)


def test_what_no_database_keeps_is_left_out_of_words():
    (draft,) = _drafts(**parse_object(json.dumps({"lessons": [LESSON | {"why": "a\x00b", "applies_when": "c\ud800d"}]})))
    assert draft.retrospective.what_failed_and_why == "ab" and draft.applies_when == "cd"


def test_a_complaint_never_repeats_the_words_it_complains_about():
    with pytest.raises(AnswerUnusable) as caught:
        _drafts(items=[ITEM | {"kind": "canary-kind", "since": "canary-day", "conclusion": "canary " * 40}])
    assert "canary" not in caught.value.detail


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}',
        '```json\n{"a": 1}\n```',
        'Sure! {"a": 1} Hope it helps }',
        '<think>{"b": 2}</think>{"a": 1}',
        '{"a": 1',
        '{"a": 1}'.replace("}", "\n```"),
        '\ufeff{"a": 1}',
    ],
)
def test_one_object_is_read_out_of_what_surrounds_it(text):
    if text in ('{"a": 1', '{"a": 1\n```'):  # a number may have been cut: 1 of 17
        with pytest.raises(AnswerUnusable):
            parse_object(text)
    else:
        assert parse_object(text) == {"a": 1}


def test_only_missing_brackets_are_added():
    assert parse_object('{"a": [{"b": "x"') == {"a": [{"b": "x"}]}
    assert parse_object('{"a": "brackets } in ] strings"}') == {"a": "brackets } in ] strings"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "no json",
        "[1, 2]x",
        '{"a": "half a sen',
        '{"a": "x",',
        '{"a":',
        '{"a"',
        "{'a': 1}",
    ],
)
def test_what_is_cut_or_broken_is_unusable(text):
    with pytest.raises(AnswerUnusable):
        parse_object(text)


@given(
    st.dictionaries(st.text(max_size=8), st.recursive(st.text(alphabet='ab{}[]",:\\ 汉', max_size=12), st.lists, max_leaves=6), max_size=5)
)
def test_every_cut_of_an_object_is_read_whole_or_refused(value):
    text = json.dumps(value, ensure_ascii=False)
    for end in range(len(text)):
        try:
            parsed = parse_object(text[:end])
        except AnswerUnusable:
            continue
        assert all(parsed[key] == value[key] for key in list(parsed)[:-1]), "only the last value can be short of later parts"


_NAMES = st.sampled_from(["lessons", "items", "turns", "quote", "event", "kind", "nothing_because"])
# Not by `recursive`: it looks up the function that it is given in this file, finds another where the file was changed since its import,
# and warns of that.
_ANY_JSON: st.SearchStrategy[object] = st.deferred(
    lambda: (
        st.none()
        | st.booleans()
        | st.integers()
        | st.text(max_size=5)
        | st.lists(_ANY_JSON, max_size=3)
        | st.dictionaries(_NAMES, _ANY_JSON, max_size=4)
    )
)


@given(_ANY_JSON)
def test_any_json_is_a_form_or_unusable_and_nothing_else(value):
    try:
        read_answer(value)
    except AnswerUnusable as error:
        assert error.detail


def test_every_field_of_the_schema_is_required_and_closed():
    def walk(node):
        if node.get("type") == "object":
            assert node["additionalProperties"] is False and node["required"] == list(node["properties"])
            for part in node["properties"].values():
                walk(part)
        if node.get("type") == "array":
            walk(node["items"])

    walk(wire_schema())


async def test_a_scripted_model_says_what_it_was_told_and_remembers_what_it_was_asked():
    from hindwise.model.reflection import Answer

    model = ScriptedModel(AnswerUnusable("bad"), Answer(nothing_because="done"))
    with pytest.raises(AnswerUnusable):
        await model.reflect(episode(), Known())
    assert (await model.reflect(episode(), Known())).nothing_because == "done"
    assert len(model.asked) == 2
    with pytest.raises(AssertionError, match="no answer left"):
        await model.reflect(episode(), Known())
    for_ever = ScriptedModel(Answer(nothing_because="x"), repeat_last=True)
    assert [(await for_ever.reflect(episode(), Known())).nothing_because for _ in range(3)] == ["x"] * 3
