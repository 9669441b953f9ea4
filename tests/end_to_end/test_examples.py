"""The examples run as their README says, against a real `hindwise up`."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from hindwise.cli.demo_server import Server
from hindwise.cli.running import Running
from tests.nobody import nobody_at

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    server = Server(tmp_path_factory.mktemp("up"), keep=False)
    server.start()
    try:
        yield server.wait_ready()
    finally:
        assert server.stop() == []


def agent_loop(url: str, key: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "HINDWISE_API_URL": url, "HINDWISE_API_KEY": key}
    command = [sys.executable, str(EXAMPLES / "agent_loop.py")]
    return subprocess.run(command, env=env, capture_output=True, text=True, encoding="utf-8", timeout=120, check=False)


@pytest.mark.parametrize("key", ["", "hw_wrong"])
def test_the_loop_without_a_valid_key_says_in_one_line_where_one_is(running: Running, key: str) -> None:
    done = agent_loop(running.api_url, key)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("error: set HINDWISE_API_KEY")
    assert len(done.stderr.splitlines()) == 1


def test_the_loop_says_in_one_line_what_to_start_when_nothing_answers() -> None:
    url = f"http://{nobody_at()}"
    done = agent_loop(url, "k")
    assert (done.returncode, done.stderr) == (3, f"error: nothing answers at {url}: start it with `hindwise up`\n")


def test_the_agent_of_the_loop_needs_fewer_calls_the_second_time(running: Running) -> None:
    done = agent_loop(running.api_url, running.api_key)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = re.search(r"(\d+) calls the first time, (\d+) the second\.", done.stdout)
    assert counts is not None
    assert (counts[1], counts[2]) == ("3", "2")


@pytest.mark.parametrize(
    "path", sorted((EXAMPLES / "dify").glob("*_*.json")) + sorted((EXAMPLES / "dify").glob("*.txt")), ids=lambda p: p.name
)
def test_a_dify_payload_is_accepted_and_known_the_second_time(running: Running, path: Path) -> None:
    kind = "application/json" if path.suffix == ".json" else "application/x-www-form-urlencoded"
    headers = {"Authorization": f"Bearer {running.api_key}", "Content-Type": kind}
    with httpx2.Client(base_url=running.api_url, headers=headers, timeout=30, trust_env=False) as http:
        answers = [http.post("/v1/hooks/dify", content=path.read_bytes()) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [202, 202]
    assert [answer.json()["duplicate"] for answer in answers] == [False, True]
    assert answers[0].json()["episode_id"] == answers[1].json()["episode_id"]
