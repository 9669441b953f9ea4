"""Answers that are odd in their frame, their typing or their language: read where nothing is lost, else asked again; never a loss."""

import json
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindwise.errors import AnswerUnusable, ModelTimeout
from hindwise.reflect.base import Known
from hindwise.reflect.llm.complaints import told
from hindwise.reflect.llm.json_object import parse_object
from hindwise.reflect.llm.schema import read_answer
from hindwise.reflect.validators import ground
from tests.fake_answers import in_wide_punctuation
from tests.fake_llm import FakeLlm
from tests.unit.reflect_llm.episodes import EN, ZH, episode, reflector

_FRAME = ("not a chat completion",) * 2
LANGS = pytest.mark.parametrize("said", [EN, ZH], ids=["en", "zh"])


async def _ask(llm, said, complaints=(), **options):
    asker = reflector(llm.url, **options)
    try:
        return await asker.reflect(episode(*said), Known(), complaints)
    finally:
        await asker.close()


@LANGS
@pytest.mark.parametrize("behaviour", ["think", "think_open", "wide", "parts", "odd_usage", "slow:0.2", "huge:0", "refuses_json_object"])
async def test_what_is_odd_without_loss_is_read_and_passes_the_same_validators(behaviour, said):
    async with FakeLlm(mode=behaviour) as llm:
        answer = await _ask(llm, said, model=behaviour)
    grounded = ground(episode(*said), answer)
    assert (len(grounded.accepted), grounded.complaints) == (1, ())
    assert answer.usage.prompt_tokens > 0 and answer.usage.completion_tokens > 0


@LANGS
@pytest.mark.parametrize(
    ("behaviour", "complaint"),
    [
        ("nan", ("not valid JSON", "不是合法的 JSON")),
        ("wrong_types", ("lessons: must be a list", "lessons: 必须是列表")),
        ("empty_choices", _FRAME),
        ("no_choices", _FRAME),
        ("odd_choices", _FRAME),
        ("stream", _FRAME),
    ],
)
async def test_what_cannot_be_read_is_asked_again_with_what_was_wrong(behaviour, complaint, said):
    async with FakeLlm([behaviour]) as llm:
        with pytest.raises(AnswerUnusable, match=complaint[said is ZH]):
            await _ask(llm, said)
        assert len((await _ask(llm, said)).drafts) == 1


@LANGS
async def test_an_answer_in_another_language_is_complained_about_in_the_transcripts(said):
    async with FakeLlm(["other_language", "ok"]) as llm:
        grounded = ground(episode(*said), await _ask(llm, said))
        assert {complaint.rule for complaint in grounded.complaints} == {"language"}
        again = ground(episode(*said), await _ask(llm, said, grounded.complaints))
        asked = llm.requests[-1]["messages"][1]["content"]
    assert not again.complaints and ("对话记录的语言" in asked) is (said is ZH)


async def test_an_answer_of_megabytes_is_read_in_its_beginning():
    """Valid JSON first, talk without end after it; and nothing but talk."""
    async with FakeLlm(["huge:3"]) as llm:
        answer = await _ask(llm, EN, timeout_s=30)
    assert len(answer.drafts) == 1 and len(answer.raw) <= 200_000


async def test_an_answer_that_trickles_in_is_given_up_in_time():
    async with FakeLlm(["ok", "slow:20"]) as llm:
        asker = reflector(llm.url, timeout_s=1.0)
        try:
            await asker.reflect(episode(), Known())
        except ModelTimeout:
            llm.script("slow:20")  # the client's import took the patience of the first question
        began = time.monotonic()
        with pytest.raises(ModelTimeout):
            await asker.reflect(episode(), Known())
        assert time.monotonic() - began < 8
        await asker.close()


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ('{"a"：1，"b"：["x"，"y"]}', {"a": 1, "b": ["x", "y"]}),
        ("｛“a”：“当用户说“好”时，应停止”，“b”：【】｝", {"a": "当用户说“好”时，应停止", "b": []}),
        ('好的：｛“a”：“他说"行"，就这样”｝ 以上。', {"a": '他说"行"，就这样'}),
        ('{"a": "逗号，冒号：和｛括号｝都在话里"}', {"a": "逗号，冒号：和｛括号｝都在话里"}),
        ('{"a": "逗号，冒号：和｛括号｝都在话里"，"b"： 2}', {"a": "逗号，冒号：和｛括号｝都在话里", "b": 2}),
        ('maybe {"a": 0}? </think> {"a": 1}', {"a": 1}),
        ('{"a": "he wrote </think> there"}', {"a": "he wrote </think> there"}),
        ('<think>{"a": 0}</think>```json\n{"a": 1}\n```', {"a": 1}),
    ],
)
def test_wide_marks_and_thoughts_around_the_words_are_seen_through(text, read):
    assert parse_object(text) == read


@pytest.mark.parametrize(
    "text", ["｛“a”：“没有说完", "｛“a”：1，", '{"a": NaN}', '{"a": -Infinity}', "想法 </think> 没有答案", "“”", "｛{｝"]
)
def test_what_was_cut_or_is_no_json_is_not_made_up(text):
    with pytest.raises(AnswerUnusable):
        parse_object(text)


_WORDS = st.text(alphabet=st.sampled_from('abc 好的，：。{}[]「」"\n'), max_size=12)


@given(st.dictionaries(st.sampled_from(["a", "b", "c"]), st.one_of(_WORDS, st.integers(0, 9), st.lists(_WORDS, max_size=3)), min_size=1))
def test_wide_typing_gives_the_same_object_and_narrow_typing_is_never_touched(value):
    assert parse_object(in_wide_punctuation(value)) == value
    assert parse_object(json.dumps(value, ensure_ascii=False)) == value


@given(st.text(alphabet='{}[]:,"“”：，｛｝［］a1\\ </think>', max_size=80))
def test_no_text_at_all_does_more_than_be_refused(text):
    try:
        assert isinstance(parse_object(text), dict)
    except AnswerUnusable as error:
        assert error.detail


def test_faults_of_form_are_told_in_both_languages_and_without_the_words():
    lesson = {"conclusion": "x" * 161, "lesson_type": "proverb", "turns": "first", "importance": 11, "confidence": -1, "why": ["canary"]}
    answer = {
        "lessons": [lesson, {"why": "w"}],
        "items": [{"kind": "canary", "value": "v", "turns": []}] * 9,
        "nothing_because": {"canary": 1},
    }
    for lang, wanted in {
        "en": (
            "lessons[0].conclusion: at most 160 characters",
            "lessons[0].lesson_type: must be 'strategy', 'pitfall', 'recovery' or 'opt",
        ),
        "zh": ("lessons[0].conclusion: 最多 160 字", "lessons[0].lesson_type: 只能是 'strategy', 'pitfall', 'recovery'、'opt"),
    }.items():
        with pytest.raises(AnswerUnusable) as caught:
            read_answer(answer, lang)
        detail = caught.value.detail
        assert all(words in detail for words in wanted) and "canary" not in detail, detail
        assert "and 6 more" in detail or "另有 6 处" in detail, detail


def test_every_complaint_about_the_whole_answer_has_chinese_words():
    """Each way in which parsing or reading gives up, said in Chinese: a new one needs its line in `complaints`."""
    for text in ("", "no object", "{", '{"a": }', '{"lessons": []}', '{"a": "cut'):
        with pytest.raises(AnswerUnusable) as caught:
            read_answer(parse_object(text))
        assert told(caught.value.detail, "en") == caught.value.detail
        assert re.search("[\u4e00-\u9fff]", told(caught.value.detail, "zh")), caught.value.detail
