"""A real Temporal dev server for tests: found where the wheel put it, started on free ports, ended with the block."""

import shutil
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from temporalio.testing import TimeSkippingConfig, WorkflowEnvironment

from hindwise.cli.supervisor.temporal_server import EAGER
from workflows.plugin import hindwise_plugin
from workflows.policies import SEARCH_ATTRIBUTES


def temporal_binary() -> str:
    """Return the path of `temporal`: beside this interpreter, else on PATH. Fails where there is none: it is a dependency."""
    found = shutil.which("temporal", path=str(Path(sys.executable).parent)) or shutil.which("temporal")
    if found is None:
        pytest.fail("no `temporal` binary: run make setup")
    return found


@asynccontextmanager
async def temporal_server(
    *,
    database: Path | None = None,
    attributes: Sequence[Any] = SEARCH_ATTRIBUTES,
    namespace: str = "default",
    more_namespaces: Sequence[str] = (),
) -> AsyncIterator[WorkflowEnvironment]:
    """Yield an environment whose workflows run on the real clock until `fast_forward` skips time for one of them.

    database: the server's SQLite file; None = in memory.
    """
    environment = await WorkflowEnvironment.start_time_skipping_v2(
        # Skipping at once would let a session expire between two lines of a test.
        ts_config=TimeSkippingConfig(enabled=False),
        namespace=namespace,
        plugins=[hindwise_plugin()],
        search_attributes=attributes,
        dev_server_existing_path=temporal_binary(),
        dev_server_database_filename=str(database) if database else None,
        dev_server_log_level="error",
        dev_server_extra_args=[
            "--dynamic-config-value",
            "frontend.WorkflowTimeSkippingEnabled=true",
            "--dynamic-config-value",
            f"{EAGER}=true",
            "--sqlite-pragma",
            "journal_mode=WAL",
            "--sqlite-pragma",
            "synchronous=NORMAL",
            *(part for name in more_namespaces for part in ("--namespace", name)),
        ],
    )
    try:
        yield environment
    finally:
        await environment.shutdown()
