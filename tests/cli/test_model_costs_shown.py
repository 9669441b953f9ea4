"""`hindwise status` and `hindwise doctor` say what a model cost today and which setting makes no sense."""

import json
from datetime import UTC, datetime

import pytest

from hindwise.ledger import spending
from hindwise.ledger.engine import Ledger
from hindwise.ledger.migrate import migrate
from hindwise.model.reflection import Usage
from tests.shell import hindwise


async def spend(path, *costs):
    """One question for each cost (None = not known), and one task each that was saved and refused."""
    ledger, now = Ledger(f"sqlite:///{path}"), datetime.now(UTC)
    day = now.date().isoformat()

    def work(conn):
        for number, cost in enumerate(costs):
            held = spending.hold(conn, f"q{number}", "default", "m", day, tokens=9, ceiling=0, asked_by="x", now=now)
            spending.settle(conn, held, Usage(calls=1, prompt_tokens=1_000, completion_tokens=100, cost=cost), "m")
        spending.count_saved(conn, "default", day, "m")
        spending.count_refused(conn, "default", day, "m")

    try:
        await migrate(ledger)
        await ledger.write(work)
    finally:
        await ledger.close()


@pytest.mark.parametrize(
    ("costs", "words"),
    [((0.25, None), "cost 0.25 for 1 of the calls"), ((None, None), "2 calls (0 again); 1 calls saved")],
)
async def test_status_tells_todays_tokens_and_a_cost_only_where_it_is_known(tmp_path, costs, words):
    await spend(tmp_path / "ledger.db", *costs)
    told = hindwise("status", "--data", str(tmp_path), cwd=tmp_path, HINDWISE_LLM_DAILY_TOKENS="50000")
    pairs = [line for line in told.stdout.splitlines() if line.startswith(("API", "sessions", "reflections", "memories", "model today"))]
    assert len(pairs) == 5
    assert {line[len("model today") :][:2] for line in pairs} == {"  "}, "values stand below each other"
    line = " ".join(told.stdout.split())
    assert "2,200 of 50,000 tokens" in line
    assert words in line
    assert "hindwise rerun --since" in line
    report = json.loads(hindwise("status", "--json", "--data", str(tmp_path), cwd=tmp_path).stdout)
    known = [cost for cost in costs if cost is not None]
    assert report["model_today"]["cost"] == (sum(known) if known else None)
    assert report["model_today"]["ceiling"] is None


@pytest.mark.parametrize(
    ("env", "words"),
    [
        ({"HINDWISE_LLM_DAILY_TOKENS": "100"}, "will never be asked"),
        ({"HINDWISE_LLM_PRICE_INPUT": "2"}, "no cost is told"),
        ({"HINDWISE_LLM_DAILY_TOKENS": "250000"}, "250,000 tokens a day for each tenant"),
        ({"LLM_MODEL": ""}, "rules reflect"),
    ],
)
def test_doctor_names_what_makes_no_sense(tmp_path, env, words):
    told = hindwise("doctor", "--json", cwd=tmp_path, **{"HINDWISE_EMBED": "none", "HINDWISE_PORT": "0", "LLM_MODEL": "m", **env})
    [finding] = [one for one in json.loads(told.stdout)["findings"] if one["name"] == "model"]
    assert words in finding["detail"]
