"""What an endpoint refuses is remembered in the ledger: no worker pays for it twice a day, and an upgrade is noticed."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from hindwise.ledger.engine import Ledger
from hindwise.ledger.schema import model_abilities
from hindwise.reflect.base import Known
from hindwise.reflect.llm import LlmReflector
from hindwise.reflect.llm.ability import KEPT_FOR, Abilities, Ability, endpoint_key
from hindwise.settings import Settings
from hindwise.testing import FixedClock
from tests.build import NOON
from tests.fake_llm import FakeLlm
from tests.nobody import nobody_at
from tests.unit.reflect_llm.episodes import EN, ZH, episode

LATER = NOON + KEPT_FOR + timedelta(minutes=1)


async def ask(llm, ledger, *, now=NOON, model="m", said=EN):
    """One question by a process of its own; the formats that were tried for it."""
    begun = len(llm.requests)
    settings = Settings(_env_file=None, llm_base_url=llm.url, llm_model=model, llm_api_key="sk-test-1234567890", llm_timeout_s=5.0)
    asker = LlmReflector(settings, ledger, FixedClock(now))
    try:
        assert (await asker.reflect(episode(*said), Known())).drafts
    finally:
        await asker.close()
    return [(body.get("response_format") or {}).get("type", "text") for body in llm.requests[begun:]]


@pytest.mark.parametrize("said", [EN, ZH], ids=["en", "zh"])
@pytest.mark.parametrize(
    ("mode", "tried", "then"),
    [
        ("ok", ["json_schema"], "json_schema"),
        ("refuses_json_schema", ["json_schema", "json_object"], "json_object"),
        ("refuses_json_schema_500", ["json_schema", "json_object"], "json_object"),
        ("refuses_formats", ["json_schema", "json_object", "text"], "text"),
    ],
)
async def test_the_next_process_begins_with_what_works(ledger, mode, tried, then, said):
    async with FakeLlm(mode=mode) as llm:
        assert await ask(llm, ledger, said=said) == tried
        assert await ask(llm, ledger, said=said) == [then]


async def test_names_of_fields_and_a_fixed_temperature_are_remembered_too(ledger):
    async with FakeLlm(["refuses_max_tokens", "refuses_temperature"]) as llm:
        assert len(await ask(llm, ledger)) == 3
        assert len(await ask(llm, ledger)) == 1
        last = llm.requests[-1]
    assert "max_completion_tokens" in last and "temperature" not in last


async def test_another_model_at_the_same_address_is_tried_for_itself(ledger):
    async with FakeLlm(mode="refuses_json_schema") as llm:
        await ask(llm, ledger)
        assert await ask(llm, ledger, model="another") == ["json_schema", "json_object"]


async def test_after_a_day_the_better_way_is_tried_again_and_an_upgrade_is_kept(ledger):
    async with FakeLlm(mode="refuses_json_schema") as llm:
        await ask(llm, ledger)
        assert await ask(llm, ledger, now=LATER) == ["json_schema", "json_object"], "it still refuses, and that is remembered anew"
        assert await ask(llm, ledger, now=LATER) == ["json_object"]
        llm.control({"mode": "ok"})
        assert await ask(llm, ledger, now=LATER + KEPT_FOR) == ["json_schema"]
    [row] = await ledger.read(lambda conn: conn.execute(select(model_abilities)).all())
    assert (row.format, row.learned_at) == (0, LATER + KEPT_FOR)


async def test_a_running_worker_notices_the_age_as_well(ledger):
    clock = FixedClock(NOON)
    async with FakeLlm(mode="refuses_json_schema") as llm:
        asker = LlmReflector(Settings(_env_file=None, llm_base_url=llm.url, llm_model="m", llm_api_key="k"), ledger, clock)
        await asker.reflect(episode(), Known())
        clock.advance(KEPT_FOR + timedelta(minutes=1))
        await asker.reflect(episode(), Known())
        await asker.close()
    formats = [body["response_format"]["type"] for body in llm.requests]
    assert formats == ["json_schema", "json_object"] * 2


async def test_no_credential_of_an_address_stands_in_the_ledger(ledger, tmp_path):
    plain = "http://models.example/v1"
    for url in ("http://bob:pa55-canary@models.example/v1/", "http://models.example/v1?key=pa55-canary", f"{plain}/pa55-canary"):
        await Abilities(url, "m", ledger).learn(Ability(format=1), NOON)
    assert endpoint_key("http://bob:pa55-canary@models.example/v1/?key=x", "m") == endpoint_key(plain, "m") != endpoint_key(plain, "n")
    assert (await Abilities(plain, "m", ledger).recall(NOON)).format == 1
    await ledger.close()
    assert not [path.name for path in tmp_path.iterdir() if b"canary" in path.read_bytes() or b"models.example" in path.read_bytes()]


async def test_without_the_ledger_the_question_is_asked_all_the_same():
    away = Ledger(f"postgresql+psycopg://nobody@{nobody_at()}/none")
    async with FakeLlm(mode="refuses_json_schema") as llm:
        assert await ask(llm, away) == ["json_schema", "json_object"]
    await away.close()


async def test_what_a_later_release_learned_is_left_alone(ledger):
    await Abilities("http://x.example", "m", ledger).learn(Ability(format=7), NOON)
    assert await Abilities("http://x.example", "m", ledger).recall(NOON) == Ability()
