"""Figure 4: processor time per operation and process, and what a recall over HTTP takes next to the emptiest request."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

from bench import cpu, material, reflections, turns
from bench.door import Door
from bench.servers import Stand
from bench.stats import Block

_IDLE_S = 3.0
_SETTLE_S = 0.5
"""What an operation leaves behind (logs, the server's own writing) ends within this time and is counted."""


@dataclass(slots=True)
class Operations:
    """`per_operation`: name of the operation -> process -> milliseconds. `idle`: process -> milliseconds per second."""

    per_operation: dict[str, dict[str, float]] = field(default_factory=dict)
    idle: dict[str, float] = field(default_factory=dict)
    recall: list[Block] = field(default_factory=list)


async def measure(stand: Stand, learned: reflections.Reflections, *, calls: int = 150) -> Operations:
    """Do each operation some hundred times and read the processes' clocks before and after. What it reflects is `learned` besides."""
    result = Operations()
    before = cpu.read(stand.pids)
    await asyncio.sleep(_IDLE_S)
    result.idle = cpu.idle_rates(before, cpu.read(stand.pids))

    async def spend(name: str, operations: int, work: Callable[[], Awaitable[Any]]) -> None:
        first = cpu.read(stand.pids)
        await work()
        await asyncio.sleep(_SETTLE_S)
        spent = cpu.per_operation(first, cpu.read(stand.pids), operations, result.idle)
        result.per_operation[name] = _involved(spent, floor=name.startswith("floor"))

    async with turns.lanes(stand, 1) as (lane,):
        await spend("turn", calls, lambda: turns.timed(lane.ours, calls))
        await spend("floor: update-with-start", calls, lambda: turns.timed(lane.floor, calls))
        await spend("turn in a batch of 50", calls // 10 * turns.BATCH, lambda: turns.timed(lane.ours, calls // 10, turns.BATCH))
    size = max(16, calls // 5)
    await spend("reflection", size, lambda: reflections.run_ours(stand, size, learned))
    await spend("floor: the same steps, empty", size, lambda: reflections.run_floor(stand, size))
    async with AsyncExitStack() as stack:
        door = await stack.enter_async_context(Door(stand.up.api_url, stand.up.api_key))
        ask = _recall(door, learned.agents)
        await turns.timed(ask, 10)
        await spend("recall", calls, lambda: turns.timed(ask, calls))
        for _ in range(10):
            result.recall.append(Block(await turns.timed(ask, 10), await turns.timed(_nothing(door), 10)))
    return result


def _recall(door: Door, agents: list[str]) -> turns.Send:
    """Questions of new customers to what the runs taught."""
    asked = cycle([(agent, opening) for opening in material.openings() for agent in agents])

    async def send(_: int) -> None:
        agent, opening = next(asked)
        await door.post("/v1/recall", {"user_id": "bench-customer", "agent_id": agent, "query": opening})

    return send


def _nothing(door: Door) -> turns.Send:
    async def send(_: int) -> None:
        await door.get("/healthz")

    return send


def _involved(spent: Mapping[str, float], *, floor: bool) -> dict[str, float]:
    """Without the worker of the other side."""
    other = "worker" if floor else "floor worker"
    return {name: value for name, value in spent.items() if name != other and not (floor and name == "api")}
