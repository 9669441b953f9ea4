"""Figure 2: whole runs in, until their reflections are final, next to an empty workflow with the same steps on the same server."""

import asyncio
import time
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import cycle, islice
from typing import Any

from temporalio.client import Client
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.service import RPCError, RPCStatusCode

from bench import floors, material
from bench.door import Door
from bench.servers import Stand
from bench.stats import Block
from workflows import policies
from workflows.contracts import ReflectionInput

LANES = 8
_LIMIT_S = 60.0
_SHORT = frozenset({"final", "newer-verdict", "nothing-to-learn", "erased"})
"""Reflections that end so did fewer steps than the floor and must not be counted as cheap ones."""
Job = Callable[[Door], Awaitable[None]]


@dataclass(slots=True)
class Reflections:
    """`throughput`: seconds per reflection with eight at once; `latency`: seconds of each, from its request to its end."""

    throughput: list[Block] = field(default_factory=list)
    latency: list[Block] = field(default_factory=list)
    ends: Counter[str] = field(default_factory=Counter)
    agents: list[str] = field(default_factory=list)
    """The spaces that hold what was learned."""


async def ours(client: Client, door: Door, body: bytes) -> dict[str, Any]:
    """Post a run and wait until its reflection has ended; its report."""
    accepted = await door.post("/v1/episodes", body)
    async with asyncio.timeout(_LIMIT_S):
        return dict(await _result(client, accepted["workflow_id"]))


async def _result(client: Client, workflow_id: str) -> Any:
    """Wait as the floor waits. The API starts the workflow just after it answered: until then there is none."""
    while True:
        try:
            return await client.get_workflow_handle(workflow_id).result(rpc_timeout=timedelta(seconds=_LIMIT_S))
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            await asyncio.sleep(0.002)


async def floor(client: Client) -> None:
    """Start an empty workflow with the same steps and wait for its end."""
    name = str(uuid.uuid4())
    handle = await client.start_workflow(
        floors.STEPS,
        ReflectionInput(reflection_id=name, queue_prefix=floors.PREFIX),
        id=f"floor-reflect/{name}",
        task_queue=policies.store_queue(floors.PREFIX),
        id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
        id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
    )
    await handle.result(rpc_timeout=timedelta(seconds=_LIMIT_S))


async def measure(stand: Stand, blocks: int, size: int = 16) -> Reflections:
    """Blocks of `size` runs each, ours and the floor's after each other, the first of a block changing; one block warms up."""
    result = Reflections()
    for number in range(-1, blocks):
        taken = {}
        for side in ("ours", "floor") if number % 2 else ("floor", "ours"):
            taken[side] = await (run_ours(stand, size, result) if side == "ours" else run_floor(stand, size))
        if number >= 0:
            result.throughput.append(Block([taken["ours"][0]], [taken["floor"][0]]))
            result.latency.append(Block(taken["ours"][1], taken["floor"][1]))
    return result


async def run_ours(stand: Stand, size: int, result: Reflections | None = None) -> tuple[float, list[float]]:
    """Reflect `size` runs for a new agent, so that each time the same is to be learned; seconds per run, and of each."""
    noted = result or Reflections()
    agent = f"bench-{uuid.uuid4().hex[:8]}"
    noted.agents.append(agent)
    jobs = [_our_job(stand.client, agent, number, run, noted) for number, run in enumerate(islice(cycle(material.runs()), size))]
    return await _in_lanes(stand, jobs)


async def run_floor(stand: Stand, size: int) -> tuple[float, list[float]]:
    """As many empty workflows."""
    return await _in_lanes(stand, [_floor_job(stand.client)] * size)


def _our_job(client: Client, agent: str, number: int, run: dict[str, Any], result: Reflections) -> Job:
    body = material.episode(run, f"{agent}-{number}", agent)

    async def job(door: Door) -> None:
        report = await ours(client, door, body)
        result.ends[f"{report['status']} (fewer steps)" if report["skip_code"] in _SHORT else report["status"]] += 1

    return job


def _floor_job(client: Client) -> Job:
    async def job(door: Door) -> None:
        await floor(client)

    return job


async def _in_lanes(stand: Stand, jobs: Sequence[Job]) -> tuple[float, list[float]]:
    """Seconds per job over all, and of each. Each lane takes the next job when it has ended one."""
    waiting = iter(jobs)
    taken: list[float] = []

    async def lane(door: Door) -> None:
        for job in waiting:
            began = time.perf_counter()
            await job(door)
            taken.append(time.perf_counter() - began)

    async with AsyncExitStack() as stack:
        doors = [await stack.enter_async_context(Door(stand.up.api_url, stand.up.api_key)) for _ in range(LANES)]
        began = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for door in doors:
                group.create_task(lane(door))
        return (time.perf_counter() - began) / len(jobs), taken
