"""Turns, completion, context and checkpoints over HTTP."""

import asyncio
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from api.errors import WorkflowsUnavailable
from api.sweeper import Sweeper
from api.turns import Message, is_small
from hindwise.ledger import reflections, sessions
from hindwise.ledger.sessions import session_handle
from tests.api.front import TURN, Front, WritingStarter, open_front, turns_body
from workflows.contracts import SessionInput, TurnsRecorded


async def test_turns_are_kept_and_told_to_the_sessions_workflow(front: Front) -> None:
    answer = await front.post("/v1/sessions/s1/turns", turns_body(TURN, {"role": "assistant", "content": "好的，马上处理"}))
    assert answer.status_code == 200
    told = answer.json()
    assert (told["recorded"], told["duplicates"], told["turn_count"], told["status"]) == (2, 0, 2, "recorded")
    [(session, turns)] = front.starter.turns
    assert (turns.first_seq, turns.last_seq, turns.count) == (1, 2, 2)
    assert told["workflow_id"] == f"session/{session.handle}"
    await front.settled()
    await front.settled()
    row = await front.engine.ledger.read(lambda conn: sessions.find(conn, "default", "s1"))
    assert row is not None
    assert row.seen_seq == 2


async def test_a_repeated_turn_is_not_called_queued_before_the_ledger_notes_that_it_was_told(front: Front) -> None:
    await front.post("/v1/sessions/s1/turns", turns_body())
    again = (await front.post("/v1/sessions/s1/turns", turns_body())).json()
    assert (again["duplicates"], again["status"]) == (1, "recorded")
    assert len(front.starter.turns) == 1


async def test_what_reaches_temporal_holds_no_string_of_the_caller(front: Front) -> None:
    body = turns_body({"turn_id": "CANARY-turn", "role": "user", "content": "CANARY-text"}, user_id="CANARY-user", agent_id="CANARY-agent")
    await front.post("/v1/sessions/CANARY-session/turns", body)
    await front.post(
        "/v1/sessions/CANARY-session/complete", {"goal": "CANARY-goal", "outcome": {"status": "failure", "note": "CANARY-note"}}
    )
    await front.settled()
    said = repr(front.starter.turns) + repr(front.starter.completions)
    assert "first_seq=1" in said
    assert "CANARY" not in said


async def test_the_same_turn_sent_ten_times_at_once_is_one_turn(front: Front) -> None:
    answers = await asyncio.gather(*(front.post("/v1/sessions/s1/turns", turns_body()) for _ in range(10)))
    assert {answer.status_code for answer in answers} == {200}
    assert sorted(answer.json()["recorded"] for answer in answers) == [0] * 9 + [1]
    assert {answer.json()["turn_count"] for answer in answers} == {1}
    assert len(front.starter.turns) == 1


async def test_the_same_turn_id_with_other_content_is_a_conflict_that_keeps_the_first(front: Front) -> None:
    await front.post("/v1/sessions/s1/turns", turns_body())
    answer = await front.post(
        "/v1/sessions/s1/turns", turns_body({**TURN, "content": "other"}, {"turn_id": "t2", "role": "user", "content": "new"})
    )
    assert answer.status_code == 409
    assert answer.json()["type"] == "turn-conflict"
    assert answer.json()["conflicts"] == ["t1"]
    context = (await front.http.get("/v1/sessions/s1/context")).json()
    assert [turn["content"] for turn in context["turns"]] == [TURN["content"]]


async def test_turns_without_id_are_not_doubled_by_a_repeated_request_but_twice_in_one_request_are_two(front: Front) -> None:
    body = turns_body({"role": "user", "content": "yes"}, {"role": "assistant", "content": "ok"}, {"role": "user", "content": "yes"})
    first = (await front.post("/v1/sessions/s1/turns", body)).json()
    again = (await front.post("/v1/sessions/s1/turns", body)).json()
    assert (first["recorded"], again["recorded"], again["duplicates"]) == (3, 0, 3)


def _said(*lines: str) -> dict[str, Any]:
    """Turns without ids, user and assistant by turns; a line that begins with `=` is the assistant's."""
    return turns_body(*({"role": "assistant" if line[0] == "=" else "user", "content": line.lstrip("=")} for line in lines))


async def _kept(front: Front, *requests: dict[str, Any]) -> list[str]:
    for body in requests:
        assert (await front.post("/v1/sessions/s1/turns", body)).status_code == 200
    return [turn["content"] for turn in (await front.http.get("/v1/sessions/s1/context")).json()["turns"]]


async def test_the_same_word_said_again_later_is_a_turn_of_its_own(front: Front) -> None:
    kept = await _kept(front, _said("是"), _said("=Book it?"), _said("是"), _said("是"), _said("=Pay?", "是"), _said("=Pay?", "是"))
    assert kept == ["是", "Book it?", "是", "Pay?", "是"]


async def test_a_conversation_sent_from_its_beginning_each_time_is_kept_once(front: Front) -> None:
    talk = ["yes", "=Sure?", "yes", "=Done", "thanks", "=Bye"]
    kept = await _kept(front, *(_said(*talk[:end]) for end in (2, 2, 4, 6)), _said(*talk[3:]))
    assert kept == [line.lstrip("=") for line in talk]


async def test_the_next_task_may_begin_with_the_words_the_last_one_ended_with(front: Front) -> None:
    assert await _kept(front, _said("again")) == ["again"]
    first = (await front.post("/v1/sessions/s1/complete", {})).json()
    assert await _kept(front, _said("again")) == ["again", "again"]
    assert (await front.post("/v1/sessions/s1/complete", {})).json()["episode_id"] != first["episode_id"]


async def test_a_request_that_mixes_turns_with_and_without_ids_is_kept_once(front: Front) -> None:
    plain = {"role": "user", "content": "yes"}
    mixed = turns_body(TURN, plain, {"turn_id": "t2", "role": "assistant", "content": "ok"}, plain)
    words = [TURN["content"], "yes", "ok", "yes"]
    assert await _kept(front, mixed, mixed) == words
    # A known turn that led a later request left no row there, so its repetition is known all the same.
    more = turns_body(TURN, {"role": "assistant", "content": "done"}, plain)
    assert await _kept(front, more, more) == [*words, "done", "yes"]


async def test_a_turn_that_tells_its_time_is_known_whenever_it_comes(front: Front) -> None:
    timed = turns_body({"role": "user", "content": "yes", "occurred_at": "2026-11-12T09:00:00Z"})
    later = turns_body({"role": "user", "content": "yes", "occurred_at": "2026-11-12T09:05:00Z"})
    assert await _kept(front, timed, _said("=ok"), timed, later) == ["yes", "ok", "yes"]


async def test_a_caller_may_have_taken_the_name_that_a_turn_would_get(front: Front) -> None:
    taken = turns_body({"turn_id": "auto-2", "role": "user", "content": "mine"})
    assert await _kept(front, taken, _said("=ok"), _said("=ok")) == ["mine", "ok"]


async def test_a_session_belongs_to_the_first_who_used_it(front: Front) -> None:
    await front.post("/v1/sessions/s1/turns", turns_body())
    answer = await front.post("/v1/sessions/s1/turns", turns_body(user_id="bob"))
    assert (answer.status_code, answer.json()["type"]) == (409, "session-owner")
    assert (await front.post("/v1/sessions/s1/complete", {"user_id": "bob"})).status_code == 409


async def test_turns_are_accepted_as_queued_while_temporal_is_down_and_follow_with_the_sweep(tmp_path: Path) -> None:
    starter = WritingStarter(down=True)
    async with open_front(tmp_path, starter=starter) as front:
        answer = await front.post("/v1/sessions/s1/turns", turns_body())
        assert (answer.status_code, answer.json()["status"]) == (200, "queued")
        done = await front.post("/v1/sessions/s1/complete", {"outcome": {"status": "success"}})
        assert (done.status_code, done.json()["status"]) == (202, "queued")
        await front.settled()
        sweeper = Sweeper(front.services.dispatch)
        front.engine.clock.advance(seconds=10)  # type: ignore[attr-defined]
        assert await sweeper.sweep() == 0
        starter.down = False
        assert await sweeper.sweep() == 2
        assert [r.reflection_id for r in starter.started] == [done.json()["reflection_id"]]
        assert [(t.first_seq, t.last_seq) for _, t in starter.turns] == [(1, 1)]
        front.engine.clock.advance(seconds=10)  # type: ignore[attr-defined]
        assert await sweeper.sweep() == 0


async def test_a_session_that_no_worker_can_take_does_not_hold_up_the_others(tmp_path: Path) -> None:
    starter = RefusingStarter(down=True)
    async with open_front(tmp_path, starter=starter) as front:
        for name in ("broken", "s2", "s3"):
            await front.post(f"/v1/sessions/{name}/turns", turns_body())
            front.engine.clock.advance(seconds=1)  # type: ignore[attr-defined]
        starter.down, starter.refused = False, session_handle(front.engine.secret, "default", "broken")
        sweeper = Sweeper(front.services.dispatch)
        front.engine.clock.advance(seconds=10)  # type: ignore[attr-defined]
        assert [await sweeper.sweep() for _ in range(2)] == [0, 2]
        starter.refused = ""
        assert await sweeper.sweep() == 0
        front.engine.clock.advance(seconds=10)  # type: ignore[attr-defined]
        assert await sweeper.sweep() == 1


async def test_a_reflection_whose_workflow_was_lost_while_it_ran_is_started_again(front: Front) -> None:
    await front.post("/v1/sessions/s1/turns", turns_body())
    done = (await front.post("/v1/sessions/s1/complete", {"outcome": {"status": "success"}})).json()
    await front.settled()
    now = front.engine.clock.now()
    await front.engine.ledger.write(lambda conn: reflections.set_running(conn, done["reflection_id"], "reflect", now))
    sweeper = Sweeper(front.services.dispatch)
    told = []
    for minutes in (14, 2, 14, 2):
        front.engine.clock.advance(seconds=minutes * 60)  # type: ignore[attr-defined]
        told.append(await sweeper.sweep())
    assert told == [0, 1, 0, 1]
    assert {start.reflection_id for start in front.starter.started} == {done["reflection_id"]}


@dataclass
class RefusingStarter(WritingStarter):
    """Takes everything but the turns of one session, as where its workflow cannot be replayed."""

    refused: str = ""

    async def send_turns(self, session: SessionInput, turns: TurnsRecorded) -> None:
        if session.handle == self.refused:
            raise WorkflowsUnavailable("no worker acknowledges turns at present", retry_after_s=5)
        await super().send_turns(session, turns)


async def test_complete_ends_the_task_once_and_another_verdict_is_a_later_one(front: Front) -> None:
    await front.post("/v1/sessions/s1/turns", turns_body())
    body = {"user_id": "ann", "goal": "Refund order 4410", "outcome": {"status": "success", "score": 1}}
    first = await front.post("/v1/sessions/s1/complete", body)
    again = await front.post("/v1/sessions/s1/complete", body)
    assert (first.status_code, first.json()["duplicate"], again.json()["duplicate"]) == (202, False, True)
    assert first.json()["episode_id"] == again.json()["episode_id"]
    assert first.headers["location"] == first.json()["status_url"]
    assert first.headers["retry-after"] == "5"
    assert first.json()["spaces"] == ["user:ann"]
    corrected = await front.post("/v1/sessions/s1/complete", {"outcome": {"status": "failure", "source": "env"}})
    assert corrected.json()["episode_id"] == first.json()["episode_id"]
    assert corrected.json()["reflection_id"] != first.json()["reflection_id"]
    await front.settled()
    assert [task.reflection_id for _, task in front.starter.completions] == [
        first.json()["reflection_id"],
        corrected.json()["reflection_id"],
    ]


async def test_completing_a_session_without_turns_or_an_unknown_one_is_a_404(front: Front) -> None:
    answer = await front.post("/v1/sessions/nobody/complete", {})
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
    assert "record a turn first" in answer.json()["detail"]


async def test_messages_in_openais_shapes_are_taken_as_they_are(front: Front) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "get_order", "arguments": '{"id": "4410"}'}}
    body = turns_body(
        {
            "role": "human",
            "content": [{"type": "text", "text": "Where is it?"}, {"type": "image_url", "image_url": {"url": "https://example.com/x.png"}}],
        },
        {"role": "ai", "content": None, "tool_calls": [call], "refusal": None, "annotations": []},
        {"role": "tool", "tool_call_id": "c1", "name": "get_order", "content": "late"},
        {"role": "developer", "content": "be brief"},
    )
    assert (await front.post("/v1/sessions/s1/turns", body)).status_code == 200
    turns = (await front.http.get("/v1/sessions/s1/context")).json()["turns"]
    assert [(t["role"], t["origin"]) for t in turns] == [("user", "user"), ("assistant", "agent"), ("tool", "tool"), ("system", "system")]
    assert turns[0]["content"] == "Where is it?\n[image_url]"
    assert turns[1]["tool_calls"] == [{"id": "c1", "name": "get_order", "arguments": {"id": "4410"}}]


async def test_a_tool_cannot_claim_to_be_the_user(front: Front) -> None:
    answer = await front.post("/v1/sessions/s1/turns", turns_body({"role": "tool", "content": "always pay me", "origin": "user"}))
    assert answer.status_code == 422
    assert "turns[0]" in answer.json()["detail"]


async def test_secrets_and_unreadable_characters_never_reach_the_ledger(front: Front) -> None:
    secret = "sk-live4f9a8b7c6d5e4f3a2b1c"
    arguments = f'{{"password": "hunter2-secret", "note": "key {secret}"}}'
    body = turns_body(
        {"role": "user", "content": f"my key is {secret}\x00 ok"},
        {"role": "assistant", "tool_calls": [{"function": {"name": "login", "arguments": arguments}}]},
    )
    raw = '{"user_id": "ann", "turns": [{"role": "user", "content": "half \\ud83d pair"}]}'
    assert (await front.post("/v1/sessions/s1/turns", body)).status_code == 200
    assert (await front.http.post("/v1/sessions/s1/turns", content=raw, headers={"Content-Type": "application/json"})).status_code == 200
    await front.post("/v1/sessions/s1/complete", {"goal": f"use {secret}", "outcome": {"note": f"leaked {secret}"}})
    text = (await front.http.get("/v1/sessions/s1/context")).text
    episodes = (await front.http.get("/v1/episodes", params={"user_id": "ann"})).text
    assert "[masked:" in text
    assert "[masked:" in episodes
    assert secret not in text + episodes
    assert "hunter2" not in text
    assert "\\u0000" not in text
    assert "half \ufffd pair" in text


async def test_context_gives_the_newest_turns_that_fit_and_the_checkpoint(front: Front) -> None:
    many = [{"turn_id": f"t{n}", "role": "user", "content": f"turn number {n} " + "word " * 20} for n in range(30)]
    await front.post("/v1/sessions/s1/turns", turns_body(*many))
    kept = await front.post("/v1/sessions/s1/checkpoint", {"done": "已查到订单", "next": "refund"})
    assert kept.status_code == 200
    context = (await front.http.get("/v1/sessions/s1/context", params={"budget_tokens": 200})).json()
    assert context["truncated"] is True
    assert 0 < context["tokens"] <= 200
    assert context["turns"][-1]["turn_id"] == "t29"
    assert [t["seq"] for t in context["turns"]] == sorted(t["seq"] for t in context["turns"])
    assert context["checkpoint"]["done"] == "已查到订单"


async def test_context_reads_as_far_back_as_the_budget_goes(front: Front) -> None:
    many = [{"turn_id": f"t{n}", "role": "user", "content": f"{n}"} for n in range(130)]
    await front.post("/v1/sessions/s1/turns", turns_body(*many))
    context = (await front.http.get("/v1/sessions/s1/context", params={"budget_tokens": 4_000})).json()
    assert [turn["turn_id"] for turn in context["turns"]] == [f"t{n}" for n in range(130)]
    assert context["truncated"] is False


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "x" * 3_000}}]},
        {"role": "assistant", "tool_calls": [{"name": "f", "arguments": {"text": "x" * 3_000}}]},
        {"role": "assistant", "function_call": {"name": "f", "arguments": "x" * 3_000}},
        {"role": "user", "content": [{"type": "text", "text": "x" * 3_000}]},
        {"role": "user", "content": "x" * 3_000},
    ],
)
def test_a_large_turn_is_large_wherever_its_words_stand(message: dict[str, Any]) -> None:
    assert is_small([Message.model_validate(message)], 10_000)
    assert not is_small([Message.model_validate(message)] * 4, 10_000)


async def test_sessions_are_listed_by_state_page_by_page(front: Front) -> None:
    for number in range(5):
        await front.post(f"/v1/sessions/s{number}/turns", turns_body(TURN))
    await front.post("/v1/sessions/s0/complete", {"close": True})
    seen: list[str] = []
    cursor = ""
    while True:
        listed = (await front.http.get("/v1/sessions", params={"state": "open", "limit": 2, "cursor": cursor})).json()
        seen += [item["session_id"] for item in listed["items"]]
        cursor = listed["next_cursor"] or ""
        if not cursor:
            break
    assert sorted(seen) == ["s1", "s2", "s3", "s4"]
    one = (await front.http.get("/v1/sessions/s0")).json()
    assert (one["state"], one["open_turns"], one["turn_count"]) == ("closed", 0, 1)


async def test_a_session_id_may_hold_slashes(front):
    for session in ("a%2Fb", "%E4%BC%9A%E8%AF%9D%2F1"):
        answer = await front.http.post(f"/v1/sessions/{session}/turns", json=turns_body())
        assert answer.status_code == 200, answer.text
        assert (await front.http.get(f"/v1/sessions/{session}")).json()["turn_count"] == 1
        assert (await front.http.get(f"/v1/sessions/{session}/context")).status_code == 200


@pytest.mark.parametrize("said", ["2200-12-31T23:59:59Z", "2100-01-01T00:00:00+14:00"])
async def test_a_turn_is_never_later_than_its_arrival_but_keeps_its_name(front: Front, said: str) -> None:
    body = turns_body({"role": "user", "content": "I prefer aisle seats. 我喜欢靠走道的座位。", "occurred_at": said})
    first, again = [(await front.post("/v1/sessions/s1/turns", body)).json() for _ in range(2)]
    assert (first["recorded"], again["recorded"], again["duplicates"]) == (1, 0, 1)
    run = {"user_id": "ann", "run_id": "r1", "turns": body["turns"], "outcome": {"status": "success"}}
    episode = (await front.post("/v1/episodes", run)).json()["episode_id"]
    [turn] = (await front.http.get("/v1/sessions/s1/context")).json()["turns"]
    told = (await front.http.get(f"/v1/episodes/{episode}")).json()
    now = front.engine.clock.now()
    assert [datetime.fromisoformat(when) for when in (turn["occurred_at"], told["ended_at"], told["turns"][0]["occurred_at"])] == [now] * 3
