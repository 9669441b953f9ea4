"""The only module that touches Temporal: a client connected in the background, and a breaker that keeps callers from waiting.

The ledger has everything before anything here is called, so every call may be made late, twice, or by another process.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Protocol, TypeVar

import structlog
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from api.errors import WorkflowsUnavailable
from hindwise.errors import NotFound
from hindwise.settings import Settings
from workflows import connection, start, start_erasure
from workflows.connection import NotConnected, NotDelivered
from workflows.contracts import ReflectionInput, SessionInput, TaskCompleted, TurnsRecorded
from workflows.erase_messages import EraseInput

T = TypeVar("T")
_log = structlog.get_logger("hindwise.api")

_PROBE_FIRST_S, _PROBE_MAX_S = 0.5, 5.0
_SLOW_PAUSE_S = 5.0
"""How long no caller waits for a worker after one did in vain."""
_HEALTH_S, _CHECK_S = 2.0, 1.0
_ATTRIBUTES = "search attributes"
_LOOK_AGAIN_S = 60.0
"""How often search attributes are asked for that were missing: `hindwise setup-temporal` needs no restart."""


class Starter(Protocol):
    """Tells Temporal what the ledger accepted. All raise WorkflowsUnavailable within their limit, and may be repeated."""

    async def send_turns(self, session: SessionInput, turns: TurnsRecorded) -> None:
        """Return when the session's workflow acknowledged the turns."""
        ...

    async def send_completion(self, session: SessionInput, task: TaskCompleted) -> None:
        """Return when the session's workflow acknowledged the end of its task and starts the reflection."""
        ...

    async def start_reflection(self, reflection: ReflectionInput) -> None:
        """Return when the reflection's workflow exists, whoever started it."""
        ...

    async def signal_reflection(self, reflection_id: str, signal: str) -> None:
        """Release a parked reflection. Raises NotFound when no workflow of that reflection runs."""
        ...

    async def start_erasure(self, erasure: EraseInput) -> None:
        """Return when the erasure's workflow exists, whoever started it; one that waits tries again."""
        ...

    def available(self) -> bool:
        """Whether a call made now has a chance; never waits."""
        ...

    async def check(self) -> bool:
        """Ask the server, within a second."""
        ...

    async def close(self) -> None:
        """End background work. Idempotent."""
        ...


async def _answers(client: Client, limit_s: float) -> bool:
    try:
        async with asyncio.timeout(limit_s):
            return await client.service_client.check_health(timeout=timedelta(seconds=limit_s))
    except (RPCError, RuntimeError, TimeoutError):
        return False


class TemporalStarter:
    """The real one: connects in the background until it works, and again after an outage, so that no caller waits for a connection."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._timeout_s = settings.temporal_rpc_timeout_s
        self._client: Client | None = None
        self._search_attributes = True
        self._told: set[str] = set()
        self._looking: asyncio.Task[None] | None = None
        self._probe: asyncio.Task[None] | None = None
        self._slow_until = 0.0

    def open(self) -> None:
        """Begin to connect; returns at once."""
        if self._probe is None or self._probe.done():
            self._probe = asyncio.get_running_loop().create_task(self._reach())

    def available(self) -> bool:
        """Whether the server answered when it was last asked."""
        return self._client is not None

    async def check(self) -> bool:
        """See Starter."""
        client = self._client
        if client is None:
            return False
        if await _answers(client, _CHECK_S):
            return True
        self._doubt(client)
        return False

    async def close(self) -> None:
        """Stop connecting."""
        tasks = [task for task in (self._probe, self._looking) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._client = None

    async def send_turns(self, session: SessionInput, turns: TurnsRecorded) -> None:
        """See Starter."""
        told = session.model_copy(update={"search_attributes": self._search_attributes})
        await self._with_worker(lambda client: start.send_turns(client, told, turns, rpc_timeout_s=self._timeout_s))

    async def send_completion(self, session: SessionInput, task: TaskCompleted) -> None:
        """See Starter."""
        told = session.model_copy(update={"search_attributes": self._search_attributes})
        await self._with_worker(lambda client: start.send_completion(client, told, task, rpc_timeout_s=self._timeout_s))

    async def start_reflection(self, reflection: ReflectionInput) -> None:
        """See Starter."""
        told = reflection.model_copy(update={"search_attributes": self._search_attributes})
        await self._call(lambda client: start.start_reflection(client, told, rpc_timeout_s=self._timeout_s))

    async def signal_reflection(self, reflection_id: str, signal: str) -> None:
        """See Starter."""
        if not await self._call(lambda client: self._signal(client, reflection_id, signal)):
            raise NotFound("no workflow of this reflection is open")

    async def start_erasure(self, erasure: EraseInput) -> None:
        """See Starter."""
        told = erasure.model_copy(update={"search_attributes": self._search_attributes})
        await self._call(lambda client: start_erasure.start_erasure(client, told, rpc_timeout_s=self._timeout_s))

    def _signal(self, client: Client, reflection_id: str, signal: str) -> Awaitable[bool]:
        prefix = self._settings.task_queue_prefix
        return start.signal_reflection(client, reflection_id, signal, queue_prefix=prefix, rpc_timeout_s=self._timeout_s)

    async def _with_worker(self, call: Callable[[Client], Awaitable[T]]) -> T:
        """An update waits for a worker: when none answered, the next callers do not wait for a while."""
        if time.monotonic() < self._slow_until:
            raise WorkflowsUnavailable("no worker acknowledges turns at present; they are kept and follow", retry_after_s=_SLOW_PAUSE_S)
        try:
            return await self._call(call)
        except WorkflowsUnavailable:
            self._slow_until = time.monotonic() + _SLOW_PAUSE_S
            raise

    async def _call(self, call: Callable[[Client], Awaitable[T]]) -> T:
        client = self._client
        if client is None:
            raise WorkflowsUnavailable("Temporal is not reachable at present; what was accepted is kept and follows", retry_after_s=5)
        try:
            return await call(client)
        except NotDelivered as error:
            if error.reason == RPCStatusCode.INVALID_ARGUMENT.name and self._search_attributes:
                self._look_again(client, at_once=True)  # the likeliest cause: somebody took our search attributes away
            self._doubt(client)
            raise WorkflowsUnavailable(f"Temporal did not take it ({error.reason}); it is kept and follows", retry_after_s=5) from error

    def _doubt(self, client: Client) -> None:
        """Ask in the background whether the server is there at all; until it answers again, callers are refused at once."""
        if self._probe is None or self._probe.done():
            self._probe = asyncio.get_running_loop().create_task(self._verify(client))

    async def _verify(self, client: Client) -> None:
        if not await _answers(client, _HEALTH_S):
            self._client = None
            await self._reach()

    async def _reach(self) -> None:
        """Connect, and again until it works."""
        pause = _PROBE_FIRST_S
        while True:
            try:
                client = await connection.connect(self._settings)
                await self._look(client)
                break
            except (NotConnected, NotDelivered) as error:
                self._tell_why(error, pause)
            await asyncio.sleep(pause)
            pause = min(pause * 2, _PROBE_MAX_S)
        self._client, self._slow_until = client, 0.0
        self._told = {name for name in self._told if name == _ATTRIBUTES}
        _log.info("temporal.reached")

    def _tell_why(self, error: NotDelivered, pause: float) -> None:
        """What a person must cure is told once, loudly, with the setting to look at; the rest is only noted."""
        detail = error.detail if isinstance(error, NotConnected) else ""
        if isinstance(error, NotConnected) and error.lasting and error.reason not in self._told:
            self._told.add(error.reason)
            _log.warning("temporal.refused", error=error.reason, detail=detail, next="calls are accepted and follow once it works")
            return
        _log.info("temporal.unreachable", error=error.reason, detail=detail, again_in_s=pause)

    async def _look(self, client: Client) -> None:
        """Ask whether our search attributes are registered. Without them we work all the same; a person is told once."""
        missing = await connection.missing_search_attributes(client)
        self._search_attributes = not missing
        if not missing:
            return
        if _ATTRIBUTES not in self._told:
            self._told.add(_ATTRIBUTES)
            _log.warning("temporal.search_attributes_missing", names=list(missing), next="run: hindwise setup-temporal")
        self._look_again(client)

    def _look_again(self, client: Client, *, at_once: bool = False) -> None:
        if self._looking is None or self._looking.done():
            self._looking = asyncio.get_running_loop().create_task(self._look_later(client, 0 if at_once else _LOOK_AGAIN_S))

    async def _look_later(self, client: Client, pause: float) -> None:
        await asyncio.sleep(pause)
        self._looking = None  # so that the look itself may ask for another
        try:
            await self._look(client)
        except NotDelivered:
            self._look_again(client)
