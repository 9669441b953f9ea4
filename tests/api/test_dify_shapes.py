"""Every shape in which Dify tells of a run becomes the same kind of value; what is no end of a run is said to be none."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from api.dify import DifyRun, Ignored, normalise
from api.storing import Storing
from hindwise.errors import InvalidInput
from hindwise.model.space import anonymous_user
from tests.data import eval_data

NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)

RUNS = {
    "blocking_failed_en.json": ("failure", "env", "~anonymous:dify", ""),
    "blocking_partial_zh.json": ("partial", "rule", "~anonymous:dify", ""),
    "blocking_stopped_en.json": ("aborted", "rule", "~anonymous:dify", ""),
    "blocking_succeeded_zh.json": ("success", "rule", "~anonymous:dify", ""),
    "canvas_chatflow_zh.json": ("success", "rule", "hr-0012", "回答员工关于年假结转的问题"),
    "canvas_failed_zh.json": ("failure", "env", "hr-0007", "提交4月6日至4月30日的年假申请"),
    "canvas_partial_en.json": ("partial", "rule", "crm-4821", "Write a refund letter for order 8842"),
    "canvas_succeeded_en.json": ("success", "rule", "crm-4821", "Write a refund letter for order 8841"),
    "canvas_tricky_text_en.json": ("success", "rule", "dev-0001", "Explain where the log file is"),
    "form_failed_zh.txt": ("failure", "env", "hr-0007", "查询报销进度"),
    "form_succeeded_en.txt": ("success", "rule", "crm-4821", "Write a refund letter for order 8850"),
    "run_detail_failed_en.json": ("failure", "env", "~anonymous:dify", ""),
    "run_detail_stopped_zh.json": ("aborted", "rule", "hr-0007", ""),
    "run_detail_succeeded_en.json": ("success", "rule", "~anonymous:dify", ""),
    "workflow_finished_failed_zh.json": ("failure", "env", "hr-0007", ""),
    "workflow_finished_partial_en.json": ("partial", "rule", "crm-4821", ""),
    "workflow_finished_stopped_zh.json": ("aborted", "rule", "hr-0007", ""),
    "workflow_finished_succeeded_en.json": ("success", "rule", "crm-4821", ""),
}
NO_RUNS = (
    "api_extension_ping.json",
    "api_extension_query_en.json",
    "external_knowledge_query_en.json",
    "external_knowledge_probe_empty_body.txt",
)


def payload(name: str) -> bytes:
    return eval_data(f"dify_payloads/{name}").read_bytes()


def run_of(body: bytes, content_type: str = "application/json", **query: str) -> DifyRun:
    found = normalise(body, content_type, query, NOW, storing=Storing())
    assert isinstance(found, DifyRun)
    return found


def test_every_payload_of_the_data_is_in_one_of_the_lists() -> None:
    names = {path.name for path in Path(eval_data("dify_payloads")).iterdir()}
    told = {*RUNS, *NO_RUNS, *(n for n in names if n.startswith(("chat_message", "external_knowledge", "api_extension")))}
    assert names <= told


@pytest.mark.eval_data
@pytest.mark.parametrize("content_type", ["application/json", "text/plain", "", "application/x-www-form-urlencoded"])
@pytest.mark.parametrize("name", RUNS)
def test_a_run_is_understood_whatever_the_content_type_says(name: str, content_type: str) -> None:
    status, source, user_id, goal = RUNS[name]
    run = run_of(payload(name), content_type)
    assert (run.outcome.status, run.outcome.source, run.user_id, run.goal) == (status, source, user_id, goal)
    assert run.run_id in payload(name).decode()
    assert run.turns or status == "aborted"  # a stopped run may bring nothing but that it was stopped
    if status == "failure":
        assert run.turns[-1].role == "system"
        assert run.turns[-1].content == f"ERROR: {run.outcome.note}"
        assert run.outcome.note


@pytest.mark.eval_data
def test_the_same_run_in_two_shapes_has_one_id() -> None:
    assert run_of(payload("workflow_finished_succeeded_en.json")).run_id == run_of(payload("run_detail_succeeded_en.json")).run_id
    assert run_of(payload("blocking_failed_en.json")).run_id == run_of(payload("run_detail_failed_en.json")).run_id


@pytest.mark.eval_data
def test_steps_become_tool_turns_and_a_failed_one_says_so() -> None:
    run = run_of(payload("canvas_failed_zh.json"))
    assert [(turn.role, turn.name) for turn in run.turns] == [
        ("user", ""),
        ("tool", "查询剩余年假"),
        ("tool", "校验天数"),
        ("system", ""),
    ]
    assert run.turns[0].content.startswith("提交4月6日至4月30日的年假申请\n")
    assert "employee_id: hr-0007" in run.turns[0].content
    assert run.turns[2].content == "ERROR: 请假天数 25 超过剩余年假 5"
    assert run.agent_id == "e9b9c8e7-d827-50d1-a982-15a8fd16014f"


@pytest.mark.eval_data
def test_a_tricky_answer_arrives_word_for_word() -> None:
    body = payload("canvas_tricky_text_en.json")
    answer = run_of(body).turns[-1]
    assert (answer.role, answer.content) == ("assistant", json.loads(body)["outputs"]["answer"])


@pytest.mark.eval_data
@pytest.mark.parametrize("name", ["chat_message_blocking_en.json", "chat_message_agent_zh.json"])
def test_a_chat_answer_is_no_end_of_a_run(name: str) -> None:
    found = normalise(payload(name), "application/json", {}, NOW, storing=Storing())
    assert isinstance(found, Ignored)
    assert "chat answer" in found.reason


@pytest.mark.eval_data
@pytest.mark.parametrize("name", NO_RUNS)
def test_requests_of_other_doors_are_refused_with_what_is_understood(name: str) -> None:
    with pytest.raises(InvalidInput, match="canvas envelope"):
        normalise(payload(name), "application/json", {}, NOW, storing=Storing())


@pytest.mark.parametrize("status", ["running", "paused", "scheduled"])
def test_a_status_that_is_no_end_is_ignored(status: str) -> None:
    body = json.dumps({"event": "workflow_finished", "workflow_run_id": "r", "data": {"status": status}}).encode()
    assert isinstance(normalise(body, "", {}, NOW, storing=Storing()), Ignored)


@pytest.mark.parametrize("event", ["workflow_started", "node_finished", "workflow_paused", "ping"])
def test_an_event_that_is_no_end_is_ignored(event: str) -> None:
    found = normalise(json.dumps({"event": event, "data": {"status": "succeeded"}}).encode(), "", {}, NOW, storing=Storing())
    assert isinstance(found, Ignored)


def test_the_query_overrules_the_body() -> None:
    body = json.dumps({"status": "succeeded", "run": {"user_id": "u", "app_id": "a"}, "task": {"goal": "g"}}).encode()
    run = run_of(body, user_id="U", agent_id="A", goal="G")
    assert (run.user_id, run.agent_id, run.goal) == ("U", "A", "G")


def test_a_run_without_an_id_is_named_by_its_content_whatever_the_order_of_its_keys() -> None:
    first = run_of(b'{"status":"succeeded","outputs":{"a":"1","b":"2"}}')
    again = run_of(b'{"outputs":{"b":"2","a":"1"},"status":"succeeded"}')
    other = run_of(b'{"outputs":{"b":"3","a":"1"},"status":"succeeded"}')
    assert first.run_id == again.run_id != other.run_id


def test_a_user_that_cannot_be_one_is_refused_and_never_becomes_the_anonymous_owner() -> None:
    stolen = json.dumps({"status": "succeeded", "run": {"user_id": anonymous_user("dify")}}).encode()
    with pytest.raises(InvalidInput, match="reserved"):
        normalise(stolen, "", {}, NOW, storing=Storing())


def test_success_counts_as_the_environments_word_only_where_the_body_says_so() -> None:
    said = run_of(json.dumps({"status": "succeeded", "outcome": {"source": "env", "score": 0.9, "note": "paid"}}).encode())
    assert (said.outcome.source, said.outcome.score, said.outcome.note) == ("env", 0.9, "paid")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"   ",
        b"[]",
        b"null",
        b"{}",
        b"{",
        b'"x"',
        b"a=1&b=2",
        b"\xff\xfe",
        b'{"status":' + b"[" * 5_000 + b"]" * 5_000 + b"}",
        b'{"status": 1e999}',
        b"&" * 5_000,
    ],
)
def test_malformed_bodies_are_refused(body: bytes) -> None:
    with pytest.raises(InvalidInput):
        normalise(body, "application/json", {}, NOW, storing=Storing())


@pytest.mark.parametrize(
    "extra",
    [
        {"created_at": 10**30, "finished_at": -5},
        {"created_at": "yesterday", "elapsed_time": "soon"},
        {"outputs": [1, {"a": None}], "steps": ["x", 1, None, {"title": 5, "output": {"deep": [1]}}]},
        {"inputs": "not json", "error": {"code": 7}},
        {"outputs": "x" * 600_000},
        {"steps": [{"output": "y"}] * 700},
    ],
)
def test_absurd_values_are_taken_as_far_as_they_can_be(extra: dict[str, object]) -> None:
    run = run_of(json.dumps({"status": "failed", "workflow_run_id": "r1", **extra}).encode())
    assert run.started_at <= run.ended_at
    assert all(len(turn.content.encode()) <= 256 * 1024 for turn in run.turns)


def test_a_steps_error_that_is_also_its_output_is_told_once() -> None:
    run = run_of(
        json.dumps({"status": "succeeded", "steps": [{"title": "Book", "output": "Error: full", "error": "Error: full"}]}).encode()
    )
    assert [turn.content for turn in run.turns] == ["ERROR: Error: full"]


def test_a_run_of_a_clock_that_runs_ahead_is_never_later_than_its_report() -> None:
    ahead = NOW.timestamp() + 3_600
    run = run_of(json.dumps({"status": "succeeded", "workflow_run_id": "r1", "created_at": ahead, "finished_at": ahead + 5}).encode())
    assert (run.started_at, run.ended_at) == (NOW, NOW)
