"""What was refused is told: first answers before a re-ask, answers without the form, what nobody would own; counted once by rule."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from activities.ground import ground
from activities.reflect import reflect
from activities.resolve import resolve
from hindwise.errors import AnswerUnusable
from hindwise.ledger import attempts, episodes, reflections
from hindwise.model.episode import Episode
from hindwise.model.memory import Draft, Evidence
from hindwise.model.reflection import Answer, ReflectionStatus
from hindwise.testing import ScriptedModel
from tests.api.front import Front, open_front
from tests.build import NOON
from tests.fake_llm import FakeLlm
from workflows.contracts import GroundInput, ReflectInput, ResolveInput

SECRET = "sk-proj-" + "a1B2c3D4e5F6g7H8" * 2
SAID = {
    "en": ("I always prefer an aisle seat in the train to Bern.", "The user prefers aisle seats.", "Booked.", "nobody said that"),
    "zh": ("去杭州的火车我一直喜欢靠过道的座位。", "用户喜欢靠过道的座位。", "已经订好。", "没有人这么说"),
}


async def _episode(front: Front, lang: str, **owner: str) -> tuple[str, Episode]:
    asks, _, booked, _ = SAID[lang]
    run: dict[str, Any] = {
        **owner,
        "run_id": f"run-{lang}",
        "turns": [{"role": "user", "content": asks}, {"role": "assistant", "content": booked}],
        "outcome": {"status": "success", "source": "env"},
    }
    told = (await front.post("/v1/episodes", run)).json()

    def load(conn: Connection) -> Episode:
        return episodes.load(conn, "default", told["episode_id"], recent=front.engine.recent)

    return told["reflection_id"], await front.engine.ledger.read(load)


def _draft(episode: Episode, lang: str, quote: str, **fields: Any) -> Draft:
    place = Evidence(episode_id=episode.id, seq=episode.turns[0].seq, turn_id=episode.turns[0].turn_id, quote=quote)
    slot = {"kind": "preference", "subject": "user", "attribute": "seat", "value": "aisle", "conclusion": SAID[lang][1]}
    return Draft(**{**slot, "language": lang, "evidence": (place,), **fields})


async def _asked(front: Front, reflection_id: str, *answers: Answer | AnswerUnusable) -> ScriptedModel:
    """Reflect and ground, each step twice over, as after a worker that was killed before it could say that it was done."""
    model = ScriptedModel(*answers, model="m")
    for attempt in range(1, len(answers) + 1):
        for _ in range(2):
            told = await reflect(front.engine, ReflectInput(reflection_id=reflection_id, attempt=attempt, reflector="llm"), {"llm": model})
        if told.usable:
            first, again = [await ground(front.engine, GroundInput(reflection_id=reflection_id, attempt=attempt)) for _ in range(2)]
            assert first == again
    return model


async def _counted(front: Front) -> dict[str, float]:
    text = (await front.http.get("/metrics")).text
    lines = [line for line in text.splitlines() if line.startswith("hindwise_drafts_rejected_total{")]
    return {line.split('"')[1]: float(line.split()[1]) for line in lines}


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_the_first_answer_is_told_beside_the_one_that_was_kept(front: Front, lang: str) -> None:
    asks, conclusion, _, invented = SAID[lang]
    reflection_id, episode = await _episode(front, lang, user_id="ann")
    good = _draft(episode, lang, asks)
    model = await _asked(
        front, reflection_id, Answer(drafts=(good, _draft(episode, lang, invented))), AnswerUnusable("cut", raw="{"), Answer(drafts=(good,))
    )
    assert [complaint.rule for _, _, said in model.asked for complaint in said] == ["quote-occurs", "form"]
    await resolve(front.engine, ResolveInput(reflection_id=reflection_id, attempt=3))
    told = (await front.http.get(f"/v1/reflections/{reflection_id}")).json()
    assert [(item["attempt"], item["rule"], item["kind"], item["conclusion"]) for item in told["rejected"]] == [
        (1, "quote-occurs", "preference", conclusion),
        (2, "form", "", ""),
    ]
    assert all(item["reason"] and item["written_by"].startswith("llm m") for item in told["rejected"])
    assert [decision["action"] for decision in told["decisions"]] == ["add", "add"], "the model's, and what happened, told by rules"
    assert {rule: number for rule, number in (await _counted(front)).items() if number} == {"quote-occurs": 1, "form": 1}


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_a_secret_that_a_model_made_up_stays_nowhere(front: Front, tmp_path: Path, lang: str) -> None:
    reflection_id, episode = await _episode(front, lang, user_id="ann")
    bad = _draft(episode, lang, SAID[lang][0], conclusion=f"{SAID[lang][1]} {SECRET}", value=SECRET)
    await _asked(front, reflection_id, Answer(drafts=(bad,), raw=f"said {SECRET}"))
    text = (await front.http.get(f"/v1/reflections/{reflection_id}")).text
    assert '"rule":"secret"' in text and "[masked:api-key]" in text and SECRET not in text
    [attempt] = await front.engine.ledger.read(lambda conn: attempts.all_of(conn, reflection_id))
    assert SECRET not in str(attempt), "neither the answer nor what was said of it"


async def test_what_has_no_owner_is_told_and_counted_once(front: Front) -> None:
    reflection_id, episode = await _episode(front, "en", agent_id="travel")
    await _asked(front, reflection_id, Answer(drafts=(_draft(episode, "en", SAID["en"][0]),)))
    for _ in range(2):
        await resolve(front.engine, ResolveInput(reflection_id=reflection_id, attempt=1))
    told = (await front.http.get(f"/v1/reflections/{reflection_id}")).json()
    assert [(item["rule"], item["kind"]) for item in told["rejected"]] == [("owner", "preference"), ("owner", "event")]
    assert (await _counted(front))["owner"] == 2


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_a_comparison_tells_what_it_refused_too(tmp_path: Path, lang: str) -> None:
    async with FakeLlm(mode="invented_quote") as llm:
        settings: dict[str, Any] = {"llm_base_url": llm.url, "llm_model": "m", "llm_api_key": "k", "llm_timeout_s": 30.0}
        async with open_front(tmp_path / "house", **settings) as front:
            reflection_id, _ = await _episode(front, lang, user_id="ann")
            done = ReflectionStatus.COMPLETED
            await front.engine.ledger.write(lambda conn: reflections.finish(conn, reflection_id, done, NOON))
            told = (await front.post(f"/v1/reflections/{reflection_id}/rerun", {"reflector": "llm"})).json()
    assert [(item["rule"], item["attempt"], item["kind"]) for item in told["rejected"]] == [("quote-occurs", 1, "lesson")], told
    assert told["added"], "the rest is compared all the same"


async def test_every_rule_is_in_the_figures_before_it_ever_refused(front: Front) -> None:
    counted = await _counted(front)
    assert {"evidence", "quote-occurs", "gate", "form"} < set(counted) and set(counted.values()) == {0.0}
