"""What an idle session held is shown as its tasks, each with its own goal and outcome."""

from activities.close_idle import close_idle
from hindwise.ledger import sessions
from tests.api.front import Front
from tests.build import TENANT
from workflows.contracts import CloseIdleInput

TURNS = (
    ("user", "Please refund order 4410, the lamp arrived broken."),
    ("assistant", "Refunded, you get the money back by Friday."),
    ("user", "Perfect, that's everything I needed."),
    ("user", "新任务：帮我把会议纪要翻译成英文。"),
    ("assistant", "翻译好了。"),
    ("user", "不对，第二段漏了。"),
)


async def test_the_tasks_of_an_idle_session_are_shown_one_by_one(front: Front) -> None:
    """Told again by a worker that did not hear of its first try, nothing is added."""
    sent = [{"turn_id": f"t{n}", "role": role, "content": content} for n, (role, content) in enumerate(TURNS, 1)]
    recorded = await front.post("/v1/sessions/s1/turns", {"user_id": "ana", "agent_id": "desk", "turns": sent})
    assert recorded.status_code == 200, recorded.text
    await front.settled()
    handle = sessions.session_handle(front.engine.secret, TENANT, "s1")
    first = await close_idle(front.engine, CloseIdleInput(handle=handle, last_seq=6))
    assert await close_idle(front.engine, CloseIdleInput(handle=handle, last_seq=6)) == first

    listed = (await front.http.get("/v1/episodes", params={"user_id": "ana"})).json()
    found = sorted(listed["items"], key=lambda item: item["goal"])
    assert [(item["goal"], item["outcome"]["status"], item["closed_by"], item["session_id"]) for item in found] == [
        (TURNS[0][1], "success", "idle", "s1"),
        ("帮我把会议纪要翻译成英文。", "failure", "idle", "s1"),
    ]
    details = [(await front.http.get(f"/v1/episodes/{item['episode_id']}")).json() for item in found]
    assert [[turn["content"] for turn in detail["turns"]] for detail in details] == [
        [content for _, content in TURNS[:3]],
        [content for _, content in TURNS[3:]],
    ]
    assert tuple(detail["reflection_id"] for detail in details) == first.reflection_ids
