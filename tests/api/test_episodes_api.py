"""Whole runs, verdicts that come later, reflections and their release."""

from typing import Any

from hindwise.ledger import reflections
from tests.api.front import Front

RUN: dict[str, Any] = {
    "user_id": "ann",
    "agent_id": "support",
    "run_id": "run-1",
    "goal": "Refund order 4410",
    "turns": [{"role": "user", "content": "Please refund order 4410"}, {"role": "assistant", "content": "Done"}],
    "outcome": {"status": "success", "source": "env", "note": "refund booked"},
}


async def test_a_run_is_kept_once_and_other_content_under_its_id_is_a_conflict(front: Front) -> None:
    first = await front.post("/v1/episodes", RUN)
    again = await front.post("/v1/episodes", RUN)
    other = await front.post("/v1/episodes", {**RUN, "goal": "Refund order 5"})
    assert (first.status_code, again.status_code, other.status_code) == (202, 202, 409)
    assert (first.json()["duplicate"], again.json()["duplicate"]) == (False, True)
    assert other.json()["type"] == "episode-conflict"
    assert "/outcome" in other.json()["detail"]
    await front.settled()
    assert len(front.starter.started) == 1
    detail = (await front.http.get(f"/v1/episodes/{first.json()['episode_id']}")).json()
    assert [turn["content"] for turn in detail["turns"]] == ["Please refund order 4410", "Done"]
    assert detail["reflection_id"] == first.json()["reflection_id"]


async def test_equal_messages_of_a_run_are_all_kept_and_one_id_with_two_contents_is_a_conflict(front: Front) -> None:
    yes = {"role": "user", "content": "yes"}
    told = (await front.post("/v1/episodes", {**RUN, "turns": [yes, {"role": "assistant", "content": "ok"}, yes]})).json()
    assert len((await front.http.get(f"/v1/episodes/{told['episode_id']}")).json()["turns"]) == 3
    clash = [{"turn_id": "a", "role": "user", "content": "1"}, {"turn_id": "a", "role": "user", "content": "2"}]
    answer = await front.post("/v1/episodes", {**RUN, "run_id": "run-2", "turns": clash})
    assert (answer.status_code, answer.json()["conflicts"]) == (409, ["a"])


async def test_a_corrected_outcome_starts_a_second_reflection_and_a_weaker_one_does_not(front: Front) -> None:
    first = (await front.post("/v1/episodes", RUN)).json()
    url = f"/v1/episodes/{first['episode_id']}/outcome"
    weaker = (await front.post(url, {"status": "failure", "source": "user"})).json()
    assert weaker["duplicate"] is True
    corrected = (await front.post(url, {"status": "failure", "source": "env", "note": "refund bounced"})).json()
    assert corrected["reflection_id"] != first["reflection_id"]
    reflection = (await front.http.get(corrected["status_url"])).json()
    assert (reflection["replaces"], reflection["run_number"]) == (first["reflection_id"], 1)
    assert "success -> failure" in reflection["reason"]
    verdicts = (await front.http.get(f"/v1/episodes/{first['episode_id']}")).json()["verdicts"]
    assert [(v["outcome"]["status"], v["accepted"]) for v in verdicts] == [("success", True), ("failure", False), ("failure", True)]


async def test_an_outcome_finds_its_task_by_run_or_session(front: Front) -> None:
    told = (await front.post("/v1/episodes", RUN)).json()
    found = await front.http.post("/v1/episodes/outcome", params={"run_id": "run-1"}, json={"status": "failure", "source": "env"})
    assert found.json()["episode_id"] == told["episode_id"]
    assert (await front.http.post("/v1/episodes/outcome", params={"session_id": "x"}, json={"status": "failure"})).status_code == 404
    assert (await front.post("/v1/episodes/outcome", {"status": "failure"})).status_code == 422


async def test_lists_go_on_without_loss_where_many_rows_share_one_instant(front: Front) -> None:
    for number in range(7):
        await front.post("/v1/episodes", {**RUN, "run_id": f"run-{number}"})
    for path, params, key in (("/v1/episodes", {"user_id": "ann"}, "episode_id"), ("/v1/reflections", {}, "reflection_id")):
        seen: list[str] = []
        cursor = ""
        while True:
            answer = (await front.http.get(path, params={**params, "limit": 3, "cursor": cursor})).json()
            seen += [item[key] for item in answer["items"]]
            cursor = answer["next_cursor"] or ""
            if not cursor:
                break
        assert len(seen) == len(set(seen)) == 7


async def test_only_a_reflection_that_waits_for_a_person_can_be_released(front: Front) -> None:
    told = (await front.post("/v1/episodes", RUN)).json()
    url = f"/v1/reflections/{told['reflection_id']}"
    early = await front.post(f"{url}/use_rules")
    assert (early.status_code, early.json()["type"]) == (409, "not-allowed")
    await front.engine.ledger.write(lambda conn: reflections.set_parked(conn, told["reflection_id"], "the key is refused: set LLM_API_KEY"))
    assert (await front.http.get("/v1/reflections", params={"status": "needs_attention"})).json()["items"][0]["error"].startswith("the key")
    assert (await front.post(f"{url}/use_rules", {})).status_code == 202
    assert front.starter.signals == [(told["reflection_id"], "use_rules")]
    assert (await front.post(f"{url}/explode")).status_code == 422
    front.starter.down = True
    down = await front.post(f"{url}/retry")
    assert (down.status_code, down.headers["retry-after"]) == (503, "5")


async def test_reflections_are_filtered_by_time_with_a_zone(front: Front) -> None:
    await front.post("/v1/episodes", RUN)
    assert len((await front.http.get("/v1/reflections", params={"since": "2026-01-01T00:00:00+08:00"})).json()["items"]) == 1
    assert (await front.http.get("/v1/reflections?since=2026-01-01T00:00:00+08:00")).status_code == 200
    assert (await front.http.get("/v1/reflections", params={"since": "2030-01-01T00:00:00Z"})).json()["items"] == []
    for odd in ("yesterday", "2026", "1764000000", "2026-11-30", "2026-11-30T00:00:00"):
        assert (await front.http.get("/v1/reflections", params={"since": odd})).status_code == 422, odd


async def test_a_very_long_task_is_told_up_to_a_bound_and_says_so(front: Front) -> None:
    line = {"role": "user", "content": "再来一次 " + "again " * 3}
    for part in range(3):
        turns = [{**line, "turn_id": f"t{part}-{number}"} for number in range(400)]
        assert (await front.post("/v1/sessions/long/turns", {"user_id": "ann", "turns": turns})).status_code == 200
    told = (await front.post("/v1/sessions/long/complete", {})).json()
    found = (await front.http.get(f"/v1/episodes/{told['episode_id']}")).json()
    assert (len(found["turns"]), found["truncated"]) == (1_000, True)
    assert found["turns"][0]["turn_id"] == "t0-0"
    short = (await front.post("/v1/episodes", RUN)).json()
    assert (await front.http.get(f"/v1/episodes/{short['episode_id']}")).json()["truncated"] is False
