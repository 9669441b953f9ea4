"""One server for all workflow tests of a run; every test has its own queues and ids."""

import asyncio
import gc
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from temporalio.testing import WorkflowEnvironment

from tests.temporal_server import temporal_server
from tests.workflows.stage import Stage


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def environment() -> AsyncIterator[WorkflowEnvironment]:
    """The server."""
    async with temporal_server() as started:
        yield started
        # Temporal's core may still call into an interpreter that is ending: let it come to rest.
        gc.collect()
        await asyncio.sleep(0.5)


@pytest.fixture
def stage(environment: WorkflowEnvironment) -> Iterator[Stage]:
    """Workers with scripted activities."""
    yield Stage(environment)
