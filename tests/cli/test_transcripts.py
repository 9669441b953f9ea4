"""Transcript files become episodes: every shape that agents write, and a helpful refusal of the rest."""

import json

import pytest

from hindwise.cli import transcripts
from hindwise.cli.exits import USAGE, Ended
from tests.data import eval_data

CHAT = [
    {"role": "user", "content": "帮我退票"},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "function": {"name": "cancel", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "c1", "content": "ok", "hidden_thought": "never sent"},
]


def test_an_array_of_messages_is_one_run():
    (episode,) = transcripts.read(json.dumps(CHAT), "chat.json")
    assert [turn["role"] for turn in episode["turns"]] == ["user", "assistant", "tool"]
    assert episode["turns"][1] == {"role": "assistant", "tool_calls": CHAT[1]["tool_calls"]}
    assert "hidden_thought" not in episode["turns"][2]


def test_json_lines_of_messages_are_one_run():
    text = "\ufeff" + "\n".join(json.dumps(message, ensure_ascii=False) for message in CHAT) + "\n\n"
    (episode,) = transcripts.read(text, "chat.jsonl")
    assert len(episode["turns"]) == 3


def test_json_lines_of_runs_are_several():
    runs = [{"run_id": f"r{n}", "messages": CHAT, "reward": float(n)} for n in range(2)]
    episodes = transcripts.read("\n".join(map(json.dumps, runs)), "runs.jsonl")
    assert [episode["run_id"] for episode in episodes] == ["r0", "r1"]
    assert [episode["outcome"]["status"] for episode in episodes] == ["failure", "success"]


def test_a_record_brings_goal_owner_and_outcome():
    record = {"messages": CHAT, "goal": "refund", "user_id": "ana", "agent_id": "travel", "outcome": {"status": "partial", "note": "later"}}
    (episode,) = transcripts.read(json.dumps(record), "run.json")
    assert {name: episode[name] for name in ("goal", "user_id", "agent_id", "outcome")} == {
        "goal": "refund",
        "user_id": "ana",
        "agent_id": "travel",
        "outcome": {"status": "partial", "note": "later"},
    }


def test_what_the_agent_never_saw_stays_out():
    record = {"messages": CHAT, "hidden_instruction": "secret", "expected_actions": [1]}
    assert "secret" not in json.dumps(transcripts.read(json.dumps(record), "run.json"))


def test_the_same_words_get_the_same_run_id_and_others_another():
    first, again = (transcripts.read(json.dumps(CHAT), name)[0]["run_id"] for name in ("a.json", "b.json"))
    other = transcripts.read(json.dumps(CHAT[:1]), "a.json")[0]["run_id"]
    assert first == again != other


def test_the_same_words_of_another_user_or_agent_are_another_run():
    def run_id(record: object, **owner: str) -> str:
        return transcripts.read(json.dumps(record), "a.json", **owner)[0]["run_id"]

    anas = run_id(CHAT, user="ana")
    assert len({anas, run_id(CHAT, user="ben"), run_id(CHAT, agent="ana"), run_id(CHAT, user="ana", agent="travel"), run_id(CHAT)}) == 5
    assert anas == run_id({"messages": CHAT, "user_id": "ana"}) == run_id({"messages": CHAT, "user_id": "ben"}, user="ana")
    assert run_id(CHAT) == run_id(CHAT, user="default")
    assert run_id({"messages": CHAT, "run_id": "r1"}, user="ana") == "r1"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "it is empty"),
        ("hello", "line 1 is neither JSON"),
        ('{"role": "user"}\n{oops', "line 2"),
        ('{"goal": "x"}', "no list of messages"),
        ("[1, 2]", "no list of messages"),
        ("[]", "no list of messages"),
        ('{"messages": [{"content": "x"}]}', "message 1 has no role"),
        ("null", "no list of messages"),
    ],
)
def test_what_is_no_transcript_is_refused_with_the_expected_shape(text, told):
    with pytest.raises(Ended) as refused:
        transcripts.read(text, "x.json")
    assert told in refused.value.message
    assert "role" in refused.value.next_step
    assert refused.value.code == USAGE


@pytest.mark.eval_data
def test_every_airline_run_is_read():
    episodes = transcripts.read(eval_data("tau_airline.jsonl").read_text(encoding="utf-8"), "tau_airline.jsonl")
    assert len(episodes) == 100
    assert sum(episode["outcome"]["status"] == "success" for episode in episodes) == 43
    assert len({episode["run_id"] for episode in episodes}) == 100


@pytest.mark.eval_data
def test_a_chinese_users_day_is_read():
    (episode,) = transcripts.read(eval_data("hermes_session_zh.jsonl").read_text(encoding="utf-8"), "day.jsonl")
    assert episode["turns"][0]["content"] == "测试"
    assert episode["turns"][0]["occurred_at"].startswith("2026-05-15")
