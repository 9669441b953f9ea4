"""A worker process that kills itself with SIGKILL at one step, for tests: run as `python -m tests.workflows.doomed_worker JSON`.

It loads everything once and forks a worker per life: one that dies before the step, one that dies after the step's work is done
and before Temporal hears of it, and one that lives until standard input closes. Prints a line as each life ends or begins.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import activities
from activities.step import Step
from hindwise.cli.worker_process import run_worker
from hindwise.index import projection
from hindwise.settings import Settings
from workflows import policies

SOON = timedelta(seconds=1.5)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def _dying(engine: Any, message: Any, *, work: Step, moment: str, **more: Any) -> Any:
    if moment == "before":
        _die()
    result = await work(engine, message, **more)
    _die()
    return result


def _doom(step: str, moment: str) -> None:
    steps: dict[str, Step] = dict(activities.STEPS)
    if step == "reflect":
        activities.reflect = partial(_dying, work=activities.reflect, moment=moment)  # type: ignore[assignment]
    else:
        steps[step] = partial(_dying, work=steps[step], moment=moment)
    activities.STEPS = steps  # type: ignore[misc]


def _hurry() -> None:
    """Notice a dead worker sooner than the product does, to keep the test short."""
    policies.LEDGER_STEP = replace(policies.LEDGER_STEP, heartbeat=SOON)  # type: ignore[misc]
    policies.CAPTURE_STEP = replace(policies.CAPTURE_STEP, heartbeat=SOON)  # type: ignore[misc]
    policies.CREDIT_STEP = policies.LEDGER_STEP  # type: ignore[misc]
    policies.WIPE_STEP = replace(policies.WIPE_STEP, heartbeat=SOON)  # type: ignore[misc]
    projection.LEASE_S = 7.0
    policies.INDEX_STEP = replace(policies.INDEX_STEP, heartbeat=SOON)  # type: ignore[misc]


def live(told: Mapping[str, Any], moment: str) -> None:
    """One life of the worker, in this process."""
    _hurry()
    if moment != "healthy":
        _doom(told["step"], moment)

    async def work() -> None:
        stop = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
        await run_worker(Settings(_env_file=None, **told["settings"]), stop)

    asyncio.run(work())
    os._exit(0)


def main() -> None:
    """Three lives, one after the other."""
    told = json.loads(sys.argv[1])
    for moment in ("before", "after"):
        child = os.fork()
        if not child:
            live(told, moment)
        _, status = os.waitpid(child, 0)
        print(f"{moment} {os.WTERMSIG(status) if os.WIFSIGNALED(status) else 'ended'}", flush=True)
    child = os.fork()
    if not child:
        live(told, "healthy")
    print("healthy", flush=True)
    sys.stdin.read()
    os.kill(child, signal.SIGTERM)
    _, status = os.waitpid(child, 0)
    print(f"stopped {os.waitstatus_to_exitcode(status)}", flush=True)


if __name__ == "__main__":
    main()
