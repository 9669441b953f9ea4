"""What a session, a reflection, a recall and a memory cost: CPU by process, bytes by store, on running processes of either set-up."""

import asyncio
import os
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, text

from bench import cpu, material, servers
from bench.door import Door
from tests.servers.cluster import Cluster

_FINAL = ("completed", "skipped", "failed", "needs_attention")
_TURNS = 10
_IDLE_S = 3.0
_SETTLE_S = 2.0
_LIMIT_S = 120.0
EMBED = {"HINDWISE_EMBED": "auto"}
"""As users have it: vectors of the local model where its package is there."""


@dataclass(frozen=True, slots=True)
class Site:
    """Running processes. `pids`: by role, several where a role has several; `sizes`: bytes by store; `memories`: how many there are."""

    name: str
    url: str
    key: str
    pids: Callable[[], Mapping[str, list[int]]]
    sizes: Callable[[], dict[str, int]]
    memories: Callable[[], int]


@dataclass(slots=True)
class Costs:
    """By operation: ms of CPU by role, and bytes by store. `memories`: written by one reflection, on average."""

    name: str
    cpu_ms: dict[str, dict[str, float]] = field(default_factory=dict)
    grown: dict[str, dict[str, float]] = field(default_factory=dict)
    memories: float = 0.0
    idle_ms: dict[str, float] = field(default_factory=dict)
    rss_mb: dict[str, float] = field(default_factory=dict)


@asynccontextmanager
async def single() -> AsyncIterator[Site]:
    """`hindwise up`: SQLite, the index in a file, Temporal's dev server."""
    async with servers.stand(EMBED) as stand:
        data = stand.data
        roles = {name: [pid] for name, pid in stand.pids.items() if name != "floor worker"}
        ledger = create_engine(f"sqlite:///{data / 'ledger.db'}")

        def sizes() -> dict[str, int]:
            return {"ledger": files(data, "ledger.db"), "index": files(data, "index-"), "temporal": files(data, "temporal")}

        try:
            yield Site("sqlite + embedded", stand.up.api_url, stand.up.api_key, lambda: roles, sizes, lambda: _count(ledger))
        finally:
            ledger.dispose()


@asynccontextmanager
async def cluster(folder: Path) -> AsyncIterator[Site]:
    """The processes of `make cluster`."""
    made = Cluster(folder, **EMBED, HINDWISE_RATE_LIMIT_PER_MINUTE="10000000")
    try:
        await asyncio.to_thread(made.start)
        ledger = create_engine(made.postgres.url)

        def pids() -> dict[str, list[int]]:
            found = made.pids()
            postgres = [found["ledger"], *_children(found["ledger"])]
            return {
                "server": [found["temporal"]],
                "worker": [found["worker-1"], found["worker-2"]],
                "api": [found["api-1"], found["api-2"]],
                "postgres": postgres,
                "weaviate": [found["weaviate"]],
            }

        def sizes() -> dict[str, int]:
            with ledger.connect() as conn:
                size = conn.execute(text("SELECT pg_database_size(current_database())")).scalar_one()
            return {"ledger": size, "index": files(made.weaviate.data, ""), "temporal": files(folder, "temporal.db")}

        yield Site("postgres + weaviate", made.url, made.key, pids, sizes, lambda: _count(ledger))
        ledger.dispose()
    finally:
        await asyncio.to_thread(made.close)


def _count(ledger: Any) -> int:
    with ledger.connect() as conn:
        return int(conn.execute(text("SELECT count(*) FROM memories")).scalar_one())


def files(folder: Path, begins: str) -> int:
    """Bytes on the disk of all files below, of those whose name begins so."""
    total = 0
    for path in folder.rglob(f"{begins}*"):
        try:
            total += path.stat().st_blocks * 512 if path.is_file() else 0
        except FileNotFoundError:
            continue  # merged away while we look
    return total


def _children(pid: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(int(path.parent.name))
    return found


def rss_mb(pid: int) -> float:
    """Memory that a process holds, in MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


async def measure(site: Site, runs: int) -> Costs:
    """Sessions turn by turn, whole runs with their reflections, memories, recalls; the clocks and the stores read around each."""
    costs = Costs(site.name)
    async with Door(site.url, site.key) as door:
        await _reflect(door, "warm", 3)
        await _recall(door, "warm", 5)
        await asyncio.sleep(_SETTLE_S)
        costs.idle_ms = {name: value / _IDLE_S for name, value in (await _spent(site, asyncio.sleep(_IDLE_S))).items()}

        async def spend(name: str, operations: int, work: Awaitable[None]) -> None:
            before, began = site.sizes(), time.perf_counter()
            spent = await _spent(site, _settled(work))
            seconds = time.perf_counter() - began
            costs.cpu_ms[name] = {
                role: max(0.0, value - costs.idle_ms.get(role, 0.0) * seconds) / operations for role, value in spent.items()
            }
            costs.grown[name] = {store: (size - before[store]) / operations for store, size in site.sizes().items()}

        await spend("session", runs, _sessions(door, runs))
        known = site.memories()
        await spend("reflection", runs, _reflect(door, "sized", runs))
        costs.memories = (site.memories() - known) / runs
        await spend("memory", runs * 2, _remember(door, runs * 2))
        await spend("recall", runs * 10, _recall(door, "sized", runs * 10))
    costs.rss_mb = {role: sum(map(rss_mb, pids)) for role, pids in site.pids().items()}
    return costs


async def _settled(work: Awaitable[None]) -> None:
    await work
    await asyncio.sleep(_SETTLE_S)


async def _spent(site: Site, work: Awaitable[None]) -> dict[str, float]:
    """CPU by role while `work` runs; a process that ended meanwhile (Postgres has one per connection) is left out."""
    before = {(role, pid): cpu.cpu_ms(pid) for role, pids in site.pids().items() for pid in pids}
    await work
    spent: dict[str, float] = {}
    for role, pids in site.pids().items():
        spent[role] = sum(cpu.cpu_ms(pid) - before.get((role, pid), 0.0) for pid in pids)
    return spent


async def _sessions(door: Door, count: int) -> None:
    """Sessions of ten turns, each turn a call; not ended, so nothing is reflected."""
    messages = material.messages()
    for _ in range(count):
        name = uuid.uuid4().hex
        for at in range(_TURNS):
            body = {"user_id": f"user-{name[:8]}", "agent_id": "sizing", "turns": [{**next(messages), "turn_id": f"t{at}"}]}
            await door.post(f"/v1/sessions/{name}/turns", body)


async def _reflect(door: Door, agent: str, count: int) -> None:
    """Whole runs, one after the other, each until its reflection has ended."""
    for number, run in enumerate(islice(cycle(material.runs()), count)):
        accepted = await door.post("/v1/episodes", material.episode(run, f"{agent}-{number}-{uuid.uuid4().hex[:8]}", agent))
        async with asyncio.timeout(_LIMIT_S):
            while (await door.get(f"/v1/reflections/{accepted['reflection_id']}"))["status"] not in _FINAL:
                await asyncio.sleep(0.1)


async def _remember(door: Door, count: int) -> None:
    """Facts that a caller names, each in one call, in both languages. Whoever measures waits until the index has them."""
    for at in range(count):
        said = f"第{at}号箱子放在{at % 7}号仓库" if at % 2 else f"Box number {at} stands in warehouse {at % 7}"
        await door.post("/v1/memories", {"user_id": f"sizing-{at % 20}", "content": said})


async def _recall(door: Door, agent: str, count: int) -> None:
    for opening in islice(cycle(material.openings()), count):
        await door.post("/v1/recall", {"user_id": "sizing-user", "agent_id": agent, "query": opening})
