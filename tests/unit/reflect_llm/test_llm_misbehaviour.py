"""Every way an endpoint can misbehave, on a real HTTP server: the right error of ours, with the next step, and never a leak."""

import asyncio
import time

import pytest

from hindwise.errors import AnswerUnusable, HindwiseError, ModelRefused, ModelUnavailable
from hindwise.model.memory import Kind
from hindwise.reflect.base import Known
from hindwise.settings import Settings
from tests.fake_llm import INVENTED, FakeLlm, control
from tests.unit.reflect_llm.episodes import EN, NOON, ZH, episode, reflector


async def _ask(llm: FakeLlm, said=EN, **options):
    asker = reflector(llm.url, **options)
    try:
        return await asker.reflect(episode(*said), Known())
    finally:
        await asker.close()


async def _fails(llm: FakeLlm, kind: type[HindwiseError], said=EN, **options):
    with pytest.raises(kind) as caught:
        await _ask(llm, said, **options)
    text = f"{caught.value} {caught.value.extra} {caught.value.__cause__}"
    assert "sk-" not in text, "no key in an error"
    for words in (turn[1] for turn in said if len(turn[1]) > 8):
        assert words[:8] not in text, "no words of the transcript in an error"
    return caught.value


@pytest.mark.parametrize("said", [EN, ZH], ids=["en", "zh"])
async def test_a_good_answer_becomes_grounded_drafts_in_the_language_of_the_transcript(said):
    async with FakeLlm() as llm:
        answer = await _ask(llm, said)
    (lesson,) = answer.drafts
    assert lesson.kind is Kind.LESSON
    assert lesson.language == ("zh" if said is ZH else "en")
    assert lesson.tools == ("cancel_booking",)
    assert lesson.conclusion.startswith("当" if said is ZH else "When")
    assert lesson.evidence[0].seq == 14 and lesson.evidence[0].turn_id == "t-14"
    assert lesson.evidence[0].quote == said[3][1]
    assert lesson.retrospective.goal and lesson.retrospective.what_failed_and_why
    assert answer.usage.calls == 1 and answer.usage.prompt_tokens > 0
    assert '"lessons"' in answer.raw


@pytest.mark.parametrize("behaviour", ["fenced", "prose", "unclosed"])
@pytest.mark.parametrize("said", [EN, ZH], ids=["en", "zh"])
async def test_talk_and_fences_around_the_json_and_missing_last_brackets_do_no_harm(behaviour, said):
    async with FakeLlm([behaviour]) as llm:
        assert len((await _ask(llm, said)).drafts) == 1


async def test_429_says_how_long_to_wait():
    async with FakeLlm(["rate_limited:7"]) as llm:
        assert (await _fails(llm, ModelUnavailable)).retry_after_s == 7


@pytest.mark.parametrize(("header", "least", "most"), [("99999", 120, 120), ("-4", 0, 0), ("Wed, 21 Oct 2015 07:28:00 GMT", 0, 0)])
async def test_the_wait_is_never_negative_and_never_above_two_minutes(header, least, most):
    async with FakeLlm([f"rate_limited:{header}"]) as llm:
        wait = (await _fails(llm, ModelUnavailable)).retry_after_s
    assert wait is not None and least <= wait <= most


@pytest.mark.parametrize("header", ["soon", "nan"])
async def test_a_wait_that_cannot_be_read_is_no_wait(header):
    async with FakeLlm([f"rate_limited:{header}"]) as llm:
        assert (await _fails(llm, ModelUnavailable)).retry_after_s is None


@pytest.mark.parametrize("behaviour", ["server_error", "server_error:502", "server_error:503", "drops"])
async def test_what_may_heal_is_unavailable(behaviour):
    async with FakeLlm(mode=behaviour) as llm:
        error = await _fails(llm, ModelUnavailable)
    assert error.retryable


async def test_an_endpoint_that_is_not_there_is_unavailable_and_names_the_setting():
    async with FakeLlm() as llm:
        url = llm.url
    asker = reflector(url)
    with pytest.raises(ModelUnavailable, match="LLM_BASE_URL"):
        await asker.reflect(episode(), Known())
    await asker.close()


async def test_an_endpoint_that_hangs_is_given_up_in_time():
    async with FakeLlm(["hangs"]) as llm:
        began = time.monotonic()
        error = await _fails(llm, ModelUnavailable, timeout_s=0.4)
        assert time.monotonic() - began < 4
    assert "0.4 s" in error.detail or "in time" in error.detail


async def test_a_caller_that_gives_up_leaves_the_reflector_usable():
    async with FakeLlm(["ok", "hangs"]) as llm:
        asker = reflector(llm.url, timeout_s=30)
        await asker.reflect(episode(), Known())  # the client's import takes longer than the patience below, on a busy machine
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await asker.reflect(episode(), Known())
        assert (await asker.reflect(episode(), Known())).drafts
        await asker.close()


@pytest.mark.parametrize(
    ("behaviour", "setting"),
    [
        ("unauthorized", "LLM_API_KEY"),
        ("server_error:403", "LLM_API_KEY"),
        ("unknown_model", "LLM_MODEL"),
        ("no_credit", "credit"),
        ("too_long", "too long"),
        ("bad_request", "LLM_BASE_URL"),
    ],
)
async def test_what_a_person_must_change_is_refused_and_says_which_setting(behaviour, setting):
    async with FakeLlm(mode=behaviour) as llm:
        error = await _fails(llm, ModelRefused)
    assert setting in error.detail and not error.retryable


async def test_missing_settings_are_named_before_anything_is_sent():
    from hindwise.reflect.llm import LlmReflector

    for settings, name in [({}, "LLM_MODEL"), ({"llm_model": "m"}, "LLM_BASE_URL")]:
        asker = LlmReflector(Settings(_env_file=None, **({"llm_model": "", "llm_base_url": "", "llm_api_key": ""} | settings)))
        with pytest.raises(ModelRefused, match=name):
            await asker.reflect(episode(), Known())
        await asker.close()


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"url": "localhost:8000/v1"}, "LLM_BASE_URL"),
        ({"url": "http://[::1/v1"}, "LLM_BASE_URL"),
        ({"url": "http://127.0.0.1:99999/v1"}, "LLM_BASE_URL"),
        ({"url": "http://127.0.0.1:9/v1", "key": "sk-\u5bc6\u94a5"}, "LLM_API_KEY"),
        ({"url": "http://127.0.0.1:9/v1", "key": "sk-1\n"}, "LLM_API_KEY"),
    ],
)
async def test_settings_that_cannot_work_are_named_and_never_shown(settings, name):
    asker = reflector(**settings)
    with pytest.raises(ModelRefused, match=name) as caught:
        await asker.reflect(episode(), Known())
    assert "sk-" not in str(caught.value)
    await asker.close()


async def test_half_a_surrogate_pair_in_a_turn_does_no_harm():
    async with FakeLlm() as llm:
        assert (await _ask(llm, (*EN, ("user", "broken \ud83d emoji \x00 here")))).drafts


@pytest.mark.parametrize(
    ("behaviour", "complaint"),
    [
        ("half_json", ("cut", "断了")),
        ("cut", ("cut at", "截断")),
        ("empty", ("empty", "空的")),
        ("empty_success", ("nothing_because", "没有原因")),
        ("bad_item", (r"lessons\[1\]\.conclusion: must not be empty", r"lessons\[1\]\.conclusion: 不能为空")),
        ("html", ("not a chat completion",) * 2),
        ("broken_body", ("not JSON",) * 2),
    ],
)
@pytest.mark.parametrize("said", [EN, ZH], ids=["en", "zh"])
async def test_an_answer_out_of_form_is_unusable_with_a_complaint_and_never_an_empty_success(behaviour, complaint, said):
    async with FakeLlm([behaviour]) as llm:
        error = await _fails(llm, AnswerUnusable, said)
    assert error.type == "answer-unusable"
    with pytest.raises(AnswerUnusable, match=complaint[said is ZH]):
        raise error


async def test_an_unusable_answer_keeps_what_was_said_and_what_it_cost():
    async with FakeLlm(["half_json"]) as llm:
        error = await _fails(llm, AnswerUnusable)
    assert error.raw.startswith("{") and error.usage["calls"] == 1 and error.usage["prompt_tokens"] > 0


@pytest.mark.parametrize("said", [EN, ZH], ids=["en", "zh"])
async def test_an_invented_quote_is_left_for_the_validators(said):
    async with FakeLlm(["invented_quote"]) as llm:
        answer = await _ask(llm, said)
    assert answer.drafts[0].evidence[0].quote == INVENTED["zh" if said is ZH else "en"]


async def test_nothing_learned_with_a_reason_is_an_answer():
    async with FakeLlm(["nothing"]) as llm:
        answer = await _ask(llm)
    assert answer.drafts == () and answer.nothing_because == "a greeting and no task"


async def test_the_key_is_sent_as_bearer_and_retrying_is_left_to_the_workflow():
    async with FakeLlm(mode="server_error:503") as llm:
        await _fails(llm, ModelUnavailable)
        assert llm.keys == ["Bearer sk-test-1234567890"]


async def test_behaviour_can_be_set_from_another_process():
    async with FakeLlm() as llm:
        await asyncio.to_thread(control, llm.url, "rate_limited:3", mode="nothing")
        assert (await _fails(llm, ModelUnavailable)).retry_after_s == 3
        assert (await _ask(llm)).nothing_because


def test_the_day_in_the_prompt_is_the_day_the_episode_ended():
    from hindwise.reflect.llm.prompt import question

    assert NOON.date().isoformat() in question(episode(), Known()).messages[0]["content"]
