"""A user is erased from a running installation: real processes, asked on the command line, while Temporal is down and a worker dies."""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import select
from temporalio.client import Client, WorkflowExecutionStatus

from hindwise.ledger.schema import memories, reflections, sessions
from hindwise.model.reflection import FINAL
from tests.privacy.living import USER, WORD, ZH, files_with, tables_with, turns
from tests.processes import NAMESPACE, Roles, until
from workflows.ids import session_workflow
from workflows.plugin import hindwise_plugin

VERDICT = {"status": "failure", "source": "env", "note": f"{WORD} {ZH} was missing"}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Roles]:
    """Temporal, a worker and the API."""
    with Roles(tmp_path_factory.mktemp("erase"), HINDWISE_LOG_LEVEL="debug") as roles:
        assert isinstance(roles, Roles)
        yield roles.start()


def _post(house: Roles, path: str, body: dict[str, Any]) -> dict[str, Any]:
    name = "bo" if body.get("user_id") == "bo" else WORD
    with house.http() as http:
        answer = http.post(path, json=body, headers={"Idempotency-Key": f"{name}-{path[-80:]}-{len(json.dumps(body))}"})
    assert answer.status_code < 300, (path, answer.text)
    told: dict[str, Any] = answer.json()
    return told


def _live(house: Roles) -> None:
    """Two finished tasks, memories, a recall, an open session; and somebody else, who stays."""
    session = f"/v1/sessions/{WORD}-session"
    _post(house, f"{session}/turns", {"user_id": USER, "turns": turns("s")})
    _post(house, f"{session}/checkpoint", {"done": WORD, "notes": ZH})
    _post(house, f"{session}/complete", {"goal": f"book {WORD}", "outcome": VERDICT})
    _post(house, "/v1/episodes", {"user_id": USER, "run_id": f"{WORD}-run", "goal": ZH, "turns": turns("r"), "outcome": VERDICT})
    _post(house, "/v1/memories", {"user_id": USER, "content": f"My {WORD} hotel is {ZH}"})
    _post(house, "/v1/memories", {"user_id": "bo", "content": "My hotel is the Adlon"})
    _post(house, "/v1/recall", {"user_id": USER, "query": f"which {WORD} hotel?", "session_id": f"{WORD}-session"})
    _post(house, f"{session}/turns", {"user_id": USER, "turns": turns("later")})

    def settled() -> bool:
        open_ones = select(reflections.c.id).where(reflections.c.status.not_in([str(status) for status in FINAL]))
        unseen = select(sessions.c.handle).where(sessions.c.seen_seq < sessions.c.last_seq)
        return house.book.read(lambda conn: conn.execute(open_ones).first() is None and conn.execute(unseen).first() is None)

    until(settled, "both tasks reflected, all turns acknowledged", 60)


def _erase(house: Roles, *arguments: str) -> "subprocess.CompletedProcess[str]":
    key = (house.data / "api_key").read_text().strip()
    command = [sys.executable, "-m", "hindwise.cli", "erase", *arguments, "--url", house.url, "--key", key]
    return subprocess.run(command, cwd=house.data, env=house.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)


def _receipt(house: Roles, erasure_id: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(_erase(house, "--receipt", erasure_id, "--json").stdout)
    return told


async def _session_status(house: Roles, handle: str) -> WorkflowExecutionStatus | None:
    client = await Client.connect(house.temporal_address, namespace=NAMESPACE, plugins=[hindwise_plugin()])
    return (await client.get_workflow_handle(session_workflow(handle)).describe()).status


async def test_a_user_is_erased_whatever_is_down_and_whoever_dies(house: Roles) -> None:
    _live(house)
    handle = house.book.read(lambda conn: conn.execute(select(sessions.c.handle)).scalar_one())
    assert await _session_status(house, handle) is WorkflowExecutionStatus.RUNNING
    assert {"ledger.db", "index-1.db"} <= {name.removesuffix("-wal") for name in files_with(house.data)}

    refused = _erase(house, "--user", USER)
    assert (refused.returncode, "add --yes" in refused.stderr) == (2, True)
    house.temporal.kill()
    accepted = _erase(house, "--user", USER, "--yes", "--no-wait", "--json")
    assert accepted.returncode == 0, accepted.stderr
    erasure_id = json.loads(accepted.stdout)["erasure_id"]
    assert _receipt(house, erasure_id)["status"] == "queued"
    house.start_temporal()
    until(lambda: _receipt(house, erasure_id)["status"] != "queued", "the sweep started it", 60)
    house.worker.kill()
    house.worker.start()
    done = until(lambda: (told := _receipt(house, erasure_id))["status"] == "completed" and told, "the erasure completed", 120)

    assert isinstance(done, dict)
    assert done["ledger"]["turns"] == 15
    assert sum(done["index"].values()) == done["ledger"]["memories"] > 0
    assert set(done["found_again"].values()) == {0}
    assert house.book.read(lambda conn: tables_with(conn, WORD, ZH)) == set()
    assert files_with(house.data) == {}  # ledger, indexes, their logs, Temporal's database, and what the processes said
    assert await _session_status(house, handle) is WorkflowExecutionStatus.CANCELED
    assert house.book.read(lambda conn: list(conn.execute(select(memories.c.space)).scalars())) == ["user:bo"]


def test_erased_again_there_is_nothing(house: Roles) -> None:
    """A second receipt, with zeros, printed for people."""
    told = _erase(house, "--user", "somebody-else", "--yes")
    assert told.returncode == 0, told.stderr
    assert "status" in told.stdout
    assert "completed" in told.stdout
    assert "nothing was there" in told.stdout
    assert "somebody-else" not in told.stdout
