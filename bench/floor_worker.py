"""The floors' own worker process: `python -m bench.floor_worker ADDRESS NAMESPACE`, until SIGTERM. Set up as ours is."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import uvloop
from temporalio import activity
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Worker

from bench.floors import PREFIX, STEP_NAMES, FloorSession, FloorSteps
from workflows import policies
from workflows.contracts import Done, StepInput
from workflows.plugin import sandbox

READY = "floor worker ready"


def _step(name: str) -> Callable[..., Any]:
    @activity.defn(name=name)
    async def at_once(step: StepInput) -> Done:
        return Done(done=bool(step.reflection_id))

    return at_once


async def main(address: str, namespace: str) -> None:
    """Serve the floors' queue until told to stop, with as many slots as our worker has.

    Workflows and steps share it, as a reflection and its steps do, so that the server hands steps out eagerly here too.
    """
    client = await Client.connect(address, namespace=namespace, data_converter=pydantic_data_converter)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    worker = Worker(
        client,
        task_queue=policies.store_queue(PREFIX),
        workflows=[FloorSession, FloorSteps],
        activities=[_step(name) for name in STEP_NAMES],
        workflow_runner=sandbox(),
        max_concurrent_workflow_tasks=20,
        max_concurrent_activities=20,
        sticky_queue_schedule_to_start_timeout=policies.STICKY_TIMEOUT,
        graceful_shutdown_timeout=timedelta(seconds=2),
    )
    async with worker:
        print(READY, flush=True)
        await stop.wait()


if __name__ == "__main__":
    uvloop.run(main(*sys.argv[1:3]))
    # Temporal's core may hold a Python callback while the interpreter ends, which aborts the process now and then.
    sys.stdout.flush()
    os._exit(0)
