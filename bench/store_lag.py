"""How far the index lags behind the ledger, and how long after the end of a task its memories are found: 20 runs a minute.

On the cluster of `make cluster`, Weaviate asked every few milliseconds by an engine of ours beside it. Two clocks: one starts with the
time that a memory carries in the ledger, and stops when the index holds it; the other starts when a whole run is handed over (the task has
ended), and stops when the index holds every memory that the run's reflection wrote. Reflected by rules, with the vectors that the machine
has by default.
"""

import asyncio
import os
import random
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

from sqlalchemy import select

from bench import material
from bench.door import Door
from bench.stats import percentile
from bench.store_setups import TENANT
from hindwise.clock import SystemClock
from hindwise.engine import Engine, open_engine
from hindwise.errors import IndexUnavailable
from hindwise.index.projection import index_space
from hindwise.ledger.schema import memories
from hindwise.settings import Settings
from tests.servers.cluster import Cluster

PER_MINUTE = 20
GOAL_S = 1.0
_POLL_S = 0.02
_LIMIT_S = 30.0
_AGENTS = 5
_WARM = 3


@dataclass(slots=True)
class Lag:
    """Seconds. `found`: from the hand-over until all memories are found; `written`: from the time a memory carries until it is found."""

    found: list[float] = field(default_factory=list)
    written: list[float] = field(default_factory=list)
    ends: dict[str, int] = field(default_factory=dict)
    load: float = 0.0

    def lines(self) -> list[str]:
        """For people."""
        if not self.found:
            return ["\nIndex lag: nothing was remembered"]
        return [
            f"\nIndex lag, postgres + weaviate, {PER_MINUTE} reflections a minute (load {self.load:.1f})",
            _told("written → found", self.written),
            _told("task end → all found", self.found),
            f"    ended: {', '.join(f'{name} {number}' for name, number in sorted(self.ends.items()))}",
        ]


def _told(name: str, seconds: Sequence[float]) -> str:
    middle, p95 = percentile(seconds, 0.5), percentile(seconds, 0.95)
    goal = f"goal p95 <= {GOAL_S:g} s: {'met' if p95 <= GOAL_S else 'MISSED'}"
    return f"    {f'{name}:':<22}median {middle:.2f} s, p95 {p95:.2f} s, most {max(seconds):.2f} s of {len(seconds)}; {goal}"


async def measure(folder: Path, minutes: float) -> Lag:
    """Start the cluster, hand runs over at random moments, and wait for each. Raises Missing, NotReady."""
    cluster = Cluster(folder)
    try:
        await asyncio.to_thread(cluster.start)
        settings = cluster_settings(cluster, folder)
        async with open_engine(settings, SystemClock()) as engine:
            watch = _Watch(cluster, engine)
            await watch.warm()
            return await watch.run(minutes)
    finally:
        await asyncio.to_thread(cluster.close)


def cluster_settings(cluster: Cluster, folder: Path) -> Settings:
    """For an engine of ours beside the processes of a cluster."""
    from_env = {name.removeprefix("HINDWISE_").lower(): value for name, value in cluster.settings("worker-1").items()}
    known: dict[str, Any] = {name: value for name, value in from_env.items() if name in Settings.model_fields and name != "data"}
    return Settings(_env_file=None, data=folder / "ours", **known)


class _Watch:
    """Hands runs over and looks for what they taught."""

    def __init__(self, cluster: Cluster, engine: Engine) -> None:
        self._cluster, self._engine = cluster, engine
        self._lag = Lag()
        self._runs = cycle(material.runs())

    async def warm(self) -> None:
        """The first ones load what later ones find loaded."""
        for number in range(_WARM):
            await self._one(f"warm-{number}")
        self._lag = Lag(load=os.getloadavg()[0])

    async def run(self, minutes: float) -> Lag:
        """Runs arrive as people do: at random, 20 a minute on average."""
        rng, number = random.Random(3), 0
        end = time.monotonic() + minutes * 60
        at = time.monotonic()
        async with asyncio.TaskGroup() as group:
            while at < end:
                await asyncio.sleep(max(0.0, at - time.monotonic()))
                group.create_task(self._one(f"agent-{number % _AGENTS}"))
                number += 1
                at += rng.expovariate(PER_MINUTE / 60)
        return self._lag

    async def _one(self, agent: str) -> None:
        run, name = next(self._runs), uuid.uuid4().hex
        body = material.episode(run, name, agent)
        user = f"{run['user_id']}-{agent}"
        watched = [index_space(TENANT, space) for space in (f"agent:{agent}", f"user:{user}")]
        seen: dict[str, float] = {}
        async with Door(self._cluster.url, self._cluster.key) as door:
            wall, began = time.time(), time.perf_counter()
            accepted = await door.post("/v1/episodes", body)
            async with asyncio.timeout(_LIMIT_S):
                written = await self._until_found(door, accepted, watched, seen)
        end = "remembered" if written else "nothing to remember"
        self._lag.ends[end] = self._lag.ends.get(end, 0) + 1
        if written:
            self._lag.found.append(max(seen[memory_id] for memory_id in written) - began)
            self._lag.written += [wall + seen[memory_id] - began - at for memory_id, at in written.items()]

    async def _until_found(self, door: Door, accepted: dict[str, Any], spaces: Sequence[str], seen: dict[str, float]) -> dict[str, float]:
        """What the reflection wrote, with the time it carries, once all of it was seen in the index."""
        written: dict[str, float] = {}
        ended = False
        while True:
            for space in spaces:
                for memory_id in await self._ids(space):
                    seen.setdefault(memory_id, time.perf_counter())
            if ended and written.keys() <= seen.keys():
                return written
            if not ended:
                report = await door.get(f"/v1/reflections/{accepted['reflection_id']}")
                ended = report["status"] in ("completed", "skipped", "failed", "needs_attention")
                if ended:
                    written = await asyncio.to_thread(self._written_by, accepted["reflection_id"])
            await asyncio.sleep(_POLL_S)

    async def _ids(self, space: str) -> set[str]:
        try:
            return await self._engine.index.ids(space)
        except IndexUnavailable:
            return set()

    def _written_by(self, reflection_id: str) -> dict[str, float]:
        asked = select(memories.c.id, memories.c.recorded_at).where(memories.c.reflection_id == reflection_id)
        return {row.id: row.recorded_at.timestamp() for row in self._cluster.read(lambda conn: conn.execute(asked).all())}
