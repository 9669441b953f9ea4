"""`hindwise rerun` catches up with what the daily ceiling left to rules, and says how many are left."""

import json

import pytest

from hindwise.cli import exits
from tests.shell import fake_api, hindwise

DETAIL = "the model may cost 10,000 tokens a day (HINDWISE_LLM_DAILY_TOKENS): 9,000 are used; go on after 2026-05-02 00:00 UTC"
SPENT = (429, {"type": "budget-spent", "status": 429, "detail": DETAIL})
QUEUED = {"episode_id": "e", "status": "queued", "written_by": "llm m 1", "reflection_id": "new"}


def item(name, *, episode="", status="completed", fallback="llm: budget"):
    return {
        "reflection_id": name,
        "episode_id": episode or f"e-{name}",
        "status": status,
        "created_at": "2026-05-01T09:00:00Z",
        "reflector": "llm",
        "fallback_from": fallback,
        "usage": {"calls": 0, "reasks": 0, "prompt_tokens": 0, "completion_tokens": 0, "model": "", "cost": None},
    }


PAGE = [
    item("again", episode="e-r5", status="queued", fallback=""),
    item("r5"),
    item("r4", fallback=""),
    item("r3"),
    item("r2", fallback="llm: unavailable"),
    item("r1"),
]


def api_with(**answers):
    listed = {("GET", "/v1/reflections"): (200, {"items": PAGE, "next_cursor": None})}
    return fake_api({**listed, **{("POST", f"/v1/reflections/{name}/rerun"): answer for name, answer in answers.items()}})


def test_it_queues_what_the_ceiling_left_to_rules_and_nothing_else_oldest_first(tmp_path):
    with api_with(r1=(200, QUEUED), r3=(200, QUEUED)) as api:
        told = hindwise("rerun", "--since", "2026-05-01", "--url", api.url, cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    assert "queued 2 of 2 tasks" in told.stdout
    posted = [(path, body) for method, path, body, _ in api.asked if method == "POST"]
    assert posted == [(f"/v1/reflections/{name}/rerun", {"reflector": "llm", "apply": True}) for name in ("r1", "r3")]
    assert "since=2026-05-01T00%3A00%3A00Z" in api.asked[0][1]


def test_at_the_ceiling_it_stops_and_says_how_many_are_left_and_when_to_go_on(tmp_path):
    with api_with(r1=(200, QUEUED), r3=SPENT) as api:
        told = hindwise("rerun", "--since", "2026-05-01", "--url", api.url, cwd=tmp_path)
        as_json = hindwise("rerun", "--since", "2026-05-01", "--json", "--url", api.url, cwd=tmp_path)
    assert (told.returncode, "queued 1 of 2" in told.stdout) == (1, True)
    assert told.stderr.splitlines()[0] == f"error: 1 left: {DETAIL}"
    assert "hindwise rerun --since 2026-05-01" in told.stderr
    document = json.loads(as_json.stdout)
    assert (document["left"], document["stopped"]) == (["r3"], DETAIL)


def test_a_task_that_cannot_be_looked_at_again_is_passed_over(tmp_path):
    purged = (409, {"type": "not-allowed", "status": 409, "detail": "the turns of this task were purged"})
    with api_with(r1=purged, r3=(200, QUEUED)) as api:
        told = hindwise("rerun", "--since", "2026-05-01", "--url", api.url, cwd=tmp_path)
    assert told.returncode == 0
    assert "passed over r1: the turns of this task were purged" in told.stdout
    assert "queued 1 of 2" in told.stdout


def test_nothing_to_catch_up_with_is_said(tmp_path):
    with fake_api({("GET", "/v1/reflections"): (200, {"items": [item("r4", fallback="")], "next_cursor": None})}) as api:
        told = hindwise("rerun", "--since", "2026-05-01", "--url", api.url, cwd=tmp_path)
    assert (told.returncode, "nothing to catch up with" in told.stdout) == (0, True)


def test_comparing_many_stops_at_the_ceiling_too(tmp_path):
    with api_with(r1=(200, {**QUEUED, "status": "compared", "added": [], "changed": [], "dropped": [], "same": 2}), r2=SPENT) as api:
        told = hindwise("reflections", "rerun", "--since", "2026-05-01", "--url", api.url, cwd=tmp_path)
    assert told.returncode == 1
    assert "2 the same" in told.stdout
    assert "3 left: the model may cost" in told.stderr


def test_lists_and_results_tell_tokens_and_cost(tmp_path):
    cost = {"calls": 2, "reasks": 1, "prompt_tokens": 3_000, "completion_tokens": 412, "model": "模型", "cost": 0.0125}
    with fake_api(
        {
            ("GET", "/v1/reflections"): (200, {"items": [{**item("r1", fallback=""), "usage": cost}, item("r2")], "next_cursor": None}),
            ("GET", "/v1/reflections/r1"): (200, {**item("r1", fallback=""), "usage": cost, "written_by": "llm 模型 1"}),
        }
    ) as api:
        listed = hindwise("reflections", "--url", api.url, cwd=tmp_path)
        shown = hindwise("reflections", "show", "r1", "--url", api.url, cwd=tmp_path)
    assert "3,412" in listed.stdout
    assert "rules stood in: llm: budget" in " ".join(listed.stdout.split())
    assert "模型: 2 calls (1 again), 3,000 + 412 tokens, cost 0.0125" in shown.stdout


@pytest.mark.parametrize("since", ["yesterday", "2026-05-01T09:00", "2026-05-01 09:00", "昨天"])
def test_what_is_neither_a_day_nor_a_time_with_a_zone_is_wrong_usage_and_nothing_is_asked(tmp_path, since):
    with api_with() as api:
        told = hindwise("rerun", "--since", since, "--url", api.url, cwd=tmp_path)
    assert (told.returncode, api.asked) == (exits.USAGE, [])
    assert since in told.stderr and "2026-11-01T18:00:00+08:00" in told.stderr


def test_a_time_with_a_zone_is_asked_for_as_it_is_meant(tmp_path):
    with api_with(r1=(200, QUEUED), r3=(200, QUEUED)) as api:
        hindwise("rerun", "--since", "2026-05-01T18:00:00+08:00", "--url", api.url, cwd=tmp_path)
    assert "since=2026-05-01T18%3A00%3A00%2B08%3A00" in api.asked[0][1]
