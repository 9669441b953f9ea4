"""How the stores grow with users: filled step by step, bytes and a recall's time read at each step; and what a tenant costs Weaviate."""

import asyncio
import random
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

from sqlalchemy import text

from bench.recall import questions, texts
from bench.sizing_costs import files, rss_mb
from bench.store_setups import TENANT, Setup, fill, opened, vector_of
from hindwise.engine import Engine
from hindwise.index.projection import index_space
from hindwise.model.brief import RecallQuery
from hindwise.recall.recall import Recaller
from tests.servers.weaviate import Weaviate

EACH = 30
"""Memories of a user: what a month of a few tasks a week leaves."""
_ASKED = 60


@dataclass(frozen=True, slots=True)
class Step:
    """So many users with 30 memories each: bytes by store, MB of Weaviate (0 = none), ms of a recall in a space that was asked before."""

    users: int
    ledger: int
    index: int
    weaviate_mb: float
    recall_ms: float


async def grow(setup: Setup, steps: list[int]) -> list[Step]:
    """Fill up to each number of users, with 30 texts each that nobody else has."""
    corpus = texts(steps[-1] * EACH)
    rng = random.Random(3)
    known = {text: vector_of(text) for text in questions(corpus[: steps[0] * EACH], 2 * _ASKED, rng)}
    found, done = [], 0
    async with opened(setup, known) as engine:
        recaller = Recaller(engine)
        await recaller.start()
        for users in steps:
            await fill(engine, {f"grow-{at}": corpus[at * EACH : (at + 1) * EACH] for at in range(done, users)})
            done = users
            recall_ms = await _ask(recaller, list(known), steps[0], rng)
            server = setup.servers[1] if setup.servers else None
            found.append(
                Step(users, await _ledger_bytes(engine), _index_bytes(setup), rss_mb(server.child.pid) if server else 0.0, recall_ms)
            )
        await recaller.close()
    return found


async def _ask(recaller: Recaller, asked: list[str], users: int, rng: random.Random) -> float:
    taken = []
    for question in asked[:_ASKED]:
        query = RecallQuery(agent_id=f"grow-{rng.randrange(users)}", query=question)
        await recaller.recall(TENANT, query)
        began = perf_counter()
        await recaller.recall(TENANT, query)
        taken.append((perf_counter() - began) * 1000)
    return median(taken)


async def _ledger_bytes(engine: Engine) -> int:
    if not engine.ledger.is_shared:
        return files(engine.settings.data, "ledger.db")
    size = text("SELECT pg_database_size(current_database())")
    return int(await engine.ledger.read(lambda conn: conn.execute(size).scalar_one()))


def _index_bytes(setup: Setup) -> int:
    return files(setup.servers[1].data, "") if setup.servers else files(setup.settings["data"], "index-")


@dataclass(frozen=True, slots=True)
class Tenancy:
    """Of Weaviate with that many tenants of `each` memories: MB of memory, bytes on disk, seconds from start to ready."""

    state: str
    tenants: int
    each: int
    rss_mb: float
    disk: int
    start_s: float


async def tenancy(folder: Path, tenants: int, each: int) -> list[Tenancy]:
    """Fill, then restart with all tenants active, asked and inactive."""
    with Weaviate() as server:
        found = [Tenancy("no tenant", 0, 0, rss_mb(server.child.pid), files(server.data, ""), 0.0)]
        more = {name.lower(): value for name, value in server.env().items()}
        setup = Setup("tenants", {"data": folder, "index": "weaviate", **more}, None)
        corpus = texts(tenants * each)
        spaces = [f"tenant-{at}" for at in range(tenants)]

        def told(state: str, start_s: float) -> None:
            found.append(Tenancy(state, tenants, each, rss_mb(server.child.pid), files(server.data, ""), start_s))

        async def restart() -> float:
            began = perf_counter()
            await asyncio.to_thread(server.restart)
            started = perf_counter() - began
            await asyncio.sleep(5)
            return started

        async with opened(setup, {}) as engine:
            await fill(engine, {name: corpus[at * each : (at + 1) * each] for at, name in enumerate(spaces)})
            told("active, just written", 0.0)
        told("active, after a restart", await restart())
        async with opened(setup, {}) as engine:
            names = [index_space(TENANT, f"agent:{name}") for name in spaces]
            for start in range(0, tenants, 200):
                await engine.index.rest(names[start : start + 200])  # type: ignore[attr-defined]
        told("inactive, after a restart", await restart())
        return found


def per_user(steps: list[Step]) -> tuple[float, float]:
    """Bytes of ledger and index that one more user took, between the first step and the last."""
    first, last = steps[0], steps[-1]
    users = last.users - first.users
    return (last.ledger - first.ledger) / users, (last.index - first.index) / users
