"""The demo's own Hindwise: `hindwise up` as a child in the demo's data directory, and the promise that nothing of it is left.

The child sees none of the caller's settings, so the demo is the same everywhere and calls nobody's model.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from hindwise.cli import running
from hindwise.cli.exits import Ended
from hindwise.cli.running import Running
from hindwise.cli.supervisor import guard
from hindwise.cli.supervisor.child import GUARD_MODE

START_LIMIT_S = 90.0
_STOP_LIMIT_S = 20.0
_FOREIGN = ("HINDWISE_", "LLM_", "EMBEDDING_")


class Played(Protocol):
    """What the demo is played against. `data`: where its logs and results lie; `keep`: it may outlive us, and its addresses are told."""

    data: Path
    keep: bool
    starts: bool
    """Whether the demo starts it; else it runs already."""
    keep_with: str
    """The command that leaves it open, where this run does not; else empty."""

    def start(self) -> None:
        """Start it, where that is to be done; `wait_ready` says when it answers."""
        ...

    def look(self) -> Running | None:
        """Where it is found, None where it does not say so yet."""
        ...

    def wait_ready(self) -> Running:
        """Wait until all of it answers. Raises Ended."""
        ...

    def kill_worker(self) -> int:
        """Kill -9 a worker and return its pid; another one takes its place."""
        ...


class Server:
    """A running `hindwise up`. `keep`: it may outlive us; else the kernel ends it with us, however we end."""

    def __init__(self, data: Path, *, keep: bool) -> None:
        self.data = data
        self.log = data / "up.log"
        self.keep = keep
        self.starts = True
        self.keep_with = "" if keep else "hindwise demo --keep"
        self._process: subprocess.Popen[bytes] | None = None
        self._pids: set[int] = set()

    def start(self) -> None:
        """Start it; `wait_ready` says when it answers."""
        command = [sys.executable, "-m", "hindwise.cli", "up", "--data", str(self.data), "--port", "0"]
        env = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
        env |= {"HINDWISE_REFLECTOR": "rules", "HINDWISE_EMBED": "auto"}
        reading, writing = os.pipe()  # on Linux unused: the kernel itself ties the child to us
        fetters = [] if self.keep else [sys.executable, "-I", "-S", guard.__file__, GUARD_MODE, str(os.getpid()), str(reading), "--"]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603  our own command
                [*fetters, *command],
                cwd=self.data,  # a .env of the caller's folder is not ours
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[] if self.keep else [reading],
                start_new_session=True,  # Ctrl-C in the terminal is for us; we end the child in order
            )
        os.close(reading)
        self._alive_fd = writing
        self._pids.add(self._process.pid)

    def look(self) -> Running | None:
        """Where it is found, once everything answers; after a restart of a child with its new pid. Raises Ended when it has died."""
        if self._process is not None and self._process.poll() is not None:
            raise Ended(f"`hindwise up` ended with code {self._process.returncode}", next_step=_tail(self.log))
        found = running.read(self.data)
        if found:
            self._pids |= {pid for pid in (found.pid, found.temporal_server_pid, found.worker_pid, found.api_pid) if pid}
        return found

    def wait_ready(self, on_wait: Callable[[], None] = lambda: None) -> Running:
        """Wait until everything answers. Raises Ended after `START_LIMIT_S`."""
        end = time.monotonic() + START_LIMIT_S
        while time.monotonic() < end:
            if found := self.look():
                return found
            on_wait()
            time.sleep(0.1)
        raise Ended(f"`hindwise up` was not ready after {START_LIMIT_S:.0f} s", next_step=_tail(self.log))

    def kill_worker(self) -> int:
        """Kill -9 the present worker and return its pid. Raises Ended when there is none."""
        found = self.look()
        if found is None or found.worker_pid is None:
            raise Ended("no worker runs that could be killed")
        os.kill(found.worker_pid, signal.SIGKILL)
        return found.worker_pid

    def stop(self) -> list[int]:
        """End everything and return the pids that still live: none, or something is wrong."""
        if self._process is None:
            return []
        with contextlib.suppress(Ended):
            self.look()
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(_STOP_LIMIT_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait(_STOP_LIMIT_S)
        os.close(self._alive_fd)
        self._process = None
        end = time.monotonic() + 5.0
        while (alive := sorted(filter(is_alive, self._pids))) and time.monotonic() < end:
            time.sleep(0.05)
        return alive


def is_alive(pid: int) -> bool:
    """Whether a process of this pid runs; one that only waits to be collected does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # somebody else's by now, but alive
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0] != "Z"
    return True


def _tail(log: Path) -> str:
    with contextlib.suppress(OSError):
        return "\n       ".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-8:])
    return ""
