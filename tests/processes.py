"""Real processes on one data directory: `hindwise up`, or single roles, on free loopback ports, ended by pid and by nothing else.

Every wait is for a condition and bounded. What a process wrote is shown when a wait runs out.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import httpx2
from sqlalchemy import Connection

from hindwise.cli.readiness import ask_ready, first_key
from hindwise.cli.supervisor import guard, ports, temporal_server
from hindwise.cli.supervisor.child import GUARD_MODE
from hindwise.cli.supervisor.processes import start_mark
from hindwise.ledger.databases import make_engine
from workflows.policies import SEARCH_ATTRIBUTES

T = TypeVar("T")

ROOT = Path(__file__).resolve().parents[1]
NAMESPACE = "hindwise"
_FOREIGN = ("HINDWISE_", "LLM_", "EMBEDDING_", "TEMPORAL_", "OPENAI_")
_END_S = 20.0


def until(condition: Callable[[], T], what: str, seconds: float = 60.0, every: float = 0.05) -> T:
    """Wait until `condition()` is truthy and return its value. Fails with `what` after `seconds`."""
    end = time.monotonic() + seconds
    while True:
        if value := condition():
            return value
        if time.monotonic() > end:
            raise AssertionError(f"after {seconds:.0f} s still not: {what}")
        time.sleep(every)


def environment(data: Path, settings: Mapping[str, str]) -> dict[str, str]:
    """Our own variables are dropped, so that a test is the same everywhere: no vectors, rules, a quick sweep. `settings`: by full name."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
    ours = {"HINDWISE_EMBED": "none", "HINDWISE_REFLECTOR": "rules", "HINDWISE_SWEEP_INTERVAL_S": "0.5", "PYTHONUNBUFFERED": "1"}
    return {**kept, "PYTHONPATH": str(ROOT), "HINDWISE_DATA": str(data), **ours, **settings}


class Process:
    """One child of the test, tied to it by the kernel where that is possible."""

    def __init__(self, name: str, argv: list[str], env: Mapping[str, str], data: Path) -> None:
        self.name, self.argv, self.env, self.data = name, argv, dict(env), data
        self.log = data / f"test-{name}.log"
        self._running: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Of the running child."""
        assert self._running is not None, f"{self.name} is not running"
        return self._running.pid

    def start(self) -> "Process":
        """Start it; somebody else says when it answers."""
        reading, writing = os.pipe()
        fetters = [sys.executable, "-I", "-S", guard.__file__, GUARD_MODE, str(os.getpid()), str(reading), "--"]
        with self.log.open("ab") as log:
            self._running = subprocess.Popen(
                [*fetters, *self.argv],
                cwd=self.data,  # a .env of the caller's folder is not ours
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[reading],
                start_new_session=True,
            )
        os.close(reading)
        self._alive_fd = writing
        return self

    def ended(self) -> int | None:
        """Its exit code, or None while it runs."""
        return None if self._running is None else self._running.poll()

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill -9, and wait until it is gone."""
        if self._running is not None and self._running.poll() is None:
            self._running.send_signal(signal.SIGKILL)
        self.gone()

    def stop(self) -> None:
        """SIGTERM, and kill -9 after its limit. Idempotent."""
        if self._running is None:
            return
        if self._running.poll() is None:
            self._running.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._running.wait(_END_S)
        self.kill()

    def gone(self, seconds: float = _END_S) -> int:
        """Wait until it has ended by itself; its exit code (negative: the signal)."""
        if self._running is None:
            return 0
        code = self._running.wait(seconds)
        os.close(self._alive_fd)
        self._running = None
        return code

    def tail(self) -> str:
        """The end of what it wrote."""
        with contextlib.suppress(OSError):
            return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-30:])
        return ""


class Book:
    """The ledger of a data directory, read beside the processes that write it."""

    def __init__(self, data: Path) -> None:
        self.path = data / "ledger.db"
        self._engine = make_engine(f"sqlite:///{self.path}")

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run `work(conn)` in one read transaction."""
        with self._engine.begin() as conn:
            return work(conn)

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()


class Place:
    """A data directory, and how to reach what runs on it. Base of `Up` and `Roles`."""

    def __init__(self, data: Path, **settings: str) -> None:
        data.mkdir(parents=True, exist_ok=True)
        self.data = data
        self.env = environment(data, settings)
        self._book: Book | None = None

    @property
    def url(self) -> str:
        """Of the API."""
        raise AttributeError

    @property
    def book(self) -> Book:
        """The ledger; it exists once something was started."""
        if self._book is None:
            self._book = Book(self.data)
        return self._book

    def http(self, url: str = "", *, timeout: float = 30.0) -> httpx2.Client:
        """A client with the first key; close it."""
        headers = {"Authorization": f"Bearer {first_key(self.data)}"}
        return httpx2.Client(base_url=url or self.url, headers=headers, timeout=timeout, trust_env=False)

    def close(self) -> None:
        """Stop everything."""
        if self._book is not None:
            self._book.close()

    def __enter__(self) -> "Place":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Up(Place):
    """`hindwise up`: a supervisor with its three children."""

    def __init__(self, data: Path, **settings: str) -> None:
        super().__init__(data, **settings)
        command = [sys.executable, "-m", "hindwise.cli", "up", "--data", str(data), "--port", "0", "--json"]
        self.process = Process("up", command, self.env, data)

    def start(self) -> "Up":
        """Start it and wait until everything answers."""
        self.process.start()
        self.ready()
        return self

    def told(self) -> dict[str, Any]:
        """What it says about itself; {} before everything answers. Fails when it has ended."""
        code = self.process.ended()
        assert code is None, f"`hindwise up` ended with {code}:\n{self.process.tail()}"
        with contextlib.suppress(OSError, ValueError):
            told: dict[str, Any] = json.loads((self.data / "up.json").read_text(encoding="utf-8"))
            return told if told["pid"] == self.process.pid else {}
        return {}

    def ready(self, *, without: int | None = None) -> dict[str, Any]:
        """Wait until everything answers, with another pid than `without` in every role, and return what it says."""

        def all_new() -> dict[str, Any]:
            told = self.told()
            if not told or without in told.values() or not all(start_mark(pid) for pid in self.pids(told)):
                return {}
            return told if ask_ready(told["api_url"])[1].get("status") == "ready" else {}

        try:
            return until(all_new, "`hindwise up` ready", 90, every=0.1)
        except AssertionError as error:
            logs = "\n".join(f"== {path.name}\n{_last(path)}" for path in sorted((self.data / "logs").glob("*.log")))
            raise AssertionError(f"{error}\n{self.process.tail()}\n{logs}") from None

    @staticmethod
    def pids(told: Mapping[str, Any]) -> list[int]:
        """Of the supervisor and its children."""
        return [pid for name, pid in told.items() if name.endswith("pid") and pid]

    @property
    def url(self) -> str:
        return str(self.told()["api_url"])

    def kill(self, role: str) -> int:
        """Kill -9 one child (temporal_server, worker, api) and return the pid it had."""
        pid = int(self.ready()[f"{role}_pid"])
        os.kill(pid, signal.SIGKILL)
        return pid

    def kill_tree(self) -> None:
        """Kill -9 the supervisor and all children at once, and wait until they are gone."""
        pids = self.pids(self.ready())
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):  # the kernel was faster: it kills children with their parent
                os.kill(pid, signal.SIGKILL)
        self.process.gone()
        until(lambda: not any(map(start_mark, pids)), "all killed processes gone", 10)

    def close(self) -> None:
        self.process.stop()
        super().close()


class Roles(Place):
    """Single roles, each started and ended by the test: `temporal`, `worker`, and as many `api` as it wants. Ports stay the same."""

    def __init__(self, data: Path, **settings: str) -> None:
        super().__init__(data, **settings)
        self._ports = ports.free_ports(3)
        self.env["HINDWISE_TEMPORAL_ADDRESS"] = f"127.0.0.1:{self._ports[0]}"
        self.temporal = Process("temporal", list(self._temporal_command()), self.env, data)
        self.worker = Process("worker", [sys.executable, "-m", "hindwise.cli", "worker"], self.env, data)
        self.api = self.make_api("api", self._ports[2])
        self.others: list[Process] = []
        self.second_url = ""

    def _temporal_command(self) -> tuple[str, ...]:
        return temporal_server.arguments(
            temporal_server.binary(),
            self.data / "temporal.db",
            port=self._ports[0],
            ui_port=self._ports[1],
            namespace=NAMESPACE,
            search_attributes=[attribute.name for attribute in SEARCH_ATTRIBUTES],
        )

    def make_api(self, name: str, port: int, module: str = "hindwise.cli", *arguments: str) -> Process:
        """An API process that is not started yet."""
        command = [sys.executable, "-m", module, "api", "--port", str(port), *arguments]
        return Process(name, command, self.env, self.data)

    @property
    def temporal_address(self) -> str:
        """host:port."""
        return f"127.0.0.1:{self._ports[0]}"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._ports[2]}"

    def start(self, *, worker: bool = True) -> "Roles":
        """Start Temporal, the worker and the API, and wait until all of them answer."""
        self.start_temporal()
        if worker:
            self.worker.start()
        self.api.start()
        self.ready()
        return self

    def start_temporal(self) -> None:
        """Start Temporal and wait until it listens."""
        self.temporal.start()
        until(lambda: not ports.is_free(self._ports[0]), "Temporal listening", 60)

    def ready(self, status: str = "ready", url: str = "") -> None:
        """Wait until the API says so; `status`: ready, or degraded where Temporal is down on purpose."""
        self._wait(lambda: ask_ready(url or self.url)[1].get("status") == status, f"API {status}")

    def _wait(self, condition: Callable[[], bool], what: str) -> None:
        processes = (self.temporal, self.worker, self.api, *self.others)

        def met() -> bool:
            dead = [process.name for process in processes if process.ended() is not None]
            assert not dead, f"{what}: {', '.join(dead)} ended"
            return condition()

        try:
            until(met, what, 60)
        except AssertionError as error:
            tails = "\n".join(f"== {process.name}\n{process.tail()}" for process in processes)
            raise AssertionError(f"{error}\n{tails}") from None

    def close(self) -> None:
        for process in (*self.others, self.api, self.worker):
            process.stop()
        with contextlib.suppress(AssertionError, ProcessLookupError):
            self.temporal.send(signal.SIGCONT)  # one that was frozen could not end
        self.temporal.stop()
        super().close()


@contextlib.contextmanager
def frozen(process: Process) -> Iterator[None]:
    """Let a process stand still: it holds its connections and answers nothing."""
    process.send(signal.SIGSTOP)
    try:
        yield
    finally:
        process.send(signal.SIGCONT)


def _last(path: Path) -> str:
    return "\n".join(path.read_text(encoding="utf-8", errors="replace").splitlines()[-10:])
