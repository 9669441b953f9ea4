"""One server process: started on free ports, asked until it answers, ended by its pid. Nothing here knows which server it is."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hindwise.cli.supervisor import ports
from hindwise.cli.supervisor.processes import start_mark
from tests.servers import launch

_STARTER = ThreadPoolExecutor(1, thread_name_prefix="server-starter")
"""The kernel ends a child with the *thread* that started it, so all are started by one that lasts as long as we do."""


class NotReady(RuntimeError):
    """A server ended, or did not answer in time; the message holds the end of its log."""


def free_port_pairs(count: int) -> list[int]:
    """Return `count` ports that are free and whose next port is free too."""
    found: list[int] = []
    while len(found) < count:
        (port,) = ports.free_ports(1)
        if ports.is_free(port + 1) and all(abs(port - other) > 1 for other in found):
            found.append(port)
    return found


def scratch(kind: str) -> Path:
    """A short, fresh directory (a socket's path has 107 bytes) named after us; those of processes that are gone are removed."""
    root = Path(tempfile.gettempdir())
    for left in root.glob(f"hindwise-{kind}-*"):
        with contextlib.suppress(ValueError, OSError):
            if not start_mark(int(left.name.split("-")[2])):
                shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"hindwise-{kind}-{os.getpid()}-", dir=root))


class Child:
    """A server's process. `end_with`: what it gets when we die, or are told to stop it quickly."""

    def __init__(self, name: str, log: Path, *, user: tuple[int, int] = (0, 0), end_with: signal.Signals = signal.SIGKILL) -> None:
        self.name, self.log, self.user, self.end_with = name, log, user, end_with
        self._running: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Of the running server; 0 = it does not run."""
        return self._running.pid if self._running is not None and self._running.poll() is None else 0

    def start(self, command: list[str], env: Mapping[str, str], cwd: Path) -> None:
        """Start it; `wait_ready` says when it answers."""
        uid, gid = self.user
        fetters = [sys.executable, "-I", "-S", launch.__file__, str(uid), str(gid), str(int(self.end_with)), str(os.getpid()), "--"]

        def spawn() -> subprocess.Popen[bytes]:
            with self.log.open("ab") as log:
                return subprocess.Popen(
                    [*fetters, *command],
                    cwd=cwd,
                    env=dict(env),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,  # Ctrl-C in a terminal is for us
                )

        self._running = _STARTER.submit(spawn).result()

    def wait_ready(self, answers: Callable[[], bool], seconds: float, every: float = 0.05) -> None:
        """Wait until `answers()`. Raises NotReady when it ended or the time is over."""
        end = time.monotonic() + seconds
        while not answers():
            if not self.pid:
                raise NotReady(f"{self.name} ended before it answered:\n{self.tail()}")
            if time.monotonic() > end:
                raise NotReady(f"{self.name} does not answer after {seconds:.0f} s:\n{self.tail()}")
            time.sleep(every)

    def send(self, number: signal.Signals) -> None:
        """Send it a signal: SIGSTOP and SIGCONT let it stand still and go on."""
        if self.pid:
            os.kill(self.pid, number)

    def end(self, number: signal.Signals, seconds: float = 20.0) -> None:
        """Send it `number` and wait until it is gone; kill -9 after `seconds`. Idempotent."""
        if self._running is None:
            return
        self.send(number)
        self.send(signal.SIGCONT)  # one that stands still could not end
        try:
            self._running.wait(seconds)
        except subprocess.TimeoutExpired:
            self._running.kill()
            self._running.wait(seconds)
        self._running = None

    def tail(self) -> str:
        """The end of what it wrote."""
        with contextlib.suppress(OSError):
            return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:])
        return ""
