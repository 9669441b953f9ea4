"""A run reported as success and corrected to failure two days later no longer yields a success lesson, and the history says why."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from temporalio.testing import WorkflowEnvironment

from hindwise.ledger import memories
from hindwise.model.memory import LIVE
from tests.end_to_end.house import House, open_house
from tests.temporal_server import temporal_server

pytestmark = pytest.mark.asyncio(loop_scope="module")

AGENT = "desk"
RUNS: dict[str, dict[str, Any]] = {
    "en": {
        "ask": "Please move the subscription of a customer to the yearly plan.",
        "calls": ["find_customer", "quote_yearly_plan", "change_plan"],
        "end": "The subscription was moved to the yearly plan.",
        "query": "A customer wants to move the subscription to the yearly plan",
        "note": "missing: cancel_monthly_plan",
    },
    "zh": {
        "ask": "请把客户的订阅改为年付方案。",
        "calls": ["查询客户", "计算年付价格", "修改方案"],
        "end": "已将订阅改为年付方案。",
        "query": "客户希望把订阅改为年付方案",
        "note": "缺少调用：取消月付方案",
    },
}


def turns_of(lang: str) -> list[dict[str, Any]]:
    run = RUNS[lang]
    turns = [{"turn_id": "t0", "role": "user", "content": run["ask"]}]
    for number, name in enumerate(run["calls"], 1):
        call = {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": "{}"}}
        turns.append({"turn_id": f"a{number}", "role": "assistant", "content": "", "tool_calls": [call]})
        turns.append({"turn_id": f"r{number}", "role": "tool", "name": name, "tool_call_id": f"c{number}", "content": '{"status": "ok"}'})
    return [*turns, {"turn_id": "end", "role": "assistant", "content": run["end"]}]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def environment() -> AsyncIterator[WorkflowEnvironment]:
    """A Temporal server on which time can be skipped."""
    async with temporal_server() as started:
        yield started


@pytest_asyncio.fixture(loop_scope="module")
async def house(environment: WorkflowEnvironment, tmp_path: Path) -> AsyncIterator[House]:
    """The product, with an empty ledger."""
    async with open_house(tmp_path, environment) as opened:
        yield opened


async def recall(house: House, lang: str, user: str = "ann") -> list[dict[str, Any]]:
    """What an agent is told before the same task."""
    body = {"user_id": user, "agent_id": AGENT, "query": RUNS[lang]["query"], "limit": 20}
    items: list[dict[str, Any]] = (await house.post("/v1/recall", body, 200))["items"]
    return items


async def success_lessons(house: House) -> list[str]:
    """Ids of live lessons that tell a way to success."""
    rows = await house.engine.ledger.read(lambda conn: memories.page(conn, "default", [f"agent:{AGENT}", "user:ann"], limit=100))
    live = [memories.from_row(row) for row in rows if row.status in LIVE]
    return [memory.id for memory in live if memory.kind == "lesson" and memory.lesson_type == "strategy"]


async def _report_success(house: House, lang: str, door: str) -> dict[str, Any]:
    """The run, through one of the doors; its reflection is final."""
    owner, outcome = {"user_id": "ann", "agent_id": AGENT}, {"status": "success", "source": "env"}
    if door == "episode":
        body = {**owner, "run_id": f"run-{lang}", "turns": turns_of(lang), "outcome": outcome}
        told = await house.post("/v1/episodes", body, 202)
    else:
        await house.post(f"/v1/sessions/chat-{lang}/turns", {**owner, "turns": turns_of(lang)}, 200)
        told = await house.post(f"/v1/sessions/chat-{lang}/complete", {"outcome": outcome}, 202)
    assert (await house.final(told["reflection_id"])).status == "completed"
    return told


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("door", ["episode", "session"])
async def test_a_success_that_turns_out_a_failure_two_days_later_is_no_longer_told(house: House, lang: str, door: str) -> None:
    """Before: the way to success is in the brief, also of another user of the agent. After: it is in nobody's."""
    first = await _report_success(house, lang, door)
    lessons = await success_lessons(house)
    assert len(lessons) == 1
    for user in ("ann", "bob"):
        assert lessons[0] in [item["memory_id"] for item in await recall(house, lang, user)]

    await house.skip(timedelta(days=2), f"chat-{lang}" if door == "session" else "")
    verdict = {"status": "failure", "source": "env", "note": RUNS[lang]["note"]}
    where = f"?session_id=chat-{lang}" if door == "session" else f"?run_id=run-{lang}"
    second = await house.post(f"/v1/episodes/outcome{where}", verdict, 202)
    assert (second["episode_id"], second["duplicate"]) == (first["episode_id"], False)
    assert second["reflection_id"] != first["reflection_id"]
    assert (await house.final(second["reflection_id"])).status == "completed"

    assert await success_lessons(house) == []
    for user in ("ann", "bob"):
        items = await recall(house, lang, user)
        assert lessons[0] not in [item["memory_id"] for item in items]
        assert [item["kind"] for item in items].count("lesson") >= 1  # what the failure taught is told instead
    await _history_says_why(house, lessons[0], first, second)


async def _history_says_why(house: House, lesson: str, first: dict[str, Any], second: dict[str, Any]) -> None:
    memory = await house.get(f"/v1/memories/{lesson}")
    assert memory["status"] == "superseded"
    assert memory["close_reason"] == "the outcome was corrected: success -> failure"
    events = await house.engine.ledger.read(lambda conn: memories.history(conn, lesson))
    closed = [event for event in events if event.after["status"] == "superseded"]
    assert [(event.actor, event.why) for event in closed] == [(f"reflection:{second['reflection_id']}", memory["close_reason"])]
    assert closed[0].at == house.clock.now()
    assert closed[0].before["status"] == "active"
    reflection = await house.get(f"/v1/reflections/{second['reflection_id']}")
    assert (reflection["replaces"], reflection["reason"]) == (first["reflection_id"], memory["close_reason"])
    episode = await house.get(f"/v1/episodes/{first['episode_id']}")
    assert [(item["outcome"]["status"], item["accepted"]) for item in episode["verdicts"]] == [("success", True), ("failure", True)]


async def test_a_weaker_voice_corrects_nothing(house: House) -> None:
    """The environment said success; a judge's doubt is kept in the history and changes no lesson."""
    first = await _report_success(house, "en", "episode")
    lessons = await success_lessons(house)
    await house.skip(timedelta(days=2))
    doubt = await house.post(f"/v1/episodes/{first['episode_id']}/outcome", {"status": "failure", "source": "judge"}, 202)
    assert (doubt["duplicate"], doubt["reflection_id"]) == (True, first["reflection_id"])
    assert await success_lessons(house) == lessons
    episode = await house.get(f"/v1/episodes/{first['episode_id']}")
    assert [item["accepted"] for item in episode["verdicts"]] == [True, False]


async def test_the_same_correction_told_five_times_is_reflected_once(house: House) -> None:
    """Callers repeat: the second is a duplicate of the first."""
    first = await _report_success(house, "zh", "episode")
    await house.skip(timedelta(days=2))
    verdict = {"status": "failure", "source": "env", "note": RUNS["zh"]["note"]}
    told = [await house.post(f"/v1/episodes/{first['episode_id']}/outcome", verdict, 202) for _ in range(5)]
    assert [answer["duplicate"] for answer in told] == [False, True, True, True, True]
    assert len({answer["reflection_id"] for answer in told}) == 1
    assert (await house.final(told[0]["reflection_id"])).run_number == 1
