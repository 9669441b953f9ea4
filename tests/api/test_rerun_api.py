"""Another look back over the same task: side by side first, kept only where asked."""

from typing import Any

import pytest
from sqlalchemy import Connection

from hindwise.ledger import memories, reflections
from hindwise.ledger.resolution import Placement, Resolution
from hindwise.lifecycle.aging import AgingRules
from hindwise.model.reflection import ReflectionStatus
from tests.api.front import Front
from tests.build import NOON, make_draft

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
    second = await front.post(f"/v1/reflections/{reflection_id}/rerun", {"apply": True})
    assert second.status_code in {403, 409}
    assert "wait" in second.json()["detail"]


async def test_a_rerun_by_what_is_not_here_says_what_to_set(front: Front) -> None:
    reflection_id = await looked_at(front, WORDS["en"])
    for body, word in (({"reflector": "llm"}, "LLM_MODEL"), ({"reflector": "rules", "prompt_version": "none"}, "prompt_version")):
        answer = await front.post(f"/v1/reflections/{reflection_id}/rerun", body)
        assert answer.status_code == 422, answer.text
        assert word in answer.json()["detail"]
    assert (await front.post("/v1/reflections/none/rerun", {})).status_code == 404
