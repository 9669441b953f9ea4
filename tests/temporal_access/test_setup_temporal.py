"""`hindwise setup-temporal` on a server that knows nothing of us, and what runs before it was called."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from temporalio.api.operatorservice.v1 import RemoveSearchAttributesRequest
from temporalio.testing import WorkflowEnvironment

from api.errors import WorkflowsUnavailable
from api.temporal import TemporalStarter
from hindwise.settings import Settings
from tests.processes import environment
from tests.temporal_server import temporal_server
from workflows import connection, start
from workflows.contracts import ReflectionInput
from workflows.policies import SEARCH_ATTRIBUTES

pytestmark = pytest.mark.asyncio(loop_scope="module")
NAMES = [attribute.name for attribute in SEARCH_ATTRIBUTES]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[WorkflowEnvironment]:
    async with temporal_server(attributes=[]) as started:
        yield started


def address(server: WorkflowEnvironment) -> str:
    return str(server.client.service_client.config.target_host)


async def hindwise(server: WorkflowEnvironment, tmp_path: Path, namespace: str, *arguments: str) -> tuple[int, str, str]:
    """Run a command; its exit code, stdout and stderr."""
    settings = {"HINDWISE_TEMPORAL_ADDRESS": address(server), "HINDWISE_TEMPORAL_NAMESPACE": namespace}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "hindwise.cli", *arguments),
        cwd=tmp_path,
        env=environment(tmp_path / "data", settings),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(90):
        out, err = await process.communicate()
    return process.returncode or 0, out.decode(), err.decode()


async def test_a_namespace_that_is_not_there_is_told_with_the_command_that_makes_it(server: WorkflowEnvironment, tmp_path: Path) -> None:
    code, out, err = await hindwise(server, tmp_path, "new", "setup-temporal")
    assert (code, out) == (2, "")
    assert "hindwise setup-temporal --create-namespace" in err


async def test_set_up_once_and_again_ends_the_same(server: WorkflowEnvironment, tmp_path: Path) -> None:
    code, out, err = await hindwise(server, tmp_path, "fresh", "setup-temporal", "--create-namespace", "--json")
    assert code == 0, err
    first = json.loads(out)
    assert (first["namespace_made"], first["attributes_made"]) == (True, NAMES)
    assert (first["schedule"], first["schedule_state"]) == ("upkeep", "there")
    code, out, err = await hindwise(server, tmp_path, "fresh", "setup-temporal", "--create-namespace", "--json")
    assert code == 0, err
    again: dict[str, Any] = json.loads(out)
    assert again == {**first, "namespace_made": False, "attributes_made": []}
    code, out, _ = await hindwise(server, tmp_path, "fresh", "setup-temporal", "--check")
    assert code == 0
    assert "HindwisePhase" in out
    _, out, _ = await hindwise(server, tmp_path, "fresh", "doctor", "--json")
    assert {finding["name"]: finding for finding in json.loads(out)["findings"]}["temporal"]["state"] == "ok"


async def test_a_check_looks_at_the_schedule_too_and_changes_nothing(server: WorkflowEnvironment, tmp_path: Path) -> None:
    """Attributes are there; the schedule is lost, comes back at another pace, and is paused by a person."""
    assert (await hindwise(server, tmp_path, "scheduled", "setup-temporal", "--create-namespace"))[0] == 0
    settings = Settings(_env_file=None, temporal_address=address(server), temporal_namespace="scheduled")
    client = await _patiently(settings)
    handle = client.get_schedule_handle("upkeep")
    await handle.delete()
    for _ in range(2):
        code, out, _ = await hindwise(server, tmp_path, "scheduled", "setup-temporal", "--check")
        assert code == 1
        assert "upkeep: missing" in out
        assert "run: hindwise setup-temporal" in out
    _, out, _ = await hindwise(server, tmp_path, "scheduled", "doctor", "--json")
    told = {finding["name"]: finding for finding in json.loads(out)["findings"]}["temporal"]
    assert (told["state"], "hindwise setup-temporal" in told["detail"]) == ("note", True)
    await start.ensure_schedule(client, queue_prefix=settings.task_queue_prefix, every_minutes=60)
    code, out, _ = await hindwise(server, tmp_path, "scheduled", "setup-temporal", "--check", "--json")
    assert (code, json.loads(out)["schedule_state"]) == (1, "differs")
    assert (await hindwise(server, tmp_path, "scheduled", "setup-temporal"))[0] == 0
    await handle.pause()
    code, out, _ = await hindwise(server, tmp_path, "scheduled", "setup-temporal", "--check")
    assert (code, "paused" in out) == (0, True)


async def test_before_it_the_doctor_names_the_command_and_a_check_changes_nothing(server: WorkflowEnvironment, tmp_path: Path) -> None:
    code, out, _ = await hindwise(server, tmp_path, "default", "setup-temporal", "--check", "--json")
    assert code == 1
    assert json.loads(out)["missing"] == NAMES
    _, out, _ = await hindwise(server, tmp_path, "default", "doctor", "--json")
    told = {finding["name"]: finding for finding in json.loads(out)["findings"]}["temporal"]
    assert told["state"] == "note"
    assert "hindwise setup-temporal" in told["detail"]
    _, out, _ = await hindwise(server, tmp_path, "nobody", "doctor", "--json")
    told = {finding["name"]: finding for finding in json.loads(out)["findings"]}["temporal"]
    assert told["state"] == "broken"
    assert "setup-temporal --create-namespace" in told["detail"]


async def test_without_search_attributes_work_starts_and_one_warning_is_given(
    server: WorkflowEnvironment, capsys: pytest.CaptureFixture[str]
) -> None:
    """Taken away while we run, they are missed at the first start that is refused; the next start does without."""
    settings = Settings(_env_file=None, temporal_address=address(server), temporal_namespace="taken", temporal_rpc_timeout_s=2)
    await connection.create_namespace(settings, retention_days=1)
    client = await _patiently(settings)
    await connection.register_search_attributes(client, NAMES)
    async with asyncio.timeout(30):
        while await connection.missing_search_attributes(client):
            await asyncio.sleep(0.1)
    starter = TemporalStarter(settings)
    starter.open()
    try:
        await _start(starter, "with")
        await client.operator_service.remove_search_attributes(RemoveSearchAttributesRequest(namespace="taken", search_attributes=NAMES))
        for number in range(3):
            await _start(starter, f"without-{number}")
    finally:
        await starter.close()
    assert capsys.readouterr().out.count("temporal.search_attributes_missing") == 1


async def _patiently(settings: Settings) -> Any:
    async with asyncio.timeout(30):
        while True:
            try:
                return await connection.connect(settings)
            except connection.NotConnected:
                await asyncio.sleep(0.2)


async def _start(starter: TemporalStarter, name: str) -> None:
    """As the sweep does: again, until it is taken."""
    async with asyncio.timeout(40):
        while True:
            try:
                await starter.start_reflection(ReflectionInput(reflection_id=name, tenant_hash="t", space_hash="s"))
                return
            except WorkflowsUnavailable:
                await asyncio.sleep(0.2)
