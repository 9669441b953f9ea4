"""The worker is killed with -9 before and after each step of a reflection: nothing is lost, nothing happens twice.

Asserted on the ledger, against the same reflection undisturbed: ids derive, so both must leave the same rows.
"""

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from sqlalchemy import Connection
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment

from hindwise.ledger import memory_changes, outbox, recalls, spaces
from hindwise.model.episode import Episode
from hindwise.model.ids import derive
from hindwise.model.reflection import ReflectionStatus
from tests.build import NOON, TENANT, make_call, make_episode, make_memory, make_outcome, make_turn
from tests.temporal_server import temporal_server
from tests.workflows.rig import Rig, rig, snapshot
from tests.workflows.stage import until
from workflows import ids
from workflows.plugin import hindwise_plugin

pytestmark = pytest.mark.asyncio(loop_scope="session")

STEPS = ["gather", "reflect", "ground", "resolve", "index", "credit", "finish"]
RECALL = derive("recall", "before-the-task")
TOLD = derive("memory", "told-before")

Snapshot = dict[str, list[tuple[Any, ...]]]


def _episode() -> Episode:
    turns = (
        make_turn("Change my booking to the 9 am train. I always prefer a window seat.", seq=1),
        make_turn("", role="assistant", seq=2, tool_calls=(make_call("update_reservation", seat="12A"),)),
        make_turn("Error: payment method required", role="tool", seq=3, name="update_reservation", tool_call_id="call-update_reservation"),
        make_turn("That is wrong, it is still the old train.", seq=4),
    )
    outcome = make_outcome("failure", note="missing call: update_payment")
    return make_episode("killed", turns=turns, outcome=outcome, goal="change a train", agent_id="travel")


async def _told_before(house: Rig) -> None:
    """A memory that the task's brief held, so that crediting has something to do."""

    now = house.engine.clock.now()

    def keep(conn: Connection) -> None:
        space = spaces.lock(conn, TENANT, ["user:u1"])["user:u1"]
        memory = make_memory("Travels with a dog", id=TOLD, kind="fact", attribute="pet", subject="user", recorded_at=now)
        memory_changes.insert_memory(conn, space.no, memory, actor="test", why="set up")
        row = {
            "id": RECALL, "tenant_id": TENANT, "user_id": "u1", "agent_id": "travel", "session_id": "", "run_id": "killed",
            "query": "train", "memory_ids": [TOLD], "degraded": False, "at": NOON,
        }  # fmt: skip
        recalls.log(conn, [row])

    await house.engine.ledger.write(keep)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def undisturbed(environment: WorkflowEnvironment, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Snapshot]:
    """What the reflection leaves when nobody dies."""
    async with rig(tmp_path_factory.mktemp("calm"), environment.client) as house:
        await _told_before(house)
        async with house.workers():
            accepted = await house.run(_episode())
            assert (await house.final(accepted.reflection_id)).status is ReflectionStatus.COMPLETED
        yield await house.engine.ledger.read(snapshot)


@asynccontextmanager
async def _doomed(house: Rig, step: str) -> AsyncIterator[asyncio.subprocess.Process]:
    settings = house.engine.settings.model_dump(mode="json", include={"data", "embed", "reflector"})
    settings["upkeep_every_minutes"] = 100_000.0  # upkeep is not what is looked at here
    settings |= house.engine.settings.model_dump(include={"temporal_address", "temporal_namespace", "task_queue_prefix"})
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.workflows.doomed_worker",
        json.dumps({"step": step, "settings": settings}),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=Path(__file__).parents[2],
        start_new_session=True,
    )
    try:
        yield process
    finally:
        assert process.stdin is not None
        process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), 20)
        finally:
            # Its own process group: whatever of it still lives after a failed test ends with it.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


async def _line(process: asyncio.subprocess.Process) -> str:
    """The next of its lines; what its log prints is passed over."""
    assert process.stdout is not None
    async with asyncio.timeout(60):
        async for raw in process.stdout:
            if (line := raw.decode().strip()).startswith(("before", "after", "healthy", "stopped")):
                return line
    return "closed"


async def _kill_twice(client: Client, data: Path, step: str, opening: asyncio.Lock) -> Snapshot:
    """Once before the step, once after its work was done and before Temporal heard of it; then somebody lives to finish."""
    async with contextlib.AsyncExitStack() as stack:
        async with opening:  # migrations hold process-wide state: two may not run at once in one process
            house = await stack.enter_async_context(rig(data, client))
        await _told_before(house)
        accepted = await house.run(_episode())
        async with _doomed(house, step) as process:
            assert [await _line(process), await _line(process)] == ["before 9", "after 9"]
            assert await _line(process) == "healthy"
            done = await house.final(accepted.reflection_id)
            assert done.status is ReflectionStatus.COMPLETED
            report = await house.client.get_workflow_handle(ids.reflection_workflow(accepted.reflection_id, house.prefix)).result()
            assert report["status"] == "completed"
            # Whoever died may have held the lease of a space; when it ends, the dispatcher of the living does the rest.
            await until(lambda: house.engine.ledger.read(lambda conn: outbox.depth(conn)[0] == 0), 60)
        return await house.engine.ledger.read(snapshot)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def survived(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[dict[str, Any]]:
    """One installation per step, three at a time: most of each is waiting for a death to be noticed.

    Each has a namespace of its own, because the same run gives the same workflow id in all of them.
    """
    places, opening = asyncio.Semaphore(3), asyncio.Lock()
    async with temporal_server(more_namespaces=[f"kill-{step}" for step in STEPS]) as server:
        address = server.client.service_client.config.target_host

        async def survive(step: str) -> Snapshot:
            async with places:
                client = await Client.connect(address, namespace=f"kill-{step}", plugins=[hindwise_plugin()])
                return await _kill_twice(client, tmp_path_factory.mktemp(step) / "data", step, opening)

        tasks = {step: asyncio.create_task(survive(step)) for step in STEPS}
        yield tasks
        for task in tasks.values():
            task.cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)


@pytest.mark.parametrize("step", STEPS)
async def test_a_worker_killed_at_a_step_loses_nothing_and_repeats_nothing(
    undisturbed: Snapshot, survived: dict[str, "asyncio.Task[Snapshot]"], step: str
) -> None:
    """The ledger holds what it holds when nobody dies: every row, once."""
    left = await survived[step]
    assert left == undisturbed
    assert {len(left[name]) > 0 for name in ("memories", "drafts", "events", "credits")} == {True}
