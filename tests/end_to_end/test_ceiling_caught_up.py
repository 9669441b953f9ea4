"""A day whose tokens run out, as its operator meets it: marked in API and CLI, refused politely, and caught up with by `hindwise rerun`."""

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.fake_llm import FakeLlm
from tests.processes import Roles, until
from tests.shell import hindwise

TASKS = 5
ASKS = ("Please refund the order that never arrived.", "请退款，这个订单一直没有送到。")


def report(house: Roles, number: int) -> str:
    """A failed run of its own; the id of its reflection."""
    turns = [
        {"role": "user", "content": ASKS[number % 2]},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "function": {"name": "refund_order", "arguments": "{}"}}]},
        {"role": "tool", "name": "refund_order", "tool_call_id": "c", "content": "Error: the order is not marked as lost"},
        {"role": "assistant", "content": "I could not refund it."},
    ]
    body = {"user_id": f"u{number}", "agent_id": "shop", "run_id": f"r{number}", "turns": turns, "outcome": {"status": "failure"}}
    with house.http() as http:
        answer = http.post("/v1/episodes", json=body)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["reflection_id"])


def all_done(house: Roles) -> list[dict[str, Any]]:
    """Every reflection, once all are final."""

    def done() -> list[dict[str, Any]]:
        with house.http() as http:
            items: list[dict[str, Any]] = http.get("/v1/reflections", params={"limit": 100}).json()["items"]
        return items if all(item["status"] in {"completed", "skipped"} for item in items) else []

    return until(done, "all reflections final", 90, every=0.3)


def command(house: Roles, *words: str) -> "subprocess.CompletedProcess[str]":
    return hindwise(*words, "--url", house.url, "--key", (house.data / "api_key").read_text().strip(), cwd=house.data)


def test_what_the_ceiling_left_to_rules_is_marked_and_caught_up_with(tmp_path: Path) -> None:
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    with FakeLlm() as llm:
        # Room for one question: with what that cost, no second one fits.
        model = {"HINDWISE_REFLECTOR": "llm", "LLM_BASE_URL": llm.url, "LLM_MODEL": "fake-model", "LLM_API_KEY": "sk-test"}
        with Roles(tmp_path, **model, HINDWISE_LLM_DAILY_TOKENS="6500") as house:
            assert isinstance(house, Roles)
            house.start()
            for number in range(TASKS):
                report(house, number)
            first = all_done(house)
            left = [item for item in first if item["fallback_from"] == "llm: budget"]
            assert len(left) == TASKS - 1
            assert {item["written_by"].split()[0] for item in left} == {"rules"}
            assert "rules stood in: llm: budget" in command(house, "reflections", "show", left[0]["reflection_id"]).stdout
            told = command(house, "rerun", "--since", today)
            assert (told.returncode, f"{TASKS - 1} left: the model may cost 6,500 tokens a day" in told.stderr) == (1, True), told
            assert "go on after" in told.stderr
            assert len(llm.requests) == 1
            for process in (house.api, house.worker):
                process.stop()
                process.env["HINDWISE_LLM_DAILY_TOKENS"] = "100000"
                process.start()
            house.ready()
            told = command(house, "rerun", "--since", today)
            assert (told.returncode, f"queued {TASKS - 1} of {TASKS - 1} tasks" in told.stdout) == (0, True), told
            again = [item for item in all_done(house) if item["run_number"] == 1]
            assert {(item["fallback_from"], item["usage"]["calls"]) for item in again} == {("", 1)}
            assert (len(again), len(llm.requests)) == (TASKS - 1, TASKS)
            assert "nothing to catch up with" in command(house, "rerun", "--since", today).stdout
            with house.http() as http:
                usage = http.get("/v1/usage").json()
            assert (usage["held_tokens"], usage["days"][0]["calls"], usage["days"][0]["refused"]) == (0, TASKS, TASKS - 1)
            status = hindwise("status", "--data", str(house.data), "--json", cwd=house.data, HINDWISE_LLM_DAILY_TOKENS="100000")
            kept = json.loads(status.stdout)["model_today"]
            assert (kept["used_tokens"], kept["ceiling"], kept["cost"]) == (usage["used_tokens"], 100_000, None)
