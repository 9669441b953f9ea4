"""Commands as a person or a script meets them, with an API that answers: what they ask, print and end with."""

import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from hindwise.cli import exits, running
from hindwise.cli.app import app
from hindwise.cli.running import Running
from tests.shell import CLEAN, fake_api, hindwise

RECALLED = {"recall_id": "r", "brief": "[Preferences]\n- Likes [aisle] seats", "items": [], "degraded": False}


def test_recall_prints_the_brief_as_it_is(tmp_path):
    with fake_api({("POST", "/v1/recall"): (200, RECALLED)}) as api:
        told = hindwise("recall", "book a flight", "-u", "ana", "-a", "travel", "--key", "k", cwd=tmp_path, HINDWISE_API_URL=api.url)
    assert (told.returncode, told.stdout) == (0, RECALLED["brief"] + "\n")
    assert api.asked == [
        ("POST", "/v1/recall", {"query": "book a flight", "limit": 8, "user_id": "ana", "agent_id": "travel"}, "Bearer k"),
    ]


def test_an_empty_brief_says_why_on_stderr_and_nothing_on_stdout(tmp_path):
    answer = {**RECALLED, "brief": "", "reason": "nothing relevant enough"}
    with fake_api({("POST", "/v1/recall"): (200, answer)}) as api:
        told = hindwise("recall", "天气", "--url", api.url, cwd=tmp_path)
    assert (told.returncode, told.stdout) == (0, "")
    assert "nothing relevant enough" in told.stderr


@pytest.mark.parametrize(
    ("status", "code"), [(401, exits.FAILED), (404, exits.FAILED), (409, exits.FAILED), (422, exits.USAGE), (503, exits.UNREACHABLE)]
)
def test_a_problem_becomes_its_detail_and_an_exit_code(tmp_path, status, code):
    problem = {"type": "x", "status": status, "detail": "the key is 钥匙"}
    with fake_api({("GET", "/v1/memories"): (status, problem)}) as api:
        told = hindwise("list", "--url", api.url, cwd=tmp_path)
    assert (told.returncode, told.stderr.splitlines()[0]) == (code, "error: the key is 钥匙")


def test_the_data_directorys_key_goes_only_to_its_own_api(tmp_path):
    (tmp_path / ".hindwise").mkdir()
    page = {("GET", "/v1/memories"): (200, {"items": [], "next_cursor": None})}
    with fake_api(page) as own, fake_api(page) as other:
        running.write(tmp_path / ".hindwise" / "up.json", Running(own.url, "hw_own", "", "", os.getpid(), None, None, None))
        assert hindwise("list", cwd=tmp_path).returncode == 0
        assert hindwise("list", "--url", other.url, cwd=tmp_path).returncode == 0
    assert [asked[3] for asked in own.asked] == ["Bearer hw_own"]
    assert [asked[3] for asked in other.asked] == [None]


ACCEPTED = {
    "episode_id": "e",
    "reflection_id": "f",
    "status": "queued",
    "duplicate": False,
    "spaces": [],
    "status_url": "",
    "workflow_id": "",
}
DONE = {
    "reflection_id": "f",
    "status": "completed",
    "reflector": "rules",
    "written_by": "rules/1",
    "memories": ["m1"],
    "rejected": [],
    "decisions": [],
}


def test_reflect_posts_the_run_waits_and_shows_what_was_concluded(tmp_path):
    memory = {"memory_id": "m1", "kind": "lesson", "conclusion": "先问订单号 [order]"}
    script = {
        ("POST", "/v1/episodes"): (202, ACCEPTED),
        ("GET", "/v1/reflections/f"): (200, DONE),
        ("GET", "/v1/memories/m1"): (200, memory),
    }
    chat = json.dumps([{"role": "user", "content": "hi"}])
    with fake_api(script) as api:
        told = hindwise("reflect", "-", "--outcome", "failure", "--note", "no refund", "--url", api.url, cwd=tmp_path, stdin=chat)
    assert told.returncode == 0, told.stderr
    assert "[lesson] 先问订单号 [order]" in told.stdout
    body = api.asked[0][2]
    assert (body["user_id"], body["outcome"]) == ("default", {"status": "failure", "note": "no refund"})


CONFLICT = (409, {"status": 409, "detail": "run 'taken' is known with other content; the first was kept"})


def test_a_run_id_that_is_taken_names_the_option_for_another(tmp_path):
    with fake_api({("POST", "/v1/episodes"): CONFLICT}) as api:
        told = hindwise("reflect", "-", "--url", api.url, cwd=tmp_path, stdin='[{"role": "user", "content": "hi"}]')
    assert told.returncode == exits.FAILED
    assert "--run-id" in told.stderr


@pytest.mark.parametrize("form", [[], ["--json"]], ids=["people", "scripts"])
def test_of_several_runs_one_that_is_refused_does_not_stop_the_rest(tmp_path, form):
    script = {
        ("POST", "/v1/episodes"): lambda body: CONFLICT if body["run_id"] == "taken" else (202, ACCEPTED),
        ("GET", "/v1/reflections/f"): (200, {**DONE, "memories": []}),
    }
    runs = [{"run_id": name, "messages": [{"role": "user", "content": "你好"}]} for name in ("a", "taken", "b")]
    with fake_api(script) as api:
        told = hindwise("reflect", "-", *form, "--url", api.url, cwd=tmp_path, stdin="\n".join(map(json.dumps, runs)))
    assert told.returncode == exits.FAILED
    assert "error: 2 queued, 1 refused" in told.stderr
    assert [body["run_id"] for method, _, body, _ in api.asked if method == "POST"] == ["a", "taken", "b"]
    if form:
        assert [row["status"] for row in json.loads(told.stdout)] == ["completed", "completed", "refused"]
    else:
        assert "--run-id" in told.stderr


def test_reflect_without_the_right_key_ends_at_the_first_run(tmp_path):
    runs = [{"run_id": name, "messages": [{"role": "user", "content": "hi"}]} for name in "ab"]
    with fake_api({("POST", "/v1/episodes"): (401, {"detail": "a key is needed"})}) as api:
        told = hindwise("reflect", "-", "--url", api.url, cwd=tmp_path, stdin="\n".join(map(json.dumps, runs)))
    assert (told.returncode, len(api.asked)) == (exits.FAILED, 1)


def test_reflect_tells_how_to_release_a_parked_reflection(tmp_path):
    parked = {**DONE, "status": "needs_attention", "memories": [], "error": "the model refuses our key"}
    script = {("POST", "/v1/episodes"): (202, ACCEPTED), ("GET", "/v1/reflections/f"): (200, parked)}
    with fake_api(script) as api:
        told = hindwise("reflect", "-", "--url", api.url, cwd=tmp_path, stdin='[{"role": "user", "content": "hi"}]')
    assert told.returncode == exits.FAILED
    assert "the model refuses our key" in told.stderr
    assert "hindwise reflections retry f" in told.stderr
    assert "nothing kept" not in told.stdout, "that is said of what came to its end"


def test_show_follows_a_memory_to_its_successor(tmp_path):
    old = {
        "memory_id": "m1",
        "kind": "fact",
        "status": "superseded",
        "conclusion": "Lives in Bonn",
        "superseded_by": "m2",
        "close_reason": "moved",
        "history": [{"at": "2026-11-12T09:00:00Z", "action": "superseded", "why": "搬家了", "actor": "reflection:r7"}],
    }
    new = {"memory_id": "m2", "kind": "fact", "status": "active", "conclusion": "Lives in Cologne", "superseded_by": ""}
    with fake_api({("GET", "/v1/memories/m1"): (200, old), ("GET", "/v1/memories/m2"): (200, new)}) as api:
        told = hindwise("show", "m1", "--url", api.url, cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    assert "moved" in told.stdout
    assert "m2 Lives in Cologne" in told.stdout
    assert "superseded: 搬家了 (reflection:r7)" in told.stdout


def test_a_beginning_of_an_id_is_answered_with_where_the_whole_one_is_shown(tmp_path):
    with fake_api({("GET", "/v1/memories/0f8c"): (404, {"detail": "no memory 0f8c"})}) as api:
        told = hindwise("show", "0f8c", "--url", api.url, cwd=tmp_path)
    assert (told.returncode, told.stderr.splitlines()) == (
        exits.FAILED,
        ["error: no memory 0f8c", "       give the whole id: `hindwise list` shows it"],
    )


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            [],
            "nothing is kept for user 'default'; name whose memory you want with --user or --agent (hindwise status counts all)",
        ),
        (["--user", "小安"], "nothing is kept for user '小安' (hindwise status counts all)"),
        (
            ["-u", "ana", "-a", "travel", "-q", "tea"],
            "nothing like that is kept for user 'ana' and agent 'travel' (hindwise status counts all)",
        ),
    ],
)
def test_an_empty_list_says_whose_it_is(tmp_path, given, told):
    with fake_api({("GET", "/v1/memories"): (200, {"items": [], "next_cursor": None})}) as api:
        answered = hindwise("list", *given, "--url", api.url, cwd=tmp_path)
    assert (answered.returncode, answered.stdout, answered.stderr) == (0, "", told + "\n")


@pytest.mark.parametrize(
    ("given", "told"), [([], "no reflection yet: finish"), (["--status", "needs_attention"], "no reflection is needs_attention")]
)
def test_where_none_has_the_asked_status_it_is_not_said_that_there_is_none(tmp_path, given, told):
    with fake_api({("GET", "/v1/reflections"): (200, {"items": [], "next_cursor": None})}) as api:
        answered = hindwise("reflections", "list", *given, "--url", api.url, cwd=tmp_path)
    assert (answered.returncode, answered.stdout, told in answered.stderr) == (0, "", True), answered.stderr


@pytest.mark.parametrize("command", ["remember", "recall", "list"])
def test_the_help_says_who_is_meant_when_nobody_is_named(command):
    shown = CliRunner().invoke(app, [command, "--help"], prog_name="hindwise").output
    assert "the user `default`" in " ".join(shown.replace("│", " ").split())


def test_a_closed_pipe_ends_quietly(tmp_path):
    with fake_api({("GET", "/v1/memories"): (200, {"items": [], "next_cursor": "x" * 200_000})}) as api:
        command = f"{sys.executable} -m hindwise.cli list --json --url {api.url} | head -c 1"
        told = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=CLEAN, capture_output=True, text=True, timeout=60, check=False)
    assert "Traceback" not in told.stderr


WAITS = {
    "memory_id": "m1", "kind": "preference", "space": "user:ana", "status": "pending", "confidence": 0.3, "origin": "user",
    "conclusion": "喜欢靠窗的座位", "value": "靠窗", "evidence": [{"episode_id": "e1", "quote": "我可能更喜欢靠窗"}],
}  # fmt: skip


def test_a_review_shows_the_quote_asks_and_carries_out_the_answers(tmp_path):
    done = {"id": "m1", "status": "active", "action": "confirmed", "supersedes": ["m0"]}
    gone = {"id": "m2", "status": "retracted", "action": "rejected", "supersedes": []}
    script = {
        ("GET", "/v1/memories/review"): (200, {"items": [WAITS, {**WAITS, "memory_id": "m2", "conclusion": "Prefers tea"}]}),
        ("GET", "/v1/memories/m1"): (200, {**WAITS, "history": [{"why": "not sure enough to replace: aisle"}]}),
        ("GET", "/v1/memories/m2"): (200, {**WAITS, "history": []}),
        ("POST", "/v1/memories/m1/confirm"): (200, done),
        ("POST", "/v1/memories/m2/reject"): (200, gone),
    }
    with fake_api(script) as api:
        told = hindwise("review", "--key", "k", cwd=tmp_path, stdin="x\ny\nn\nnot hers\n", HINDWISE_API_URL=api.url)
    assert told.returncode == 0, told.stderr
    assert "我可能更喜欢靠窗" in told.stdout
    assert "in place of m0" in told.stdout
    assert "not sure enough to replace: aisle" in told.stdout
    assert "2 judged, 0 left" in told.stdout
    assert [asked[2] for asked in api.asked if asked[0] == "POST"] == [{}, {"reason": "not hers"}]


def test_a_review_without_anything_to_judge_says_what_would_stand_here(tmp_path):
    with fake_api({("GET", "/v1/memories/review"): (200, {"items": []})}) as api:
        told = hindwise("review", "--key", "k", cwd=tmp_path, HINDWISE_API_URL=api.url)
    assert (told.returncode, told.stdout) == (0, "")
    assert "HINDWISE_MIN_CONFIDENCE" in told.stderr


def test_reflections_are_run_again_since_a_day_one_for_each_task(tmp_path):
    done = {"status": "completed", "created_at": "2026-11-02T00:00:00Z"}
    page = {
        "items": [
            {**done, "reflection_id": "r3", "episode_id": "e1"},
            {**done, "reflection_id": "r2", "episode_id": "e2"},
            {**done, "reflection_id": "r1", "episode_id": "e1"},
        ]
    }
    told = {
        "episode_id": "e1", "status": "compared", "written_by": "rules 2", "same": 2,
        "added": [{"kind": "lesson", "conclusion": "先问订单号"}], "dropped": [{"kind": "fact", "conclusion": "Lives in Bern"}],
        "changed": [{"before": {"conclusion": "Prefers window"}, "after": {"conclusion": "Prefers aisle"}}],
    }  # fmt: skip
    script = {
        ("GET", "/v1/reflections"): (200, page),
        ("POST", "/v1/reflections/r3/rerun"): (200, told),
        ("POST", "/v1/reflections/r2/rerun"): (200, {**told, "episode_id": "e2"}),
    }
    with fake_api(script) as api:
        shown = hindwise("reflections", "rerun", "--since", "2026-11-01", "--key", "k", cwd=tmp_path, HINDWISE_API_URL=api.url)
    assert shown.returncode == 0, shown.stderr
    assert [asked[1] for asked in api.asked if asked[0] == "POST"] == ["/v1/reflections/r2/rerun", "/v1/reflections/r3/rerun"]
    assert all(words in shown.stdout for words in ("+ lesson: 先问订单号", "~ Prefers window", "→ Prefers aisle", "- fact: Lives in Bern"))
    assert "2 the same" in shown.stdout


@pytest.mark.parametrize(
    ("command", "path", "way"),
    [
        (("reflections", "show", "nosuch"), "/v1/reflections/nosuch", "hindwise reflections list"),
        (("reflections", "retry", "没有"), "/v1/reflections/%E6%B2%A1%E6%9C%89/retry", "hindwise reflections list"),
        (("show", "nosuch"), "/v1/memories/nosuch", "`hindwise list` shows it"),
        (("erase", "--receipt", "nosuch"), "/v1/erasures/nosuch", "`hindwise erase` told as the receipt"),
        (("session", "nosuch"), "/v1/sessions/nosuch", "GET /v1/sessions"),
    ],
)
def test_an_id_that_nobody_knows_is_told_with_the_place_where_ids_stand(tmp_path, command, path, way):
    unknown = (404, {"type": "not-found", "detail": "no such thing 'nosuch'"})
    method = "POST" if path.endswith("retry") else "GET"
    with fake_api({(method, path): unknown}) as api:
        told = hindwise(*command, "--key", "k", cwd=tmp_path, HINDWISE_API_URL=api.url)
    assert told.returncode == exits.FAILED
    first, *others = told.stderr.splitlines()
    assert (first, way in " ".join(others)) == ("error: no such thing 'nosuch'", True), told.stderr


def test_an_erasure_tells_its_receipt_before_it_is_waited_for(tmp_path):
    """Also into a pipe, and where the receipt is wanted as JSON: there on stderr."""
    accepted = {"erasure_id": "e1", "status": "queued", "workflow_id": "erase/e1"}
    queued = {"erasure_id": "e1", "status": "queued", "ledger": {}, "index": {}, "error": ""}
    with fake_api({("POST", "/v1/erasures"): (202, accepted), ("GET", "/v1/erasures/e1"): (200, queued)}) as api:
        told = hindwise(*("erase", "-u", "安娜", "--yes", "--json", "--timeout", "1", "--key", "k"), cwd=tmp_path, HINDWISE_API_URL=api.url)
    assert told.stderr.splitlines()[0] == "accepted; receipt e1"
    assert json.loads(told.stdout) == queued
    assert (told.returncode, "hindwise erase --receipt e1" in told.stderr) == (1, True)
