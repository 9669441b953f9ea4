"""A number that was stored before the setting was made comes into no memory that is made after it, and is told in no refusal."""

from pathlib import Path

import pytest
from sqlalchemy import select

from activities.capture import capture
from activities.ground import ground
from activities.reflect import reflect
from activities.resolve import resolve
from hindwise.ledger.schema import drafts, evidence, memories, sessions
from hindwise.model.memory import Draft, Evidence
from hindwise.model.reflection import Answer
from hindwise.reflect.rules import RuleReflector
from hindwise.testing import ScriptedModel
from tests.api.front import Front, open_front
from workflows.contracts import CaptureInput, GroundInput, ReflectInput, ResolveInput

NUMBER, MAIL = "13812345678", "ann@shop.example"
SAID = {
    "en": (
        f"My phone number is {NUMBER}. I always prefer aisle seats, so call {NUMBER} or write to {MAIL} if there are none left.",
        "aisle",
    ),
    "zh": (f"我的手机号是{NUMBER}。以后都给我订靠过道的座位，没有的话就打{NUMBER}或写信到{MAIL}。", "过道"),
}
ASKED = {
    "en": (f"Please remember to always call {NUMBER} or write to {MAIL} before a delivery.", "before a delivery"),
    "zh": (f"请记住，以后送货前一律先打{NUMBER}或写信到{MAIL}。", "送货前"),
}


async def _stored_before(data: Path, said: str) -> str:
    async with open_front(data, mask_phones=False, mask_emails=False) as front:
        turns = [{"role": "user", "content": said}, {"role": "assistant", "content": "Done." if said.isascii() else "好的，已办好。"}]
        run = {"user_id": "ann", "run_id": "r1", "turns": turns, "outcome": {"status": "success", "source": "env"}}
        return str((await front.post("/v1/episodes", run)).json()["reflection_id"])


async def _kept(front: Front, reflection_id: str) -> tuple[str, str]:
    """What reflection keeps by rules: its drafts and its memories with their evidence."""
    first = ReflectInput(reflection_id=reflection_id, attempt=1, reflector="rules")
    await reflect(front.engine, first, {"rules": RuleReflector()})
    await ground(front.engine, GroundInput(reflection_id=reflection_id, attempt=1))
    await resolve(front.engine, ResolveInput(reflection_id=reflection_id, attempt=1))
    rows = await front.engine.ledger.read(
        lambda conn: [[tuple(row) for row in conn.execute(select(table))] for table in (drafts, memories, evidence)]
    )
    return str(rows[0]), str(rows[1:])


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_a_number_of_before_the_setting_comes_into_no_memory(tmp_path: Path, lang: str) -> None:
    said, liking = SAID[lang]
    reflection_id = await _stored_before(tmp_path, said)
    async with open_front(tmp_path, mask_phones=True, mask_emails=True) as front:
        answered, remembered = await _kept(front, reflection_id)
        for text in (answered, remembered, (await front.http.get(f"/v1/reflections/{reflection_id}")).text):
            assert NUMBER not in text and MAIL not in text
        assert liking in remembered
        told = (await front.http.get("/v1/memories", params={"user_id": "ann"})).json()
        assert not any(item["conclusion"].rstrip("。.").endswith("[masked:phone]") for item in told["items"] if item["kind"] == "fact")


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_nor_into_what_is_kept_while_the_session_is_open(tmp_path: Path, lang: str) -> None:
    said, order = ASKED[lang]
    async with open_front(tmp_path, mask_phones=False, mask_emails=False) as front:
        await front.post("/v1/sessions/s1/turns", {"user_id": "ann", "turns": [{"role": "user", "content": said}]})
        handle = await front.engine.ledger.read(lambda conn: conn.execute(select(sessions.c.handle)).scalar_one())
    async with open_front(tmp_path, mask_phones=True, mask_emails=True) as front:
        await capture(front.engine, CaptureInput(handle=handle, first_seq=1, last_seq=1))
        rows = await front.engine.ledger.read(
            lambda conn: str([[tuple(row) for row in conn.execute(select(table))] for table in (memories, evidence)])
        )
        assert order in rows
        assert NUMBER not in rows and MAIL not in rows


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_without_the_setting_the_number_may_be_remembered(tmp_path: Path, lang: str) -> None:
    reflection_id = await _stored_before(tmp_path, SAID[lang][0])
    async with open_front(tmp_path, mask_phones=False, mask_emails=False) as front:
        _, remembered = await _kept(front, reflection_id)
        assert NUMBER in remembered


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_what_was_refused_before_the_setting_is_told_without_the_number(tmp_path: Path, lang: str) -> None:
    reflection_id = await _stored_before(tmp_path, SAID[lang][0])
    refused = Draft(
        kind="fact",
        conclusion={"en": f"Can be called at {NUMBER} in the evening", "zh": f"晚上可以打{NUMBER}"}[lang],
        subject="user",
        attribute="telephone",
        value="evening",
        language=lang,
        evidence=(Evidence(episode_id="e", seq=1, quote="nobody said that"),),
    )
    async with open_front(tmp_path, mask_phones=False) as front:
        model = ScriptedModel(Answer(drafts=(refused,)), model="m")
        await reflect(front.engine, ReflectInput(reflection_id=reflection_id, attempt=1, reflector="llm"), {"llm": model})
        await ground(front.engine, GroundInput(reflection_id=reflection_id, attempt=1))
        assert NUMBER in (await front.http.get(f"/v1/reflections/{reflection_id}")).text
    async with open_front(tmp_path, mask_phones=True) as front:
        [told] = (await front.http.get(f"/v1/reflections/{reflection_id}")).json()["rejected"]
        assert told["conclusion"] == refused.conclusion.replace(NUMBER, "[masked:phone]")
