"""The worker is killed with -9 before and after each step of an erasure: it completes all the same, and its receipt is the same."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from temporalio.client import Client

from hindwise.ledger import erasures
from hindwise.ledger.erasures import Erasure
from hindwise.privacy import erase_user
from tests.build import TENANT
from tests.privacy.living import USER, WORD, files_with, live_briefly, tables_with
from tests.temporal_server import temporal_server
from tests.workflows.rig import rig
from tests.workflows.stage import until
from tests.workflows.test_killed_worker import _doomed, _line
from workflows import start_erasure
from workflows.erase_messages import EraseInput
from workflows.plugin import hindwise_plugin

pytestmark = pytest.mark.asyncio(loop_scope="session")

STEPS = ["erase_begin", "erase_open", "erase_wipe", "erase_check"]


async def _kill_twice(client: Client, data: Path, step: str, opening: asyncio.Lock) -> Erasure:
    """Once before the step, once after its work was done and before Temporal heard of it; then somebody lives to finish."""
    async with contextlib.AsyncExitStack() as stack:
        async with opening:
            house = await stack.enter_async_context(rig(data, client))
        engine = house.engine
        await live_briefly(engine)
        asked = await erase_user.request(engine, TENANT, USER, "test")
        await start_erasure.start_erasure(client, EraseInput(erasure_id=asked.id, queue_prefix=house.prefix), rpc_timeout_s=20)
        async with _doomed(house, step) as process:
            assert [await _line(process), await _line(process)] == ["before 9", "after 9"]
            assert await _line(process) == "healthy"

            async def completed() -> bool:
                return (await engine.ledger.read(lambda conn: erasures.get(conn, asked.id))).status == "completed"

            await until(completed, 60)
        assert await engine.ledger.read(lambda conn: tables_with(conn, WORD)) == set()
        assert files_with(data) == {}
        return await engine.ledger.read(lambda conn: erasures.get(conn, asked.id))


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def survived(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[dict[str, "asyncio.Task[Erasure]"]]:
    """One installation per step, side by side: most of each is waiting for a death to be noticed."""
    opening = asyncio.Lock()
    async with temporal_server(more_namespaces=[f"erase-{step}" for step in STEPS]) as server:
        address = server.client.service_client.config.target_host

        async def survive(step: str) -> Erasure:
            client = await Client.connect(address, namespace=f"erase-{step}", plugins=[hindwise_plugin()])
            return await _kill_twice(client, tmp_path_factory.mktemp(step) / "data", step, opening)

        tasks = {step: asyncio.create_task(survive(step)) for step in STEPS}
        yield tasks
        for task in tasks.values():
            task.cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)


@pytest.mark.parametrize("step", STEPS)
async def test_a_worker_killed_at_a_step_of_an_erasure_leaves_nothing_undone(survived: dict[str, Any], step: str) -> None:
    """No byte of the user is left, and each row is counted once."""
    done = await survived[step]
    counts = {name: number for name, number in done.counts["ledger"].items() if number}
    assert (counts["turns"], counts["sessions"], counts["episodes"], counts["reflections"], counts["spaces"]) == (6, 1, 1, 1, 1)
    assert sum(done.counts["index"].values()) == counts["memories"] > 1
    assert set(done.counts["searched"].values()) == {0}
