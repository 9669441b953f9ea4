"""One child of the supervisor: started through the guard, started again when it dies, ended within a limit."""

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from hindwise.cli.supervisor import logs, processes
from hindwise.cli.supervisor.backoff import Backoff

_GUARD = Path(__file__).with_name("guard.py")
WRONG_SETTINGS = 2
"""Exit code of our own commands for what no second start can cure."""
GUARD_MODE = "kernel" if sys.platform.startswith("linux") else "pipe"


class ChildGaveUp(Exception):
    """A child died so often that starting it again makes no sense; `tail` is the end of its log."""

    def __init__(self, name: str, code: int, tail: str, log: Path) -> None:
        super().__init__(f"{name} cannot be kept running (it ended with {_in_words(code)}); its log: {log}")
        self.tail = tail


@dataclass(frozen=True, slots=True)
class Command:
    """What to run. `keep`: descriptors that the child inherits; `env`: added to ours."""

    argv: tuple[str, ...]
    env: dict[str, str] = field(default_factory=dict)
    keep: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Where children leave their traces, and the pipe that tells them that we live."""

    logs: Path
    records: Path
    alive_fd: int


@dataclass(slots=True)
class Child:
    """A role and its present process. `command` is asked anew at each start; `changed` is called at each start and death."""

    name: str
    command: Callable[[], Awaitable[Command]]
    place: Place
    changed: Callable[[str, str], None]
    stop_limit_s: float = 5.0
    mode: str = GUARD_MODE
    backoff: Backoff = field(default_factory=Backoff)
    pid: int | None = None
    _stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _process: asyncio.subprocess.Process | None = None

    @property
    def log(self) -> Path:
        """The file that holds the child's output."""
        return self.place.logs / f"{self.name}.log"

    async def keep_running(self) -> None:
        """Start, wait, start again, until `stop`. Raises ChildGaveUp."""
        while not self._stopping.is_set():
            command = await self.command()
            if self._stopping.is_set():
                return
            began = time.monotonic()
            code = await self._one_life(command)
            if self._stopping.is_set():
                return
            pause = self.backoff.after(time.monotonic() - began)
            if pause is None or code == WRONG_SETTINGS:
                raise ChildGaveUp(self.name, code, logs.tail(self.log), self.log)
            self.changed(self.name, f"ended with {_in_words(code)}; starting it again in {pause:.0f} s")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), pause)

    async def _one_life(self, command: Command) -> int:
        output = logs.open_for_child(self.log)
        guard = (sys.executable, "-I", "-S", str(_GUARD), self.mode, str(os.getpid()), str(self.place.alive_fd), *map(str, command.keep))
        try:
            # Started from the thread that runs the loop, which lives as long as we do: Linux ties the child to that thread.
            self._process = await asyncio.create_subprocess_exec(
                *guard,
                "--",
                *command.argv,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**os.environ, **command.env},
                pass_fds=(self.place.alive_fd, *command.keep),
                start_new_session=True,  # Ctrl-C reaches the supervisor alone, which ends the children in order
            )
        finally:
            os.close(output)
        self.pid = self._process.pid
        processes.write_record(self.place.records, self.name, self.pid)
        if self._stopping.is_set():  # asked to stop while it was being started
            processes.signal_group(self.pid, signal.SIGKILL)
        self.changed(self.name, "started")
        pid = self.pid
        try:
            return await self._process.wait()
        finally:
            self.pid = None
            if self.mode == "pipe":  # there the guard may have been killed alone, its command left behind
                processes.signal_group(pid, signal.SIGKILL)

    async def stop(self) -> None:
        """End the child: SIGTERM, and after its limit SIGKILL for its whole group. Idempotent."""
        self._stopping.set()
        process = self._process
        if process is None or process.returncode is not None:
            return
        processes.signal_group(process.pid, signal.SIGTERM)
        try:
            await asyncio.wait_for(process.wait(), self.stop_limit_s)
        except TimeoutError:
            processes.signal_group(process.pid, signal.SIGKILL)
            await process.wait()

    def kill(self) -> None:
        """End the child's group at once, for a person who will not wait."""
        self._stopping.set()
        if self._process is not None and self._process.returncode is None:
            processes.signal_group(self._process.pid, signal.SIGKILL)


def _in_words(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    with contextlib.suppress(ValueError):
        return signal.Signals(-code).name
    return f"signal {-code}"
