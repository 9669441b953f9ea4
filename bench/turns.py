"""Figure 1: a turn over HTTP, alone and in batches, next to a bare update-with-start on the same server."""

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from statistics import median
from typing import Any

from temporalio.client import Client, WithStartWorkflowOperation
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy

from bench import floors, material
from bench.door import Door
from bench.servers import Stand
from bench.stats import Block
from workflows import policies
from workflows.contracts import RECORD_TURNS, SessionAck, SessionInput, TurnsRecorded

BATCH = 50
LANES = 8
_WARM = 5
Send = Callable[[int], Awaitable[None]]
"""Send that many turns in one call, and return when they are acknowledged."""


@dataclass(slots=True)
class Lane:
    """One session of ours and one of the floor."""

    ours: Send
    floor: Send


@dataclass(slots=True)
class Turns:
    """Seconds. `one`: of a call with one turn, one session; `batch`: of a call with 50, next to calls with one turn;
    `eight`: per turn, with eight sessions at once."""

    one: list[Block] = field(default_factory=list)
    batch: list[Block] = field(default_factory=list)
    eight: list[Block] = field(default_factory=list)


def ours(door: Door, session: str) -> Send:
    """Turns of a session of ours."""
    messages, numbers = material.messages(), count(1)

    async def send(turns: int) -> None:
        bodies: list[dict[str, Any]] = [{**next(messages), "turn_id": f"t{next(numbers)}"} for _ in range(turns)]
        answer = await door.post(f"/v1/sessions/{session}/turns", {"user_id": session, "agent_id": "bench", "turns": bodies})
        if answer["recorded"] != turns or answer["status"] != "recorded":
            raise RuntimeError(f"turns were not all recorded at once: {answer}")

    return send


def floor(client: Client, handle: str) -> Send:
    """Turns of a session of the floor: one update-with-start, with the id policies of ours."""
    start = SessionInput(handle=handle, tenant_hash="", space_hash="", queue_prefix=floors.PREFIX)
    reached = 0

    async def send(turns: int) -> None:
        nonlocal reached
        told = TurnsRecorded(update_id=uuid.uuid4().hex, first_seq=reached + 1, last_seq=reached + turns, count=turns)
        reached += turns
        await client.execute_update_with_start_workflow(
            RECORD_TURNS,
            told,
            start_workflow_operation=WithStartWorkflowOperation(
                floors.SESSION,
                start,
                id=f"floor-session/{handle}",
                task_queue=policies.store_queue(floors.PREFIX),
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
            ),
            id=told.update_id,
            result_type=SessionAck,
        )

    return send


@asynccontextmanager
async def lanes(stand: Stand, number: int) -> AsyncIterator[list[Lane]]:
    """Open that many sessions of either kind, warm."""
    async with AsyncExitStack() as stack:
        found = []
        for _ in range(number):
            name = uuid.uuid4().hex
            door = await stack.enter_async_context(Door(stand.up.api_url, stand.up.api_key))
            found.append(Lane(ours(door, name), floor(stand.client, name)))
        for lane in found:
            await timed(lane.ours, _WARM)
            await timed(lane.floor, _WARM)
        yield found


async def timed(send: Send, calls: int, turns: int = 1) -> list[float]:
    """Seconds of each of `calls` calls, one after the other."""
    taken = []
    for _ in range(calls):
        began = time.perf_counter()
        await send(turns)
        taken.append(time.perf_counter() - began)
    return taken


async def side_by_side(sends: Sequence[Send], calls: int) -> float:
    """Seconds per turn when all send at once, each one turn after the other."""
    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for send in sends:
            group.create_task(timed(send, calls))
    return (time.perf_counter() - began) / (calls * len(sends))


async def measure(stand: Stand, blocks: int) -> Turns:
    """Take turns, ours and the floor's, in blocks of about a tenth of a second, the first of a block changing."""
    result = Turns()
    async with lanes(stand, 1) as (lane,):
        await timed(lane.ours, 2, BATCH)
        for number in range(blocks):
            # 9 and 1 together stay below the 200 updates after which a session's history begins anew more than once in a measurement.
            pair = await _alternate(number, lambda: timed(lane.ours, 9), lambda: timed(lane.floor, 9))
            result.one.append(Block(*pair))
            result.batch.append(Block(await timed(lane.ours, 1, BATCH), pair[0]))
    async with lanes(stand, LANES) as many:
        our_sends, floor_sends = [lane.ours for lane in many], [lane.floor for lane in many]
        for number in range(max(4, blocks // 2)):
            first, second = await _alternate(number, lambda: side_by_side(our_sends, 5), lambda: side_by_side(floor_sends, 5))
            result.eight.append(Block([first], [second]))
    return result


async def _alternate(number: int, ours: Callable[[], Awaitable[Any]], floor: Callable[[], Awaitable[Any]]) -> tuple[Any, Any]:
    if number % 2:
        second = await floor()
        return await ours(), second
    return await ours(), await floor()


def per_second(seconds: Sequence[float]) -> float:
    """The rate that belongs to the median."""
    return 1.0 / median(seconds)
