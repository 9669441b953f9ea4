"""What the fake endpoint answers passes, or fails, the validators that real answers meet."""

import json

import pytest

from hindwise.reflect.base import Known
from hindwise.reflect.validators import ground
from tests.data import eval_data
from tests.fake_llm import FakeLlm
from tests.unit.reflect_llm.episodes import EN, ZH, episode, known_memory, real_run, reflector


@pytest.mark.parametrize("said", [EN, ZH], ids=["en", "zh"])
async def test_a_good_answer_is_accepted_and_an_invented_quote_is_complained_about(said):
    run = episode(*said)
    async with FakeLlm(["ok", "invented_quote", "ok"]) as llm:
        asker = reflector(llm.url)
        good = ground(run, await asker.reflect(run, Known()))
        bad = ground(run, await asker.reflect(run, Known()))
        better = ground(run, await asker.reflect(run, Known(), bad.complaints))
        await asker.close()
        asked_again = llm.requests[-1]["messages"][1]["content"]
    assert not good.complaints and len(good.accepted) == 1
    assert [complaint.rule for complaint in bad.complaints] == ["quote-occurs"]
    assert not better.complaints and bad.complaints[0].text.split()[0] in asked_again


async def test_an_agreement_with_a_known_lesson_is_accepted():
    from hindwise.model.reflection import Answer
    from hindwise.reflect.llm.draft import drafts_of
    from hindwise.reflect.llm.prompt import question
    from hindwise.reflect.llm.schema import read_answer

    run = episode()
    lesson = known_memory("When a booking is to be cancelled, confirm first").model_copy(
        update={"applies_when": "before cancelling", "tools": ("cancel_booking", "other_tool")}
    )
    form = read_answer({"agreed": [{"known": 1, "turns": [3], "quote": "needs a confirmation first"}]})
    drafts = drafts_of(form, run, question(run, Known(memories=(lesson,))))
    assert not ground(run, Answer(drafts=drafts)).complaints


@pytest.mark.eval_data
async def test_on_real_runs_every_answer_of_the_fake_is_grounded():
    rows = [json.loads(line) for line in eval_data("tau_airline.jsonl").read_text(encoding="utf-8").splitlines()[:20]]
    async with FakeLlm() as llm:
        asker = reflector(llm.url)
        for row in rows:
            run = real_run(row)
            found = ground(run, await asker.reflect(run, Known()))
            assert not found.complaints and len(found.accepted) == 1
        await asker.close()
