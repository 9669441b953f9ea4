"""Three children and one promise: while `up` lives they run, when it ends they end.

Temporal first, then worker and API once Temporal listens; ended in the other order. Ports stay the same for the whole run: the
API's socket belongs to the supervisor and is handed to each new API, so callers wait in its queue during a restart.
"""

import asyncio
import contextlib
import os
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hindwise.cli import running
from hindwise.cli.running import Running
from hindwise.cli.supervisor import logs, ports, processes, temporal_server
from hindwise.cli.supervisor.child import Child, Command, Place

_ROTATE_EVERY_S = 15.0
_TEMPORAL_LIMIT_S = 60.0
_SLOW_START_S = 60.0
_HEAD_START_S = 1.0
_OURSELVES = (sys.executable, "-P", "-m", "hindwise.cli")
"""-P: the folder where somebody runs `hindwise up` may hold an `api` or `workflows` of its own, which must not be taken for ours."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run where. `data` is absolute. `temporal_address` non-empty = a server that others run; then none is started."""

    data: Path
    host: str
    port: int
    listening: socket.socket
    auth: bool
    namespace: str
    search_attributes: Sequence[str]
    temporal_address: str = ""
    temporal_ui_url: str = ""
    ready_file: Path | None = None
    env: dict[str, str] = field(default_factory=dict)

    @property
    def api_url(self) -> str:
        """Where this machine reaches the API."""
        return f"http://{ports.reachable_host(self.host)}:{self.port}"


@dataclass(frozen=True, slots=True)
class Tell:
    """Whom to tell: `event` a line for people; `ready` whenever everything answers, also after a restart."""

    event: Callable[[str], None]
    ready: Callable[[Running], None]


class Supervisor:
    """Runs a plan until told to stop. `answers`: asks the API whether everything does; `api_key`: reads the first key."""

    def __init__(self, plan: Plan, tell: Tell, answers: Callable[[str], bool], api_key: Callable[[], str]) -> None:
        self.plan = plan
        self.tell = tell
        self._answers = answers
        self._api_key = api_key
        self._changed = asyncio.Event()
        self._temporal_ports = (0, 0)
        self._temporal_listened = False
        self._children: dict[str, Child] = {}
        self._told: Running | None = None

    @property
    def temporal_address(self) -> str:
        """host:port of the server that is used."""
        return self.plan.temporal_address or f"127.0.0.1:{self._temporal_ports[0]}"

    @property
    def temporal_ui_url(self) -> str:
        """Where a person looks at workflows; empty where it is not known."""
        if self.plan.temporal_address:
            return self.plan.temporal_ui_url
        return f"http://127.0.0.1:{self._temporal_ports[1]}"

    async def run(self, stop: asyncio.Event) -> None:
        """Run until `stop` is set, then end all. Raises ChildGaveUp (after ending the others)."""
        for name in await asyncio.to_thread(processes.end_leftovers, self.plan.data / "pids"):
            self.tell.event(f"ended a {name} that an earlier run left behind")
        with _alive_pipe() as alive_fd:
            self._children = self._make_children(Place(self.plan.data / "logs", self.plan.data / "pids", alive_fd))
            try:
                await self._until(stop)
            finally:
                await self._end()

    async def _until(self, stop: asyncio.Event) -> None:
        async with _tasks(
            *(child.keep_running() for child in self._children.values()), self._announce(), self._bound_logs(), stop.wait()
        ) as tasks:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            await self._stop_children()
            for task in done:
                task.result()

    async def _stop_children(self) -> None:
        """API first, then the worker, which may finish its steps while the last requests are answered; Temporal when both are gone."""
        stopping = []
        for name in ("api", "worker"):
            if name in self._children:
                stopping.append(asyncio.create_task(self._children[name].stop()))
                await asyncio.wait(stopping, timeout=_HEAD_START_S)
        await asyncio.gather(*stopping)
        if "temporal" in self._children:
            await self._children["temporal"].stop()

    def kill(self) -> None:
        """End everything at once."""
        for child in self._children.values():
            child.kill()

    async def _end(self) -> None:
        await self._stop_children()
        for path in (self.plan.ready_file, self.plan.data / "up.json"):
            if path is not None:
                path.unlink(missing_ok=True)
        for path in (self.plan.data / "pids").glob("*"):
            path.unlink(missing_ok=True)

    def _make_children(self, place: Place) -> dict[str, Child]:
        # A little over the grace that worker (10 s) and API (5 s) give their work. API and worker end side by side, so all of it is
        # over within 15 s: what a person, or a service manager, waits without worrying.
        children = [
            Child("worker", self._worker_command, place, self._on_change, stop_limit_s=11.0),
            Child("api", self._api_command, place, self._on_change, stop_limit_s=7.0),
        ]
        if not self.plan.temporal_address:
            children.insert(0, Child("temporal", self._temporal_command, place, self._on_change, stop_limit_s=3.0))
        return {child.name: child for child in children}

    def _on_change(self, name: str, what: str) -> None:
        if what != "started":
            self.tell.event(f"{name} {what}")
        self._changed.set()

    async def _temporal_command(self) -> Command:
        # Until it listened once, a port that was taken meanwhile is given up for another; afterwards others know the address.
        if not self._temporal_listened:
            first, second = ports.free_ports(2)
            self._temporal_ports = (first, second)
        return Command(
            temporal_server.arguments(
                temporal_server.binary(),
                self.plan.data / "temporal.db",
                port=self._temporal_ports[0],
                ui_port=self._temporal_ports[1],
                namespace=self.plan.namespace,
                search_attributes=self.plan.search_attributes,
            ),
            # In a container that runs under a number without a name the server would not start without these two.
            {name: os.environ.get(name) or value for name, value in (("USER", "hindwise"), ("HOME", str(self.plan.data)))},
        )

    async def _wait_for_temporal(self) -> None:
        end = time.monotonic() + _TEMPORAL_LIMIT_S
        while time.monotonic() < end:  # asked anew each time: before it listened once, its port may still change
            if self.temporal_address.endswith(":0"):
                await asyncio.sleep(0.05)
            elif await temporal_server.accepts(self.temporal_address, 0.5):
                self._temporal_listened = True
                return

    async def _worker_command(self) -> Command:
        await self._wait_for_temporal()
        self._worker_ready.unlink(missing_ok=True)  # of the one before, which may have been killed
        return Command((*_OURSELVES, "worker", "--ready-file", str(self._worker_ready)), self._env())

    @property
    def _worker_ready(self) -> Path:
        return self.plan.data / "pids" / "worker.ready"

    async def _api_command(self) -> Command:
        if not self._temporal_listened:  # later the API starts without it: it accepts turns while Temporal is away
            await self._wait_for_temporal()
        fd = self.plan.listening.fileno()
        return Command((*_OURSELVES, "api", "--fd", str(fd)), self._env(), keep=(fd,))

    def _env(self) -> dict[str, str]:
        return {
            **self.plan.env,
            "HINDWISE_DATA": str(self.plan.data),
            "HINDWISE_HOST": self.plan.host,
            "HINDWISE_PORT": str(self.plan.port),
            "HINDWISE_AUTH": "true" if self.plan.auth else "false",
            "HINDWISE_TEMPORAL_ADDRESS": self.temporal_address,
            "HINDWISE_TEMPORAL_UI_URL": self.temporal_ui_url,
            "HINDWISE_TEMPORAL_NAMESPACE": self.plan.namespace,
            "PYTHONUNBUFFERED": "1",
        }

    def _pid(self, name: str) -> int | None:
        return self._children[name].pid if name in self._children else None

    async def _announce(self) -> None:
        """After every change: wait until everything answers, then say where."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            began, warned = time.monotonic(), False
            while not await self._all_answer():
                if not warned and time.monotonic() - began > _SLOW_START_S:
                    warned = True
                    self.tell.event(f"not everything answers yet; see the logs in {self.plan.data / 'logs'}")
                await asyncio.sleep(0.2)
            if all(child.pid is not None for child in self._children.values()):
                self._write_ready()

    async def _all_answer(self) -> bool:
        if any(child.pid is None for child in self._children.values()) or not self._worker_ready.exists():
            return False
        return await asyncio.to_thread(self._answers, self.plan.api_url)

    def _write_ready(self) -> None:
        told = Running(
            api_url=self.plan.api_url,
            api_key=self._api_key() if self.plan.auth else "",
            temporal_address=self.temporal_address,
            temporal_ui_url=self.temporal_ui_url,
            pid=os.getpid(),
            temporal_server_pid=self._pid("temporal"),
            worker_pid=self._pid("worker"),
            api_pid=self._pid("api"),
        )
        if told == self._told:  # two children started side by side: everything was told already
            return
        for path in (self.plan.data / "up.json", self.plan.ready_file):
            if path is not None:
                running.write(path, told)
        self._told = told
        for child in self._children.values():
            child.backoff.worked_once()
        self.tell.ready(told)

    async def _bound_logs(self) -> None:
        while True:
            await asyncio.sleep(_ROTATE_EVERY_S)
            for child in self._children.values():
                await asyncio.to_thread(logs.rotate, child.log)


@contextlib.contextmanager
def _alive_pipe() -> Iterator[int]:
    """The reading end goes to the children; the writing end is ours alone, so it closes when we die."""
    reading, writing = os.pipe()
    try:
        yield reading
    finally:
        os.close(reading)
        os.close(writing)


@contextlib.asynccontextmanager
async def _tasks(*coroutines: Coroutine[Any, Any, Any]) -> AsyncIterator[set[asyncio.Task[Any]]]:
    """Run side by side; at the end cancel what still runs and wait for it."""
    tasks = {asyncio.create_task(each) for each in coroutines}
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
