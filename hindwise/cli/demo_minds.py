"""Acts 3 and 4: a user changes their mind; a Chinese Dify run fails and the next brief names the cause."""

import re
from typing import Any

from hindwise.cli.console import short_time
from hindwise.cli.demo_data import load_dify_failure
from hindwise.cli.demo_show import Show
from hindwise.cli.demo_stage import Stage

USER = "robin"
_SIMILAR_TASK = "提交上海出差的交通费报销单"
_CHANGE = re.compile(r"changed: (.+) -> (.+)")
"""How the ledger's reason names two values."""
_CAUSE_ENDS = "，"
"""An error's first clause is its cause; what follows is advice."""


def user_changes_mind(show: Show) -> None:
    """Act 3: the brief before and after, and the older wish in the history."""
    stage = show.stage
    stage.act(3)
    query = stage.words("seat_query")
    _talk(show, "trip-1", "seat_first", "seat_reply")
    stage.quote("brief_before", show.recall(query, user_id=USER)["brief"])
    _talk(show, "trip-2", "seat_second", "seat_second_reply")
    after = show.recall(query, user_id=USER)
    stage.quote("brief_after", after["brief"])
    wished = [item["conclusion"] for item in after["items"] if item["kind"] == "preference"]
    old, new = stage.words("seat_old"), stage.words("seat_new")
    history = [m for m in show.all_of("/v1/memories", user_id=USER, kind="preference", status="superseded") if old in m["conclusion"]]
    for memory in history[:1]:
        older = show.api.get(f"/v1/memories/{memory['memory_id']}")
        stage.quote("history", f"{older['conclusion']}\n{_became(stage, older)}")
    holds = any(new in line for line in wished) and not any(old in line for line in wished)
    holds = holds and any(m["close_reason"] and m["superseded_by"] for m in history)
    show.promise(holds, "act3_checked", status=stage.words("status_superseded") if history else "?")


def _became(stage: Stage, older: dict[str, Any]) -> str:
    """What became of a superseded memory, and why, in the audience's language; a reason of another form stands as it is."""
    reason = str(older["close_reason"])
    if change := _CHANGE.fullmatch(reason):
        reason = stage.words("changed", old=change[1], new=change[2])
    return stage.words("became", status=stage.words("status_superseded"), reason=reason, when=short_time(older["closed_at"]))


def _talk(show: Show, session: str, says_key: str, reply_key: str) -> None:
    """One short conversation, completed, and reflected upon."""
    says = show.stage.words(says_key)
    show.stage.quote("user_says", says)
    turns: list[dict[str, Any]] = [
        {"turn_id": "1", "role": "user", "content": says},
        {"turn_id": "2", "role": "assistant", "content": show.stage.words(reply_key)},
    ]
    show.api.post(f"/v1/sessions/{session}/turns", {"user_id": USER, "turns": turns})
    outcome = {"status": "success", "source": "user"}
    show.settle(show.api.post(f"/v1/sessions/{session}/complete", {"user_id": USER, "outcome": outcome, "close": True}))


def dify_run_fails(show: Show) -> None:
    """Act 4: the webhook of a failed run, and the brief for a similar task."""
    body = load_dify_failure(show.place)
    cause = body["steps"][-1]["error"].split(_CAUSE_ENDS)[0]
    show.stage.act(4)
    show.stage.say("dify_goal", goal=body["task"]["goal"], error=body["error"])
    show.settle(show.api.post("/v1/hooks/dify", body))
    recalled = show.recall(_SIMILAR_TASK, user_id=body["run"]["user_id"], agent_id=body["run"]["app_id"])
    show.stage.quote("next_brief", recalled["brief"], query=_SIMILAR_TASK)
    show.promise(recalled["lang"] == "zh" and cause in recalled["brief"], "act4_checked", cause=cause)
