"""A build whose place is barred while it is written, on a real Temporal and a real Weaviate: told at once, and gone on with afterwards."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from temporalio.testing import WorkflowEnvironment

from hindwise.cli import reindex_keeper
from hindwise.cli.reindex_keeper import keep_reindexing
from hindwise.clock import SystemClock
from hindwise.engine import Engine, open_engine
from hindwise.ledger import generations
from hindwise.ledger.generations import Build, State
from hindwise.testing import HashedEmbedder
from tests.engine.reindex.helpers import drafts, furnish_at_once
from tests.servers.fixtures import or_left_out
from tests.servers.weaviate import Weaviate
from tests.workflows.rig import Rig, settings_for
from tests.workflows.stage import until
from workflows.start_reindex import signal_reindex

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.fixture(scope="module")
def one_server():
    """A Weaviate that these tests may stop, and give another key."""
    server = or_left_out(Weaviate)
    try:
        yield server.start()
    finally:
        server.close()


@asynccontextmanager
async def _house(environment: WorkflowEnvironment, data: Path, server: Weaviate, prefix: str, **more: Any) -> AsyncIterator[Engine]:
    """An engine with its workers, which build what is asked for."""
    settings = settings_for(data, environment.client, prefix, **{**server.env(), "index_timeout_s": 20.0, "reindex_share": 0.05, **more})
    async with open_engine(settings, SystemClock(), HashedEmbedder()) as engine, Rig(engine, environment.client).workers():
        keeper = asyncio.create_task(keep_reindexing(engine, environment.client))
        try:
            yield engine
        finally:
            keeper.cancel()
            await asyncio.gather(keeper, return_exceptions=True)


async def _build(engine: Engine, number: int) -> Build:
    return await engine.ledger.read(lambda conn: generations.build_of(conn, number))


async def _half_way(engine: Engine) -> int:
    """Ask for a build on Weaviate, and return its number once some of it is written."""
    await furnish_at_once(engine, "user:ann", drafts(700))
    now = engine.clock.now()
    number = (await engine.ledger.write(partial(generations.request, kind="weaviate", now=now))).no

    async def written() -> bool:
        return (await _build(engine, number)).done >= 64

    await until(written, 30)
    return number


async def _serves(engine: Engine, number: int) -> bool:
    build = await _build(engine, number)
    assert build.phase != "needs_attention", build.note
    return build.generation.state == State.LIVE


async def test_a_key_that_is_refused_while_it_is_written_waits_for_a_person_at_once_and_goes_on_with_the_right_one(
    environment: WorkflowEnvironment, one_server: Weaviate, tmp_path: Path
) -> None:
    """It is no blip: tried for half an hour, it would hold up changes and erasures all that time, and nobody would know why."""
    prefix = f"k{secrets.token_hex(6)}"
    async with _house(environment, tmp_path, one_server, prefix) as engine:
        number = await _half_way(engine)
        one_server.api_key = secrets.token_hex(16)
        await asyncio.to_thread(one_server.restart)

        async def waits() -> bool:
            return (await _build(engine, number)).phase == "needs_attention"

        await until(waits, 30)
        build = await _build(engine, number)
        assert (build.generation.state, build.done < build.total) == (State.BUILDING, True)
        for words in ("(index-refused)", "set WEAVIATE_API_KEY to one that it allows", "restart", "--answer retry, switch or drop"):
            assert words in build.note, build.note
    async with _house(environment, tmp_path, one_server, prefix, reindex_share=1.0) as engine:
        assert await signal_reindex(environment.client, number, "retry", queue_prefix=prefix)

        async def goes_on() -> bool:
            return (await _build(engine, number)).phase != "needs_attention"

        await until(goes_on, 30)
        await until(partial(_serves, engine, number), 60)
        build = await _build(engine, number)
        assert (build.note, build.report["checked"]["missing"], build.report["checked"]["memories"]) == ("", 0, 700)


async def test_two_workers_that_lack_different_things_are_told_together_and_who_is_gone_no_more(
    environment: WorkflowEnvironment, one_server: Weaviate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One had written over what the other said, every few seconds."""
    monkeypatch.setattr(reindex_keeper, "_LOOK_AGAIN_S", 0.2)
    lacks = {"WEAVIATE_URL": {}, "refuses our key": {**one_server.env(), "WEAVIATE_API_KEY": "another"}}
    async with AsyncExitStack() as stack:
        engines, keepers = [], []
        for more in lacks.values():
            settings = settings_for(tmp_path, environment.client, **more)
            engines.append(await stack.enter_async_context(open_engine(settings, SystemClock(), HashedEmbedder())))
        engine, now = engines[0], engines[0].clock.now()
        number = (await engine.ledger.write(partial(generations.request, kind="weaviate", now=now))).no

        async def note() -> str:
            return (await _build(engine, number)).note

        try:
            keepers = [asyncio.create_task(keep_reindexing(one, environment.client)) for one in engines]
            told = ""
            async with asyncio.timeout(30):
                while not all(words in told for words in lacks):
                    await asyncio.sleep(0.05)
                    told = await note()
            for _ in range(40):
                await asyncio.sleep(0.1)
                assert await note() == told, "it stays"
            assert (await _build(engine, number)).phase == "needs_attention"
            keepers[0].cancel()
            monkeypatch.setattr(generations, "HELD_FOR", timedelta(seconds=1))
            monkeypatch.setattr(reindex_keeper, "_SAY_AGAIN_S", 0.3)
            await until(lambda: _tells_only(note, "refuses our key", "WEAVIATE_URL"), 30)
        finally:
            for keeper in keepers:
                keeper.cancel()
            await asyncio.gather(*keepers, return_exceptions=True)


async def _tells_only(note: Callable[[], Awaitable[str]], here: str, gone: str) -> bool:
    told = await note()
    return here in told and gone not in told


async def test_a_server_that_is_away_while_it_is_written_is_told_and_the_build_goes_on_by_itself(
    environment: WorkflowEnvironment, one_server: Weaviate, tmp_path: Path
) -> None:
    async with _house(environment, tmp_path, one_server, f"a{secrets.token_hex(6)}") as engine:
        number = await _half_way(engine)
        await asyncio.to_thread(one_server.stop)

        async def is_told() -> bool:
            build = await _build(engine, number)
            return build.phase == "fill" and "is away" in build.note

        await until(is_told, 30)
        assert "It is tried again until" in (await _build(engine, number)).note
        await asyncio.to_thread(one_server.start)

        async def goes_on() -> bool:
            build = await _build(engine, number)
            assert build.phase != "needs_attention", build.note
            return build.note == ""

        await until(goes_on, 60)
