"""What is measured against: `hindwise up` with its own Temporal, worker and API, and beside it the floors' worker, on one server.

Everything lives in a directory of its own and ends with us, also when we are killed.
"""

import asyncio
import compileall
import contextlib
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from bench.floor_worker import READY
from hindwise.cli import running
from hindwise.cli.running import Running
from hindwise.cli.supervisor import guard
from hindwise.cli.supervisor.child import GUARD_MODE
from hindwise.settings import Settings

RESULTS = Path(__file__).resolve().parent / "results"
ROOT = RESULTS.parent.parent
_START_LIMIT_S = 90.0
_STOP_LIMIT_S = 20.0
_FOREIGN = ("HINDWISE_", "LLM_", "EMBEDDING_")
_SETTINGS = {
    "HINDWISE_REFLECTOR": "rules",
    "HINDWISE_EMBED": "none",
    "HINDWISE_RATE_LIMIT_PER_MINUTE": "10000000",
}
"""Else as `hindwise up` runs by default."""


class NotStarted(RuntimeError):
    """A server did not come up; the end of its log is the message."""


@dataclass(frozen=True, slots=True)
class Stand:
    """Running servers. `client` speaks to Temporal, for the floors and to wait for workflows; `data`: where ours keep everything."""

    up: Running
    client: Client
    floor_pid: int
    data: Path

    @property
    def pids(self) -> dict[str, int]:
        """By role."""
        up = self.up
        assert up.temporal_server_pid and up.worker_pid and up.api_pid
        return {"server": up.temporal_server_pid, "worker": up.worker_pid, "api": up.api_pid, "floor worker": self.floor_pid}


@asynccontextmanager
async def stand(more: Mapping[str, str] | None = None) -> AsyncIterator[Stand]:
    """Start everything in a fresh directory, and end it and remove the directory. more: settings on top. Raises NotStarted."""
    RESULTS.mkdir(exist_ok=True)
    # The sandbox imports a workflow's module anew for each workflow: without a compiled file, ours or the floor's, that costs 5 ms.
    for package in ("bench", "workflows"):
        await asyncio.to_thread(compileall.compile_dir, ROOT / package, quiet=1)
    with tempfile.TemporaryDirectory(prefix="run-", dir=RESULTS, ignore_cleanup_errors=True) as folder:
        data = Path(folder)
        ready = data / "ready.json"
        up = ("hindwise.cli", "up", "--data", str(data / "hindwise"), "--port", "0", "--ready-file", str(ready))
        async with _child(up, data / "up.log", cwd=data, more=more or {}) as process:
            told = await _wait_ready(process, ready, data / "up.log")
            floor = ("bench.floor_worker", told.temporal_address, Settings.model_fields["temporal_namespace"].default)
            async with _child(floor, data / "floor.log", cwd=ROOT) as floor_process:
                await _wait_floor(floor_process, data / "floor.log")
                client = await Client.connect(told.temporal_address, namespace=floor[2], data_converter=pydantic_data_converter)
                yield Stand(told, client, floor_process.pid, data / "hindwise")


@asynccontextmanager
async def _child(
    module: tuple[str, ...], log: Path, *, cwd: Path, more: Mapping[str, str] | None = None
) -> AsyncIterator[asyncio.subprocess.Process]:
    """`python -m …`, tied to us by the kernel, ended by SIGTERM and after a while by SIGKILL."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)} | _SETTINGS | dict(more or {})
    reading, writing = os.pipe()
    fetters = (sys.executable, "-I", "-S", guard.__file__, GUARD_MODE, str(os.getpid()), str(reading), "--")
    try:
        with log.open("ab") as output:
            process = await asyncio.create_subprocess_exec(
                *fetters,
                *(sys.executable, "-m", *module),
                cwd=cwd,  # a .env of the caller's folder is not ours
                env=env,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=(reading,),
                start_new_session=True,  # Ctrl-C is for us; we end the children in order
            )
        try:
            yield process
        finally:
            await _end(process)
    finally:
        os.close(reading)
        os.close(writing)


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        await asyncio.wait_for(process.wait(), _STOP_LIMIT_S)
    except TimeoutError:
        process.kill()
        await process.wait()


async def _wait_ready(process: asyncio.subprocess.Process, ready: Path, log: Path) -> Running:
    async for _ in _until(process, log):
        if ready.exists() and (told := running.read(ready.parent / "hindwise")):
            return told
    raise NotStarted(_tail(log))


async def _wait_floor(process: asyncio.subprocess.Process, log: Path) -> None:
    async for _ in _until(process, log):
        if READY in log.read_text(encoding="utf-8", errors="replace"):
            return
    raise NotStarted(_tail(log))


async def _until(process: asyncio.subprocess.Process, log: Path) -> AsyncIterator[None]:
    end = time.monotonic() + _START_LIMIT_S
    while time.monotonic() < end:
        if process.returncode is not None:
            raise NotStarted(f"ended with code {process.returncode}: {_tail(log)}")
        yield
        await asyncio.sleep(0.1)


def _tail(log: Path) -> str:
    text = ""
    with contextlib.suppress(OSError):
        text = log.read_text(encoding="utf-8", errors="replace")
    for other in sorted((log.parent / "hindwise" / "logs").glob("*.log")):
        text += f"\n--- {other.name}\n" + "\n".join(other.read_text(encoding="utf-8", errors="replace").splitlines()[-12:])
    return "\n".join(text.splitlines()[-60:])
