"""The worker: one process that serves all queues, with the index dispatcher beside them. Stops within its grace, loses nothing.

Whoever runs it chooses the loop (uvloop halves the CPU per turn) and leaves by `os._exit`: Temporal's core may abort an interpreter
that ends by itself.
"""

import asyncio
import gc
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import structlog
from temporalio.client import Client
from temporalio.worker import Worker

from activities import all_activities
from hindwise.cli.reindex_keeper import keep_reindexing
from hindwise.engine import Engine, open_engine
from hindwise.errors import InvalidInput
from hindwise.index.dispatcher import dispatch_forever
from hindwise.reflect.base import Reflector
from hindwise.reflect.llm import LlmReflector
from hindwise.reflect.rules import RuleReflector
from hindwise.settings import Settings
from workflows import connection, policies, start
from workflows.connection import NotConnected, NotDelivered
from workflows.plugin import workflow_plugin

GRACE = timedelta(seconds=10)
"""How long running steps may go on after a stop; what is cut is tried again elsewhere."""

_HEARTBEATS = timedelta(seconds=5)
_WORKFLOW_TASKS = 20
"""Ten per core keep each below Temporal's limit of five seconds when many sessions wake at once."""
_CACHED_WORKFLOWS = 600
"""About 91 KiB each."""
_SLOTS = {"session": 10, "store": 20, "upkeep": 3}
"""Steps at a time by queue: `upkeep` stays out of the way. For questions to a model a setting says it."""
_UNLIMITED_PER_S = 100_000.0
"""What a server gives a queue by itself. Told, and not left out: it would go on with the limit that an earlier worker told."""
_RETRY_FIRST_S, _RETRY_MAX_S = 0.5, 10.0

_log = structlog.get_logger(__name__)


async def run_worker(settings: Settings, stop: asyncio.Event, ready: Callable[[], None] = lambda: None) -> None:
    """Work until `stop` is set, then finish what runs (at most GRACE) and return. `ready` is called when work is taken.

    Temporal may be down at the start or go away later: the worker waits and comes back. Raises what `open_engine` raises, and
    InvalidInput for a key, certificate or namespace that Temporal refuses at the start.
    """
    async with open_engine(settings) as engine, reflectors(engine) as known:
        dispatching = asyncio.create_task(dispatch_forever(engine.projection, engine.ledger, stop, clock=engine.clock), name="dispatcher")
        try:
            await _work_until(engine, known, stop, dispatching, ready)
        finally:
            stop.set()
            await dispatching
    # Clients that are still referenced when the interpreter ends are what aborts it.
    gc.collect()


@asynccontextmanager
async def reflectors(engine: Engine) -> AsyncIterator[Mapping[str, Reflector]]:
    """The reflectors by name, closed at the end."""
    model = LlmReflector(engine.settings, engine.ledger, engine.clock)
    try:
        yield {"rules": RuleReflector(), "llm": model}
    finally:
        await model.close()


async def _work_until(
    engine: Engine, known: Mapping[str, Reflector], stop: asyncio.Event, dispatching: "asyncio.Task[None]", ready: Callable[[], None]
) -> None:
    pause, worked = _RETRY_FIRST_S, False
    while not stop.is_set():
        client = await _connect(engine.settings, stop, patient=worked)
        if client is None:
            return
        worked = True
        reindexing = asyncio.create_task(keep_reindexing(engine, client), name="reindexing")
        try:
            await _serve(make_workers(client, engine, known), stop, dispatching, ready)
            return
        except (RuntimeError, NotDelivered) as error:
            # A namespace that went away, a server that refuses us: fatal for these workers, not for the process.
            _log.warning("worker_starts_again", error=type(error).__name__, after_s=pause)
        finally:
            reindexing.cancel()
            await asyncio.gather(reindexing, return_exceptions=True)
        await _pause(stop, pause)
        pause = min(_RETRY_MAX_S, pause * 2)


async def _serve(workers: Sequence[Worker], stop: asyncio.Event, dispatching: "asyncio.Task[None]", ready: Callable[[], None]) -> None:
    """Run all workers until `stop`, then stop them side by side, so that one grace is enough for all.

    Raises RuntimeError when one of them fails for good. A dispatcher that dies ends the process too, so that the failure is seen.
    """
    runs = [asyncio.create_task(worker.run()) for worker in workers]
    stopping = asyncio.create_task(stop.wait())
    _log.info("worker_ready", queues=[worker.task_queue for worker in workers])
    ready()
    await asyncio.wait([*runs, stopping, dispatching], return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    await asyncio.gather(*(worker.shutdown() for worker, run in zip(workers, runs, strict=True) if not run.done()))
    await asyncio.gather(*runs)
    if dispatching.done():
        dispatching.result()


async def _connect(settings: Settings, stop: asyncio.Event, *, patient: bool) -> Client | None:
    """Return a client with the schedule of upkeep in place; None when `stop` came first. Says once for each cause that it waits.

    patient: it worked before, so a key or certificate that is refused now may be put right without us. Else raises InvalidInput for it.
    """
    pause, told = _RETRY_FIRST_S, set[str]()
    while not stop.is_set():
        try:
            client = await connection.connect(settings)
            await start.ensure_schedule(client, queue_prefix=settings.task_queue_prefix, every_minutes=settings.upkeep_every_minutes)
            return client
        except NotDelivered as error:
            detail = error.detail if isinstance(error, NotConnected) else ""
            if isinstance(error, NotConnected) and error.lasting and not patient:
                raise InvalidInput(detail) from error
            if error.reason not in told:
                told.add(error.reason)
                _log.warning("temporal_unreachable", cause=error.reason, detail=detail, next="waits and tries again")
        await _pause(stop, pause)
        pause = min(_RETRY_MAX_S, pause * 2)
    return None


async def _pause(stop: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await stop.wait()
    except TimeoutError:
        return


def make_workers(client: Client, engine: Engine, known: Mapping[str, Reflector]) -> Sequence[Worker]:
    """One worker per queue, sharing the client: sessions and upkeep, reflections with ledger and index, models, upkeep's steps."""
    by_name: dict[str, Any] = {getattr(work, "__name__", ""): work for work in all_activities(engine, known)}
    prefix = engine.settings.task_queue_prefix

    workflows: dict[str, Any] = {
        "plugins": [workflow_plugin()],
        "max_concurrent_workflow_tasks": _WORKFLOW_TASKS,
        "max_cached_workflows": _CACHED_WORKFLOWS,
        "sticky_queue_schedule_to_start_timeout": policies.STICKY_TIMEOUT,
    }

    per_minute = engine.settings.llm_requests_per_minute
    asking = {"max_task_queue_activities_per_second": per_minute / 60 if per_minute else _UNLIMITED_PER_S}

    def serve(queue: str, names: frozenset[str], slots: int, **more: Any) -> Worker:
        return Worker(
            client,
            task_queue=queue,
            activities=[by_name[name] for name in sorted(names)],
            max_concurrent_activities=slots,
            max_heartbeat_throttle_interval=_HEARTBEATS,
            graceful_shutdown_timeout=GRACE,
            **more,
        )

    return (
        serve(policies.session_queue(prefix), policies.SESSION_ACTIVITIES, _SLOTS["session"], **workflows),
        serve(policies.store_queue(prefix), policies.STORE_ACTIVITIES, _SLOTS["store"], **workflows),
        serve(policies.llm_queue(prefix), policies.LLM_ACTIVITIES, engine.settings.llm_concurrency, **asking),
        serve(policies.upkeep_queue(prefix), policies.UPKEEP_ACTIVITIES | policies.REINDEX_ACTIVITIES, _SLOTS["upkeep"]),
    )
