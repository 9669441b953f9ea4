"""The way to a real Temporal: connected in the background, harmless to repeat; no second caller waits for a worker that is not there."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
from temporalio.testing import WorkflowEnvironment

from api.errors import WorkflowsUnavailable
from api.temporal import TemporalStarter
from hindwise.errors import NotFound
from hindwise.settings import Settings
from tests.temporal_server import temporal_server
from workflows.contracts import ReflectionInput, SessionInput, TurnsRecorded
from workflows.ids import reflection_workflow

SESSION = SessionInput(handle="h", tenant_hash="t", space_hash="s", queue_prefix="starter-test")
TURNS = TurnsRecorded(update_id="u", first_seq=1, last_seq=1, count=1)


@pytest.fixture
async def server() -> AsyncIterator[WorkflowEnvironment]:
    async with temporal_server() as started:
        yield started


async def connected(environment: WorkflowEnvironment) -> TemporalStarter:
    address = environment.client.service_client.config.target_host
    settings = Settings(  # type: ignore[call-arg]
        _env_file=None,
        temporal_address=address,
        temporal_namespace=environment.client.namespace,
        temporal_rpc_timeout_s=1,
        task_queue_prefix="starter-test",
    )
    starter = TemporalStarter(settings)
    starter.open()
    assert not starter.available()  # opening waits for nothing
    async with asyncio.timeout(20):
        while not starter.available():
            await asyncio.sleep(0.02)
    return starter


async def test_a_reflection_is_started_once_however_often_it_is_asked_for(server: WorkflowEnvironment) -> None:
    starter = await connected(server)
    try:
        assert await starter.check()
        for _ in range(3):
            await starter.start_reflection(ReflectionInput(reflection_id="r1", queue_prefix="starter-test"))
        description = await server.client.get_workflow_handle(reflection_workflow("r1", "starter-test")).describe()
        assert description.workflow_type == "hindwise.Reflection"
        await starter.signal_reflection("r1", "retry")
        with pytest.raises(NotFound):
            await starter.signal_reflection("unknown", "retry")
    finally:
        await starter.close()


async def test_without_a_worker_one_caller_waits_and_the_next_do_not(server: WorkflowEnvironment) -> None:
    starter = await connected(server)
    try:
        began = time.monotonic()
        with pytest.raises(WorkflowsUnavailable):
            await starter.send_turns(SESSION, TURNS)
        assert time.monotonic() - began < 4
        began = time.monotonic()
        with pytest.raises(WorkflowsUnavailable, match="no worker"):
            await starter.send_turns(SESSION, TURNS)
        assert time.monotonic() - began < 0.1
        assert starter.available()  # the server is there: reflections can still be started
    finally:
        await starter.close()
