"""`hindwise up` on a Temporal that others run: no server of its own; what that Temporal refuses ends it at once, with the cure."""

import asyncio
import json
import signal
import sys
from pathlib import Path

import pytest

from tests.processes import environment
from tests.temporal_access.conftest import KEY, NAMESPACE
from tests.tls_temporal import SERVER_NAME, Front, Papers

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def start_up(front: Front, papers: Papers, data: Path, **more: str) -> asyncio.subprocess.Process:
    """The process; it is told everything by its environment, as a container is."""
    settings = {
        "HINDWISE_TEMPORAL_ADDRESS": front.address,
        "HINDWISE_TEMPORAL_NAMESPACE": NAMESPACE,
        "HINDWISE_TEMPORAL_API_KEY": KEY,
        "HINDWISE_TEMPORAL_TLS_CA_FILE": str(papers.ca),
        "HINDWISE_TEMPORAL_TLS_CERT_FILE": str(papers.client_cert),
        "HINDWISE_TEMPORAL_TLS_KEY_FILE": str(papers.client_key),
        "HINDWISE_TEMPORAL_TLS_SERVER_NAME": SERVER_NAME,
        **more,
    }
    data.mkdir()
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "hindwise.cli", "up", "--data", str(data), "--port", "0", "--json"),
        cwd=data,
        env=environment(data, settings),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def test_it_runs_worker_and_api_alone_and_its_key_is_in_no_log(front: Front, papers: Papers, tmp_path: Path) -> None:
    process = await start_up(front, papers, tmp_path / "data")
    assert process.stdout is not None
    try:
        async with asyncio.timeout(120):
            told = json.loads(await process.stdout.readline())
        assert told["temporal_address"] == front.address
        assert told["temporal_server_pid"] is None
        assert told["worker_pid"]
        assert not (tmp_path / "data" / "temporal.db").exists()
    finally:
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(60):
            await process.communicate()
    assert process.returncode == 0
    logs = "".join(path.read_text() for path in (tmp_path / "data" / "logs").iterdir())
    assert "worker_ready" in logs
    assert KEY not in logs


async def test_a_refused_key_ends_it_with_the_setting_to_correct(front: Front, papers: Papers, tmp_path: Path) -> None:
    process = await start_up(front, papers, tmp_path / "data", HINDWISE_TEMPORAL_API_KEY="of-yesterday")
    async with asyncio.timeout(90):
        _, stderr = await process.communicate()
    assert process.returncode not in (0, None)
    assert b"HINDWISE_TEMPORAL_API_KEY is wrong" in stderr
    assert b"of-yesterday" not in stderr
