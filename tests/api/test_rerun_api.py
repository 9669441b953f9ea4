"""Another look back over the same task: side by side first, kept only where asked."""

from typing import Any

import pytest
from sqlalchemy import Connection

from hindwise.ledger import intake, memories, reflections, reruns
from hindwise.ledger.intake import ReflectorId
from hindwise.ledger.resolution import Placement, Resolution
from hindwise.lifecycle.aging import AgingRules
from hindwise.model.reflection import ReflectionStatus
from hindwise.reflect.rules import RuleReflector
from tests.api.front import Front
from tests.build import NOON, make_draft, make_outcome

RULES = ReflectorId("rules", "", RuleReflector.prompt_version)
WORDS = {"en": "I always prefer an aisle seat.", "zh": "以后都给我订靠过道的座位。"}


async def looked_at(front: Front, words: str) -> str:
    """A task whose first reflection concluded a window seat and a cheap price."""
    run: dict[str, Any] = {
        "user_id": "ann",
        "run_id": f"run-{words[:4]}",
        "goal": "Book a train / 订票",
        "turns": [{"role": "user", "content": words}, {"role": "assistant", "content": "ok"}],
        "outcome": {"status": "success", "source": "env"},
    }
    told = (await front.post("/v1/episodes", run)).json()

    def conclude(conn: Connection) -> None:
        drafts = (
            make_draft("Prefers window seats", value="window", attribute="seat"),
            make_draft("Wants it cheap", attribute="price", value="cheap"),
        )
        resolution = Resolution(conn, "default", told["reflection_id"], "reflection", NOON, AgingRules(), 0.4, NOON)
        resolution.run([Placement(number, draft, "user:ann") for number, draft in enumerate(drafts)])
        reflections.finish(conn, told["reflection_id"], ReflectionStatus.COMPLETED, NOON)

    await front.engine.ledger.write(conclude)
    return str(told["reflection_id"])


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_a_dry_rerun_shows_both_side_by_side_and_keeps_nothing(front: Front, lang: str) -> None:
    reflection_id = await looked_at(front, WORDS[lang])
    answer = await front.post(f"/v1/reflections/{reflection_id}/rerun", {"reflector": "rules"})
    told = answer.json()
    assert (answer.status_code, told["status"], told["reflection_id"]) == (200, "compared", ""), answer.text
    assert [item["conclusion"] for item in told["dropped"]] == ["Wants it cheap"]
    assert [item["before"]["value"] for item in told["changed"]] == ["window"]
    assert any(item["kind"] == "event" for item in told["added"])
    page = await front.engine.ledger.read(lambda conn: memories.page(conn, "default", ["user:ann"], limit=10))
    assert {row.status for row in page} == {"active"}
    assert len(front.starter.started) == 1


async def test_an_applied_rerun_is_a_run_of_its_own_that_replaces_the_first_and_one_at_a_time(front: Front) -> None:
    reflection_id = await looked_at(front, WORDS["en"])
    told = (await front.post(f"/v1/reflections/{reflection_id}/rerun", {"apply": True})).json()
    await front.settled()
    again = (await front.http.get(f"/v1/reflections/{told['reflection_id']}")).json()
    assert (again["run_number"], again["replaces"], again["status"]) == (1, reflection_id, "queued")
    assert again["reason"].startswith("looked back again by rules")
    assert [item.reflection_id for item in front.starter.started][-1] == told["reflection_id"]
    other = await front.post(f"/v1/reflections/{told['reflection_id']}/rerun", {"apply": True})
    assert other.status_code == 409
    assert "wait" in other.json()["detail"]


@pytest.mark.parametrize("finished", [False, True])
async def test_an_applied_rerun_whose_answer_was_lost_is_told_again_and_not_run_again(front: Front, finished: bool) -> None:
    """However late it is repeated; with and without a key."""
    reflection_id = await looked_at(front, WORDS["zh"])
    url = f"/v1/reflections/{reflection_id}/rerun"
    first = (await front.post(url, {"apply": True}, **{"Idempotency-Key": "k"})).json()
    await front.settled()
    if finished:
        done = ReflectionStatus.COMPLETED
        await front.engine.ledger.write(lambda conn: reflections.finish(conn, first["reflection_id"], done, NOON))
    asked = [(url, {"apply": True}, {"Idempotency-Key": "k"}), (url, {"apply": True}, {}), (url, {"reflector": "rules", "apply": True}, {})]
    answers = [await front.post(path, body, **headers) for path, body, headers in asked]
    await front.settled()
    assert [answer.status_code for answer in answers] == [200, 200, 200], answers[-1].text
    assert {answer.json()["reflection_id"] for answer in answers} == {first["reflection_id"]}
    assert [first["duplicate"], *(answer.json()["duplicate"] for answer in answers[1:])] == [False, True, True]
    assert [item.reflection_id for item in front.starter.started].count(first["reflection_id"]) == 1
    listed = (await front.http.get("/v1/reflections")).json()["items"]
    assert len(listed) == 2


async def test_a_run_after_that_starts_from_the_newest_reflection(front: Front) -> None:
    reflection_id = await looked_at(front, WORDS["en"])
    told = (await front.post(f"/v1/reflections/{reflection_id}/rerun", {"apply": True})).json()
    later = await front.engine.ledger.write(lambda conn: _corrected(conn, told))
    again = await front.post(f"/v1/reflections/{told['reflection_id']}/rerun", {"reflector": "rules", "apply": True})
    assert (again.status_code, again.json()["reflection_id"], again.json()["duplicate"]) == (200, later, True)
    lost = await front.post(f"/v1/reflections/{reflection_id}/rerun", {"apply": True})
    assert (lost.status_code, lost.json()["reflection_id"]) == (200, told["reflection_id"]), "told again after a later run too"


def _corrected(conn: Connection, told: dict[str, Any]) -> str:
    """The run ended, and a corrected verdict began the next."""
    reflections.finish(conn, told["reflection_id"], ReflectionStatus.COMPLETED, NOON)
    worse = make_outcome("failure", source="env")
    return intake.later_outcome(conn, "default", told["episode_id"], worse, RULES, NOON).reflection_id


async def test_what_another_reflector_replaced_names_the_newest(front: Front) -> None:
    reflection_id = await looked_at(front, WORDS["en"])
    told = (await front.post(f"/v1/reflections/{reflection_id}/rerun", {"apply": True})).json()
    by_model = ReflectorId("llm", "m", "3")
    finished = ReflectionStatus.COMPLETED
    await front.engine.ledger.write(lambda conn: reflections.finish(conn, told["reflection_id"], finished, NOON))
    newest = await front.engine.ledger.write(lambda conn: reruns.queue(conn, "default", told["reflection_id"], by_model, NOON))
    refused = await front.post(f"/v1/reflections/{told['reflection_id']}/rerun", {"apply": True})
    assert refused.status_code == 409
    assert newest.reflection_id in refused.json()["detail"]


async def test_a_rerun_by_what_is_not_here_says_what_to_set(front: Front) -> None:
    reflection_id = await looked_at(front, WORDS["en"])
    for body, word in (({"reflector": "llm"}, "LLM_MODEL"), ({"reflector": "rules", "prompt_version": "none"}, "prompt_version")):
        answer = await front.post(f"/v1/reflections/{reflection_id}/rerun", body)
        assert answer.status_code == 422, answer.text
        assert word in answer.json()["detail"]
    assert (await front.post("/v1/reflections/none/rerun", {})).status_code == 404
