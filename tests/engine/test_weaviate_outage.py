"""Weaviate killed and started again, or frozen, under load: recall never waits longer than its limit, and is whole again within seconds."""

import asyncio
import shutil
import signal
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hindwise.engine import Engine, open_engine
from hindwise.errors import IndexUnavailable
from hindwise.index.base import Filters
from hindwise.recall.recall import Recaller
from hindwise.settings import Settings
from hindwise.testing import FixedClock, HashedEmbedder, hashed_vector
from tests.engine.recall.helpers import apply_outbox, ask, conclusions, fact, keep
from tests.servers.fixtures import or_left_out
from tests.servers.weaviate import Weaviate

LIMIT_S = 1.0
SPARE_S = 1.5
"""What the ledger's own answer may take on a machine that starts a server beside it."""
BACK_S = 3.0


@pytest.fixture(scope="module")
def one_server():
    """A Weaviate that these tests may kill: starting one takes as long as a test."""
    server = or_left_out(Weaviate)
    yield server
    server.close()


@pytest.fixture
async def server(one_server):
    """It runs when a test begins, whatever the one before did to it."""
    if not one_server.child.pid:
        await asyncio.to_thread(one_server.start)
    return one_server


@asynccontextmanager
async def running(path: Path, server, **settings):
    """An engine on a file and a Weaviate server, and its recaller."""
    values = {"data": path, "index": "weaviate", "index_timeout_s": LIMIT_S, **server.env(), **settings}
    async with open_engine(Settings(_env_file=None, **values), FixedClock(), HashedEmbedder()) as engine:
        recaller = Recaller(engine)
        try:
            yield engine, recaller
        finally:
            await recaller.close()


async def fill(engine: Engine) -> None:
    await keep(engine, "user:a", fact("The spare key lies under the flowerpot"), fact("备用钥匙在花盆下面"), fact("Speaks Portuguese"))
    await apply_outbox(engine)


class Load:
    """Somebody who asks all the time, in both languages. `answers`: (when it was asked, seconds it took, degraded), on the loop's clock."""

    def __init__(self, recaller: Recaller) -> None:
        self.answers: list[tuple[float, float, bool]] = []
        self._recaller = recaller
        self._task = asyncio.create_task(self._go_on())

    async def _go_on(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            at = loop.time()
            answer = await ask(self._recaller, "where is the spare key", user="a")
            assert conclusions(answer)[:1] == ["The spare key lies under the flowerpot"]
            answer_zh = await ask(self._recaller, "备用钥匙在哪里", user="a")
            assert conclusions(answer_zh)[:1] == ["备用钥匙在花盆下面"]
            took = (loop.time() - at) / 2
            self.answers.append((at, took, answer.degraded or answer_zh.degraded))
            await asyncio.sleep(0.05)

    async def until(self, degraded: bool, seconds: float) -> float:
        """Wait until an answer is (not) degraded that was asked from now on; return how long that took, in seconds."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        while not any(at >= began and was is degraded for at, _, was in self.answers):
            assert not self._task.done(), self._task.exception()
            assert loop.time() - began < seconds, f"no answer with degraded={degraded} within {seconds} s"
            await asyncio.sleep(0.02)
        return loop.time() - began

    async def stop(self) -> None:
        self._task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await self._task


async def test_killed_and_started_again_under_load(tmp_path, server) -> None:
    async with running(tmp_path, server) as (engine, recaller):
        await fill(engine)
        load = Load(recaller)
        await load.until(False, 10)

        await asyncio.to_thread(server.kill)
        await load.until(True, 5)
        with pytest.raises(IndexUnavailable):
            await engine.index.health()
        # What is written meanwhile is accepted, found by the ledger's answer, and waits for the index.
        [memory_id] = await keep(engine, "user:a", fact("The piano tuner comes on Fridays"))
        assert (await ask(recaller, "when does the piano tuner come", user="a")).items[0].memory_id == memory_id
        with pytest.raises(IndexUnavailable):
            await engine.projection.one_space()
        known_down = len(load.answers)
        await asyncio.sleep(2)

        server.start(wait=False)
        await asyncio.to_thread(server.wait_ready)
        back_s = await load.until(False, 10)
        await load.stop()
        await apply_outbox(engine)
        # Nothing was lost by the kill, by words or by meaning.
        kept = await engine.index.ids("default/user:a")
        assert memory_id in kept
        assert {c.memory_id for c in await engine.index.candidates("default/user:a", [], hashed_vector("key"), Filters())} == kept
        assert len(kept) == 4
        assert not (await ask(recaller, "when does the piano tuner come", user="a")).degraded

        assert back_s < BACK_S
        assert max(took for _, took, _ in load.answers) < LIMIT_S + SPARE_S
        # Once it is known to be away nobody waits for it.
        quick = sorted(took for _, took, degraded in load.answers[known_down:] if degraded)
        assert quick[len(quick) // 2] < LIMIT_S / 2


async def test_frozen_and_going_on(tmp_path, server) -> None:
    async with running(tmp_path, server) as (engine, recaller):
        await fill(engine)
        load = Load(recaller)
        await load.until(False, 10)
        server.child.send(signal.SIGSTOP)
        try:
            await load.until(True, 8)
            await asyncio.sleep(2)
        finally:
            server.child.send(signal.SIGCONT)
        back_s = await load.until(False, 10)
        await load.stop()
        assert back_s < BACK_S
        assert max(took for _, took, _ in load.answers) < LIMIT_S + SPARE_S


async def test_a_server_that_is_away_at_the_start_is_found_when_it_comes(tmp_path, server) -> None:
    async with running(tmp_path, server) as (engine, _):
        await fill(engine)
    await asyncio.to_thread(server.kill)
    async with running(tmp_path, server) as (engine, recaller):
        assert (await ask(recaller, "where is the spare key", user="a")).degraded
        load = Load(recaller)
        server.start(wait=False)
        await asyncio.to_thread(server.wait_ready)
        assert await load.until(False, 15) < BACK_S + 3  # it is opened first: schema, then whether it holds anything
        await load.stop()


async def test_a_server_that_lost_everything_is_filled_again(tmp_path, server) -> None:
    async with running(tmp_path, server) as (engine, recaller):
        await fill(engine)
        await asyncio.to_thread(server.kill)
        await asyncio.to_thread(shutil.rmtree, server.data)
        await asyncio.to_thread(server.start)
        async with asyncio.timeout(30):
            while len(await indexed(engine)) < 3:
                await apply_outbox(engine)
                await asyncio.sleep(0.1)
        answer = await ask(recaller, "备用钥匙在哪里", user="a")
        assert (answer.degraded, conclusions(answer)[:1]) == (False, ["备用钥匙在花盆下面"])


async def indexed(engine: Engine) -> set[str]:
    try:
        return await engine.index.ids("default/user:a")
    except IndexUnavailable:
        return set()
