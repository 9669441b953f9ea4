"""Weaviate killed and started again, or frozen, under load: recall never waits longer than its limit, and is whole again within seconds."""

import asyncio
import os
import secrets
import shutil
import signal
import time
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx2
import pytest

from hindwise.engine import Engine, open_engine
from hindwise.errors import IndexUnavailable
from hindwise.index import factory
from hindwise.index.base import Filters
from hindwise.index.weaviate_names import collection_name, tenant_name
from hindwise.ledger import whole_index
from hindwise.recall.recall import Recaller
from hindwise.settings import Settings
from hindwise.testing import FixedClock, HashedEmbedder, hashed_vector
from tests.conformance.index.reference import DIM, make_item, unit
from tests.engine.recall.helpers import apply_outbox, ask, conclusions, fact, keep
from tests.servers.fixtures import or_left_out
from tests.servers.weaviate import Weaviate

LIMIT_S = 1.0
SPARE_S = 1.5
"""What the ledger's own answer may take on a machine that starts a server beside it."""
SLACK_S = 0.5
"""By so much the clock of a busy machine may be late; else the wait ends within milliseconds of the limit."""
BACK_S = 3.0
AWAY_S = float(os.environ.get("HINDWISE_TEST_AWAY_S", "2"))
"""How long it stays away; 60 is a minute's outage, for whoever has the time."""


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
    """Somebody who asks all the time, in both languages.

    `answers`: (when it was asked, seconds it took, degraded), on the loop's clock; `waited`: seconds of each for the index.
    """

    def __init__(self, recaller: Recaller) -> None:
        self.answers: list[tuple[float, float, bool]] = []
        self.waited: list[float] = []
        self._recaller = recaller
        self._task = asyncio.create_task(self._go_on())

    async def _go_on(self) -> None:
        loop = asyncio.get_running_loop()
        asked = {"where is the spare key": "The spare key lies under the flowerpot", "备用钥匙在哪里": "备用钥匙在花盆下面"}
        while True:
            for question, expected in asked.items():
                at = loop.time()
                answer = await ask(self._recaller, question, user="a")
                assert conclusions(answer)[:1] == [expected]
                self.answers.append((at, loop.time() - at, answer.degraded))
                self.waited.append(answer.timings["candidates"] / 1000)
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

    def never_waited_longer(self) -> None:
        """No recall waited longer for the index than its limit, or took longer than that and the ledger's own answer."""
        assert max(self.waited) < LIMIT_S + SLACK_S
        assert max(took for _, took, _ in self.answers) < LIMIT_S + SPARE_S

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
        await asyncio.sleep(AWAY_S)

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
        load.never_waited_longer()
        # Once it is known to be away nobody waits for it.
        quick = sorted(took for _, took, degraded in load.answers[known_down:] if degraded)
        assert quick[len(quick) // 2] < LIMIT_S / 2


async def test_what_was_acknowledged_is_found_by_meaning_after_a_kill_in_the_same_moment(tmp_path, server) -> None:
    """A kill within two seconds of a write would take the vectors with it, and nothing else: no id lacks, and nothing is degraded."""
    settings = Settings(_env_file=None, index_timeout_s=LIMIT_S, **server.env())
    secret = secrets.token_bytes(16)
    index = await factory.open_index(settings, "weaviate", 8, DIM, secret)
    for space in ("user:a", "user:b"):
        await index.upsert([make_item(f"{space}-{n}", space=space, vector=unit(n)) for n in range(4)])
        await asyncio.to_thread(server.kill)
        await asyncio.to_thread(server.start)
        async with asyncio.timeout(20):
            while (found := await candidates(index, space)) is None:
                await asyncio.sleep(0.1)
        assert found == {f"{space}-{n}" for n in range(4)}
    await index.close()
    await factory.remove_index(settings, "weaviate", 8, secret)


async def candidates(index, space: str) -> set[str] | None:
    try:
        return {found.memory_id for found in await index.candidates(space, [], unit(1), Filters())}
    except IndexUnavailable:
        return None


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
        load.never_waited_longer()


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
                with suppress(IndexUnavailable):
                    await apply_outbox(engine)
                await asyncio.sleep(0.1)
        answer = await ask(recaller, "备用钥匙在哪里", user="a")
        assert (answer.degraded, conclusions(answer)[:1]) == (False, ["备用钥匙在花盆下面"])


async def indexed(engine: Engine) -> set[str]:
    try:
        return await engine.index.ids("default/user:a")
    except IndexUnavailable:
        return set()


def ask_server(server, method: str, path: str, **more):
    """As an operator's hand would, past the product."""
    answer = httpx2.request(
        method, f"{server.url}/v1/schema{path}", headers={"Authorization": f"Bearer {server.api_key}"}, trust_env=False, **more
    )
    return answer.raise_for_status()


def collections(server) -> set[str]:
    return {found["class"] for found in ask_server(server, "GET", "").json()["classes"]}


def collection_of(engine: Engine) -> str:
    generation = engine.index.generation
    return collection_name(generation.no, engine.secret)


async def test_a_live_index_that_vanishes_is_never_taken_for_one_that_knows_nothing(tmp_path, server, monkeypatch) -> None:
    """The collection is made again only when every memory is marked, however long that takes: every answer finds what is known."""
    mark = whole_index.mark_dirty_after

    def slowly(*given):
        time.sleep(1)
        return mark(*given)

    async with running(tmp_path, server) as (engine, recaller):
        await fill(engine)
        monkeypatch.setattr(whole_index, "mark_dirty_after", slowly)
        load = Load(recaller)
        await load.until(False, 10)
        await asyncio.to_thread(ask_server, server, "DELETE", f"/{collection_of(engine)}")
        await load.until(True, 10)
        async with asyncio.timeout(30):
            while len(await indexed(engine)) < 3:
                with suppress(IndexUnavailable):
                    await apply_outbox(engine)
                await asyncio.sleep(0.1)
        await load.until(False, 10)
        await load.stop()


async def test_who_dies_while_marking_leaves_no_empty_index(tmp_path, server) -> None:
    async def dies() -> None:
        raise IndexUnavailable("killed here")

    settings = Settings(_env_file=None, index_timeout_s=LIMIT_S, **server.env())
    before = await asyncio.to_thread(collections, server)
    with pytest.raises(IndexUnavailable, match="killed here"):
        await factory.open_index(settings, "weaviate", 7, 64, secrets.token_bytes(16), before_making=dies)
    assert await asyncio.to_thread(collections, server) == before


async def test_an_index_that_was_dropped_does_not_come_back_by_a_reconnect(tmp_path, server) -> None:
    """Somebody had it open still when it was removed; the next look at the server makes no empty one."""
    allowed = [True]

    async def asked() -> None:
        if not allowed:
            raise IndexUnavailable("it serves no longer")
        allowed.clear()

    settings = Settings(_env_file=None, index_timeout_s=LIMIT_S, **server.env())
    secret = secrets.token_bytes(16)
    before = await asyncio.to_thread(collections, server)
    index = await factory.open_index(settings, "weaviate", 7, 0, secret, before_making=asked)
    assert await asyncio.to_thread(collections, server) == {*before, index.collection}
    await factory.remove_index(settings, "weaviate", 7, secret)
    for _ in range(20):
        with suppress(IndexUnavailable):
            await index.candidates("user:a", ["key"], None, Filters())
        await asyncio.sleep(0.1)
    with pytest.raises(IndexUnavailable):
        await index.health()
    await index.close()
    await factory.remove_index(settings, "weaviate", 7, secret)  # as `hindwise reindex --drop-old` does with what is gone already
    assert await asyncio.to_thread(collections, server) == before


async def test_a_space_that_the_server_lost_is_noticed_at_the_next_start(tmp_path, server) -> None:
    """Others are there: the index is not empty, and answers in that space would be nothing, not degraded."""
    async with running(tmp_path, server) as (engine, _):
        await fill(engine)
        await keep(engine, "user:b", fact("Lives in Turku"))
        await apply_outbox(engine)
        tenant = tenant_name(engine.secret, "default/user:a")
        await asyncio.to_thread(ask_server, server, "DELETE", f"/{collection_of(engine)}/tenants", json=[tenant])
    async with running(tmp_path, server) as (engine, recaller):
        answer = await ask(recaller, "where is the spare key", user="a")
        assert conclusions(answer)[:1] == ["The spare key lies under the flowerpot"]
        await apply_outbox(engine)
        assert len(await indexed(engine)) == 3
