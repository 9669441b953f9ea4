"""The cluster of deploy/compose.cluster.yaml as processes on loopback: Temporal, Postgres, Weaviate, two APIs behind a front, two workers.

Each of our processes gets exactly the settings that the compose file gives it, with the addresses of this machine.
"""

import contextlib
import re
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2
import yaml

from hindwise.cli.readiness import ask_ready, first_key
from hindwise.cli.supervisor import ports, temporal_server
from hindwise.ledger.databases import make_engine
from tests.processes import ROOT, Process, environment, until
from tests.servers.front import Front
from tests.servers.postgres import Postgres
from tests.servers.weaviate import Weaviate

NAMESPACE = "hindwise"
COMPOSE = ROOT / "deploy" / "compose.cluster.yaml"
APIS, WORKERS = ("api-1", "api-2"), ("worker-1", "worker-2")
SERVERS = ("ledger", "weaviate", "temporal")
START_S = 120.0


def settings_of(service: str, file: Path = COMPOSE) -> dict[str, str]:
    """What the compose file sets for a service where nobody has set the variables it names: the default behind `:-`, else nothing."""
    read: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return {name: _unset(str(value)) for name, value in read["services"][service]["environment"].items()}


def _unset(value: str) -> str:
    named = re.fullmatch(r"\$\{\w+(?::-(.*)|:\?.*)?\}", value)
    return (named[1] or "") if named else value


class Cluster:
    """`with Cluster(folder) as cluster:` everything answers. `more`: settings on top, for a test that wants it quicker."""

    def __init__(self, folder: Path, **more: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.data = folder, folder / "data"
        self.data.mkdir(mode=0o700, exist_ok=True)
        self.postgres, self.weaviate = Postgres(durable=True), Weaviate()
        self._temporal_port, self._ui_port, front, *apis = ports.free_ports(3 + len(APIS))
        self._ports = dict(zip(APIS, apis, strict=True))
        self.front = Front(front, apis)
        self._secret = secrets.token_hex(24)
        self._more = more
        self.processes: dict[str, Process] = {}
        self._book: Any = None

    # Starting

    def start(self) -> "Cluster":
        """Servers first, then what compose calls setup, then workers and APIs; returns when everything answers."""
        self.weaviate.start(wait=False)
        self.postgres.start()
        self.processes["temporal"] = self._temporal().start()
        until(lambda: not ports.is_free(self._temporal_port), "Temporal listening", 60)
        self.weaviate.wait_ready()
        self._set_up()
        for name in (*WORKERS, *APIS):
            self.processes[name] = self._ours(name).start()
        self.front.start()
        try:
            until(self.all_answer, "every process ready", START_S, every=0.2)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.tails()}") from None
        self._book = make_engine(self.postgres.url)
        return self

    def _temporal(self) -> Process:
        command = temporal_server.arguments(
            temporal_server.binary(),
            self.folder / "temporal.db",
            port=self._temporal_port,
            ui_port=self._ui_port,
            namespace="default",  # ours is made by setup-temporal, as in compose
            search_attributes=[],
        )
        return Process("temporal", list(command), environment(self.data, {}), self.data)

    def settings(self, service: str) -> dict[str, str]:
        """The compose file's settings of a service, with the addresses and secrets of this cluster."""
        here = {
            "HINDWISE_DATABASE_URL": self.postgres.url,
            "HINDWISE_TEMPORAL_ADDRESS": f"127.0.0.1:{self._temporal_port}",
            "HINDWISE_TEMPORAL_UI_URL": self.ui_url,
            "HINDWISE_SECRET_KEY": self._secret,
            "HINDWISE_HOST": "127.0.0.1",
            "HINDWISE_PORT": str(self._ports.get(service, 0)),
            **self.weaviate.env(),
        }
        asked = settings_of(service)
        settings = {name: here.get(name, value) for name, value in asked.items()}
        missing = set(here) - set(settings)
        assert not missing, f"compose.cluster.yaml does not set {sorted(missing)}"
        return settings

    def _environment(self, service: str) -> dict[str, str]:
        base = environment(self.data, {})
        for quicker in ("HINDWISE_EMBED", "HINDWISE_REFLECTOR", "HINDWISE_SWEEP_INTERVAL_S"):
            base.pop(quicker)  # as in compose: the defaults
        return {**base, **self.settings(service), **self._more}

    def _set_up(self) -> None:
        command = [sys.executable, "-m", "hindwise.cli", "setup-temporal", "--create-namespace"]
        done = subprocess.run(
            command, env=self._environment("setup"), cwd=self.data, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr

    def _ours(self, name: str) -> Process:
        role = ["api"] if name in APIS else ["worker", "--ready-file", str(self._ready_file(name))]
        return Process(name, [sys.executable, "-m", "hindwise.cli", *role], self._environment(name), self.data)

    def _ready_file(self, name: str) -> Path:
        return self.folder / f"{name}.ready"

    # Looking

    @property
    def url(self) -> str:
        """Of the front."""
        return self.front.url

    @property
    def ui_url(self) -> str:
        """Of Temporal's UI."""
        return f"http://127.0.0.1:{self._ui_port}"

    @property
    def key(self) -> str:
        """The first API key."""
        return first_key(self.data)

    def api_url(self, name: str) -> str:
        """Of one API, past the front."""
        return f"http://127.0.0.1:{self._ports[name]}"

    def http(self, *, timeout: float = 30.0, transport: httpx2.BaseTransport | None = None) -> httpx2.Client:
        """A client of the front; close it."""
        headers = {"Authorization": f"Bearer {self.key}"}
        return httpx2.Client(base_url=self.url, headers=headers, timeout=timeout, trust_env=False, transport=transport)

    def answers(self, name: str) -> bool:
        """Whether a process does its work: an API is ready with all behind it, a worker takes work."""
        if name in APIS:
            return ask_ready(self.api_url(name))[1].get("status") == "ready"
        if name in WORKERS:
            return self._ready_file(name).exists()
        if name == "weaviate":
            return self.weaviate.ready()
        return not ports.is_free(self._temporal_port if name == "temporal" else self.postgres.port)

    def all_answer(self) -> bool:
        """Whether everything does; a process that ended is an error."""
        for name, process in self.processes.items():
            assert process.ended() is None, f"{name} ended:\n{process.tail()}"
        return all(map(self.answers, (*WORKERS, *APIS)))

    def read(self, work: Any) -> Any:
        """Run `work(conn)` on the ledger, beside the processes that write it."""
        with self._book.begin() as conn:
            return work(conn)

    def pids(self) -> Mapping[str, int]:
        """Of everything that runs."""
        ours = {name: process.pid for name, process in self.processes.items() if process.ended() is None}
        return {**ours, "ledger": self.postgres.child.pid, "weaviate": self.weaviate.child.pid}

    def tails(self) -> str:
        """The end of every log."""
        return "\n".join(f"== {name}\n{process.tail()[-3000:]}" for name, process in self.processes.items())

    # Blows

    def kill(self, name: str) -> None:
        """Kill -9 one process."""
        if name == "ledger":
            self.postgres.kill()
        elif name == "weaviate":
            self.weaviate.kill()
        else:
            if name in WORKERS:
                self._ready_file(name).unlink(missing_ok=True)
            self.processes[name].kill()

    def again(self, name: str) -> None:
        """Start it again, as compose's restart policy does. Call from the main thread: the kernel ends a child with its starter."""
        if name == "ledger":
            self.postgres.start()
        elif name == "weaviate":
            self.weaviate.start(wait=False)
        else:
            self.processes[name].start()

    def revive(self) -> list[str]:
        """Start again what ended by itself, as the restart policy does; their names."""
        ended = [name for name, process in self.processes.items() if process.ended() is not None]
        for name in ended:
            self.processes[name].gone()
            self.again(name)
        return ended

    def close(self) -> list[int]:
        """Stop everything, callers first; return the pids that still live: none, or something is wrong."""
        pids = list(self.pids().values())
        if self._book is not None:
            self._book.dispose()
        with contextlib.suppress(RuntimeError):
            self.front.close()
        for name in (*APIS, *WORKERS):
            if name in self.processes and self.processes[name].ended() is None:
                self.processes[name].send(signal.SIGTERM)  # side by side, so that one grace is enough
        for name in (*APIS, *WORKERS, "temporal"):
            if name in self.processes:
                self.processes[name].stop()
        self.weaviate.close()
        self.postgres.close()
        return [pid for pid in pids if pid and _lives(pid)]

    def __enter__(self) -> "Cluster":
        try:
            return self.start()
        except BaseException:
            self.close()
            raise

    def __exit__(self, *_: object) -> None:
        self.close()


def _lives(pid: int, seconds: float = 5.0) -> bool:
    from hindwise.cli.demo_server import is_alive

    end = time.monotonic() + seconds
    while is_alive(pid) and time.monotonic() < end:
        time.sleep(0.05)
    return is_alive(pid)
