"""The Dify hook over HTTP: accepted at once, once, and never a 4xx for a run already known."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from hindwise.ledger.schema import episodes, reflections
from tests.api.front import Front, WritingStarter, open_front

RUN = {
    "source": "dify",
    "event": "workflow.finished",
    "run": {"workflow_run_id": "run-1", "workflow_id": "w", "app_id": "app-1", "user_id": "crm-7"},
    "status": "failed",
    "error": "政策服务超时",
    "task": {"goal": "Reply to a late-order complaint", "inputs": {"order_id": "4410"}},
    "outputs": {},
    "steps": [{"title": "Policy", "type": "tool", "output": "", "error": "timeout"}],
}


async def counted(front: Front) -> tuple[int, int]:
    """How many episodes and reflections the ledger holds."""

    def work(conn: Any) -> tuple[int, int]:
        numbers = [conn.execute(select(func.count()).select_from(table)).scalar_one() for table in (episodes, reflections)]
        return numbers[0], numbers[1]

    return await front.engine.ledger.read(work)


async def test_a_finished_run_is_accepted_and_its_reflection_started(front: Front) -> None:
    answer = await front.post("/v1/hooks/dify", RUN)
    assert answer.status_code == 202
    told = answer.json()
    assert told["spaces"] == ["user:crm-7", "agent:app-1"]
    assert told["workflow_id"] == f"reflect/{told['reflection_id']}"
    assert answer.headers["location"] == told["status_url"] == f"/v1/reflections/{told['reflection_id']}"
    await front.settled()
    assert [start.reflection_id for start in front.starter.started] == [told["reflection_id"]]
    episode = (await front.http.get(f"/v1/episodes/{told['episode_id']}")).json()
    assert (episode["source"], episode["run_id"], episode["outcome"]["source"]) == ("dify", "run-1", "env")
    assert (await front.http.get(told["status_url"])).json()["status"] == "queued"


async def test_the_same_body_ten_times_at_once_is_one_episode_and_one_reflection(front: Front) -> None:
    answers = await asyncio.gather(*(front.post("/v1/hooks/dify", RUN) for _ in range(10)))
    assert {answer.status_code for answer in answers} == {202}
    assert sum(not answer.json()["duplicate"] for answer in answers) == 1
    assert len({answer.json()["reflection_id"] for answer in answers}) == 1
    await front.settled()
    assert await counted(front) == (1, 1)
    assert len(front.starter.started) == 1


async def test_a_known_run_with_another_body_is_accepted_as_different_and_the_first_is_kept(front: Front) -> None:
    first = (await front.post("/v1/hooks/dify", RUN)).json()
    other = await front.post("/v1/hooks/dify", {**RUN, "error": "something else"})
    assert (other.status_code, other.json()["duplicate"], other.json()["differs"]) == (202, True, True)
    assert other.headers["idempotent-replayed"] == "true"
    assert other.json()["reflection_id"] == first["reflection_id"]
    episode = (await front.http.get(f"/v1/episodes/{first['episode_id']}")).json()
    assert episode["outcome"]["note"] == "政策服务超时"


async def test_a_run_is_accepted_in_well_under_a_second_while_temporal_is_down(tmp_path: Path) -> None:
    async with open_front(tmp_path, starter=WritingStarter(down=True)) as front:
        began = time.perf_counter()
        answer = await front.post("/v1/hooks/dify", RUN)
        assert (answer.status_code, answer.json()["status"]) == (202, "queued")
        assert time.perf_counter() - began < 1


@pytest.mark.parametrize("content_type", [None, "text/plain", "application/octet-stream", "application/x-www-form-urlencoded", "nonsense"])
async def test_the_content_type_is_not_asked(front: Front, content_type: str | None) -> None:
    headers = {"Content-Type": content_type} if content_type else {}
    answer = await front.http.post("/v1/hooks/dify", content=json.dumps(RUN).encode(), headers=headers)
    assert answer.status_code == 202


async def test_what_is_no_end_of_a_run_is_ignored_with_a_reason(front: Front) -> None:
    answer = await front.post("/v1/hooks/dify", {"event": "workflow_finished", "data": {"status": "paused"}})
    assert (answer.status_code, answer.json()["status"]) == (202, "ignored")
    assert "paused" in answer.json()["reason"]
    assert await counted(front) == (0, 0)


async def test_an_anonymous_run_is_readable_by_no_named_user(front: Front) -> None:
    told = (await front.post("/v1/hooks/dify", {**RUN, "run": {"workflow_run_id": "r"}})).json()
    assert told["spaces"] == ["user:~anonymous:dify"]
    asked = await front.post("/v1/recall", {"user_id": "~anonymous:dify", "query": "late order"})
    assert asked.status_code == 422


async def test_a_signature_that_cannot_be_checked_is_not_passed_over(front: Front) -> None:
    answer = await front.post("/v1/hooks/dify", RUN, **{"webhook-signature": "v1,abc"})
    assert answer.status_code == 401
    assert await counted(front) == (0, 0)


@pytest.mark.parametrize("with_id", [True, False])
async def test_an_idempotency_key_never_fails_the_senders_run(front: Front, with_id: bool) -> None:
    """The README of the example sets it to the run's id: another body under it is told, as for any known run, and the first is kept."""
    body = RUN if with_id else {**RUN, "run": {**RUN["run"], "workflow_run_id": None}}  # type: ignore[dict-item]
    answers = [await front.post("/v1/hooks/dify", sent, **{"Idempotency-Key": "k1"}) for sent in (body, body, {**body, "error": "other"})]
    assert [answer.status_code for answer in answers] == [202, 202, 202]
    assert [(answer.json()["duplicate"], answer.json()["differs"]) for answer in answers] == [(False, False), (True, False), (True, True)]
    assert await counted(front) == (1, 1)


async def test_an_unknown_source_is_a_404_that_names_the_known_one(front: Front) -> None:
    answer = await front.post("/v1/hooks/zapier", RUN)
    assert answer.status_code == 404
    assert "dify" in answer.json()["detail"]
