"""Builds on a real Temporal: embedded -> Weaviate -> embedded under load, and a worker that is killed with -9 in the middle of one."""

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Sequence
from functools import partial
from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from hindwise.cli import reindex_keeper
from hindwise.cli.reindex_keeper import keep_reindexing
from hindwise.clock import SystemClock
from hindwise.engine import Engine, open_engine
from hindwise.index.dispatcher import dispatch_forever
from hindwise.index.projection import index_space
from hindwise.ledger import generations, outbox
from hindwise.ledger.generations import State
from hindwise.privacy import erase_user
from hindwise.recall import finding
from hindwise.recall.recall import Recaller
from hindwise.testing import HashedEmbedder
from tests.build import TENANT
from tests.engine.recall.helpers import ask, conclusions, fact, ids, keep
from tests.engine.reindex.helpers import drafts, furnish_at_once, live, queries, sentences
from tests.nobody import nobody_at
from tests.processes import Process
from tests.processes import environment as process_environment
from tests.workflows.rig import Rig, settings_for
from tests.workflows.stage import until

pytestmark = pytest.mark.asyncio(loop_scope="session")

ASKED = 200
SPACES = ("user:ann", "agent:desk")


Told = list[tuple[str, float]]


async def _answers(recaller: Recaller, asked: Sequence[str]) -> list[Told]:
    """What each question is told, best first: memory and score."""
    found = []
    for text in asked:
        answer = await ask(recaller, text, user="ann", agent="desk", limit=8)
        assert not answer.degraded, answer
        found.append([(item.memory_id, round(item.score, 6)) for item in answer.items])
    return found


def _first_five(told: Told) -> list[str]:
    return [memory_id for memory_id, _ in told[:5]]


def _differing(before: Sequence[Told], after: Sequence[Told]) -> list[tuple[Told, Told]]:
    """Answers whose first five memories are others, or in another order."""
    return [(first, second) for first, second in zip(before, after, strict=True) if _first_five(first) != _first_five(second)]


async def _built(engine: Engine, kind: str, seconds: float = 120.0) -> int:
    """Ask for a generation and wait until it serves, here too."""
    asked = await engine.ledger.write(lambda conn: generations.request(conn, kind, engine.clock.now()))

    async def serves() -> bool:
        build = await engine.ledger.read(lambda conn: generations.build_of(conn, asked.no))
        assert build.phase != "needs_attention", build.note
        generation = live(engine).generation
        return build.generation.state == State.LIVE and generation is not None and generation.no == asked.no

    await until(serves, seconds)
    return asked.no


@contextlib.asynccontextmanager
async def _load(engine: Engine, recaller: Recaller) -> AsyncIterator[dict[str, int]]:
    """Others write and ask all the time; whatever is written is found by the next recall."""
    over, told = asyncio.Event(), {"written": 0, "asked": 0, "degraded": 0, "lost": 0}

    async def write(user: int) -> None:
        while not over.is_set():
            number = told["written"] = told["written"] + 1
            text = f"The umbrella number {number} of guest {user} hangs at hook {number * 7}"
            await keep(engine, f"user:guest{user}", fact(text))
            answer = await ask(recaller, f"where hangs the umbrella number {number}", user=f"guest{user}", limit=20)
            told["asked"] += 1
            told["degraded"] += answer.degraded
            told["lost"] += text not in conclusions(answer)
            await asyncio.sleep(0.15)

    writing = [asyncio.create_task(write(user)) for user in range(2)]
    try:
        yield told
    finally:
        over.set()
        await asyncio.gather(*writing)


async def test_embedded_to_weaviate_and_back_under_load_the_same_200_questions_give_the_same_first_five(
    environment: WorkflowEnvironment, weaviate_server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing written meanwhile is missed, in any of the three."""
    monkeypatch.setattr(finding, "_INDEX_LIMIT_S", 20.0)
    more = weaviate_server.env() | {"index_timeout_s": 20.0, "reindex_share": 0.5}  # a loaded test machine is no failure
    settings = settings_for(tmp_path, environment.client, **more)
    asked = queries(ASKED, seed=7)
    async with open_engine(settings, SystemClock(), HashedEmbedder()) as engine:
        for at, space in enumerate(SPACES):
            await furnish_at_once(engine, space, sentences(150, seed=at))
        recaller, stop = Recaller(engine), asyncio.Event()
        before = await _answers(recaller, asked)
        assert sum(len(found) >= 5 for found in before) > ASKED // 2
        house = Rig(engine, environment.client)
        tasks = [
            asyncio.create_task(dispatch_forever(engine.projection, engine.ledger, stop, clock=engine.clock)),
            asyncio.create_task(keep_reindexing(engine, environment.client)),
        ]
        try:
            async with house.workers(), _load(engine, recaller) as told:
                for kind in ("weaviate", "embedded"):
                    number = await _built(engine, kind)
                    generation = live(engine).generation
                    assert generation is not None
                    assert (generation.no, generation.kind) == (number, kind)
                    after = await _answers(recaller, asked)
                    differing = _differing(before, after)
                    assert not differing, f"{len(differing)} of {ASKED} on {kind}, such as {differing[0]}"
        finally:
            stop.set()
            tasks[1].cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await recaller.close()
        assert told["lost"] == 0
        assert told["written"] > 10
        assert told["degraded"] == 0
        reports = [await engine.ledger.read(lambda conn, no=no: generations.build_of(conn, no).report) for no in (2, 3)]
        print(told, reports)
        for report in reports:
            assert report["checked"]["missing"] == 0
            assert report["compared"]["asked"] >= report["compared"]["same"] > 0


async def _clean(engine: Engine) -> bool:
    """Bring the index up to date, also where whoever died left a lease."""
    while await engine.projection.one_space() is not None:
        pass
    return not await engine.ledger.read(outbox.space_numbers)


def _worker(data: Path, settings: dict[str, str]) -> Process:
    return Process("worker", [sys.executable, "-m", "hindwise.cli", "worker"], process_environment(data, settings), data)


async def test_a_worker_killed_in_the_middle_of_a_build_is_followed_by_one_that_goes_on(
    environment: WorkflowEnvironment, tmp_path: Path
) -> None:
    """What is written meanwhile is in both; the command that watches ends well; another process notices the switch."""
    settings = settings_for(tmp_path, environment.client)
    told = {
        "HINDWISE_TEMPORAL_ADDRESS": settings.temporal_address,
        "HINDWISE_TEMPORAL_NAMESPACE": settings.temporal_namespace,
        "HINDWISE_TASK_QUEUE_PREFIX": settings.task_queue_prefix,
        "HINDWISE_UPKEEP_EVERY_MINUTES": "100000",
    }
    slowly = told | {"HINDWISE_REINDEX_SHARE": "0.05"}
    async with open_engine(settings, SystemClock()) as engine:
        for at, space in enumerate(SPACES):
            await furnish_at_once(engine, space, drafts(300, seed=1000 * at))
        serving = live(engine).generation
        assert serving is not None
        worker = _worker(tmp_path, slowly).start()
        command = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "hindwise.cli",
            "reindex",
            "--json",
            env=process_environment(tmp_path, told),
            stdout=asyncio.subprocess.PIPE,
        )
        try:

            async def half_way() -> bool:
                builds = await engine.ledger.read(generations.open_builds)
                return bool(builds) and builds[0].done >= 128

            await until(half_way, 60)
            await asyncio.sleep(0.2)  # it rests between pages: killed with a lease, the space waits until that ends
            worker.kill()
            [build] = await engine.ledger.read(generations.open_builds)
            assert build.generation.state == State.BUILDING
            assert build.done < build.total == 600
            [written] = await keep(engine, "user:ann", fact("The spare key lies under the flowerpot. 备用钥匙在花盆下面"))
            await until(lambda: _clean(engine), 60)
            new = build.generation
            for generation in (serving, new):
                assert written in await (await live(engine).opened(generation)).ids(index_space(TENANT, "user:ann"))
            worker = _worker(tmp_path, told).start()
            output, _ = await asyncio.wait_for(command.communicate(), 90)
            done = json.loads(output)
            assert (command.returncode, done["state"], done["generation"]) == (0, "live", new.no)
            assert done["report"]["checked"]["missing"] == 0
            assert done["report"]["checked"]["memories"] == 601
            assert done["report"]["compared"]["same"] == done["report"]["compared"]["asked"] > 0
            await until(lambda: live(engine).generation == new._replace(state=str(State.LIVE)), 10)
            recaller = Recaller(engine)
            answer = await ask(recaller, "备用钥匙在哪里", user="ann")
            assert (answer.degraded, ids(answer)[:1]) == (False, [written])
            await recaller.close()
        finally:
            worker.stop()
            if command.returncode is None:
                command.kill()
                await command.wait()


_BARRED = {
    "no settings": "WEAVIATE_URL",
    "no client": "pip install 'hindwise[weaviate]'",
    "a key that is refused": "set WEAVIATE_API_KEY to one that it allows",
    "a server that is away": "is away",
}


@pytest.mark.parametrize("barred", _BARRED)
async def test_a_place_that_no_worker_can_reach_is_told_at_once_and_holds_nothing_up(
    environment: WorkflowEnvironment, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, barred: str
) -> None:
    """Begun, it would keep every change from the live index, and every erasure waiting for an index that there never was."""
    more: dict[str, str] = {} if barred == "no settings" else request.getfixturevalue("weaviate_server").env()
    if barred == "a key that is refused":
        more["WEAVIATE_API_KEY"] = "another"
    elif barred == "a server that is away":
        monkeypatch.setattr(reindex_keeper, "_AWAY_S", 0.5)
        more["WEAVIATE_URL"] = f"http://{nobody_at()}"
    elif barred == "no client":
        monkeypatch.setitem(sys.modules, "hindwise.index.weaviate", None)
    async with open_engine(settings_for(tmp_path, environment.client, **more), SystemClock(), HashedEmbedder()) as engine:
        keeper = asyncio.create_task(keep_reindexing(engine, environment.client))
        asked = await engine.ledger.write(lambda conn: generations.request(conn, "weaviate", engine.clock.now()))
        try:
            await until(partial(_stands_at, engine, asked.no, "needs_attention"), 10)
            build = await engine.ledger.read(lambda conn: generations.build_of(conn, asked.no))
            assert (build.generation.state, _BARRED[barred] in build.note) == (State.WANTED, True), build.note
            [written] = await keep(engine, "user:ann", fact("Likes green tea. 喜欢绿茶"))
            await until(lambda: _clean(engine), 10)
            assert written in await live(engine).ids(index_space(TENANT, "user:ann"))
            erasure = await erase_user.request(engine, TENANT, "ann", "test")
            assert (await erase_user.erase(engine, erasure.id)).status == "completed"
            code, _, error = await _command(tmp_path, "--answer", "retry")
            assert (code, "was not begun yet" in error, _BARRED[barred] in error, "--cancel" in error) == (1, True, True, True)
            code, told, _ = await _command(tmp_path, "--cancel")
            assert (code, "--drop-old" in told) == (0, False)
            build = await engine.ledger.read(lambda conn: generations.build_of(conn, asked.no))
            assert build.generation.state == State.DROPPED, "nobody began it, so there is nothing to remove"
        finally:
            keeper.cancel()
            await asyncio.gather(keeper, return_exceptions=True)


async def test_a_place_that_could_not_be_reached_is_built_once_it_can_be(
    environment: WorkflowEnvironment, weaviate_server, tmp_path: Path
) -> None:
    """A worker that starts with another key begins what the one before had to hold."""
    right = weaviate_server.env() | {"index_timeout_s": 20.0}
    numbers = set()
    for more, expected in ((right | {"WEAVIATE_API_KEY": "another"}, "needs_attention"), (right, "drain")):
        async with open_engine(settings_for(tmp_path, environment.client, **more), SystemClock(), HashedEmbedder()) as engine:
            keeper = asyncio.create_task(keep_reindexing(engine, environment.client))
            try:
                async with Rig(engine, environment.client).workers():
                    now = engine.clock.now()
                    asked = await engine.ledger.write(partial(generations.request, kind="weaviate", now=now))
                    numbers.add(asked.no)
                    await until(partial(_stands_at, engine, asked.no, expected), 30)
            finally:
                keeper.cancel()
                await asyncio.gather(keeper, return_exceptions=True)
    assert len(numbers) == 1


async def _stands_at(engine: Engine, number: int, phase: str) -> bool:
    return (await engine.ledger.read(lambda conn: generations.build_of(conn, number))).phase == phase


async def _command(data: Path, *arguments: str) -> tuple[int | None, str, str]:
    """`hindwise reindex` with these arguments: exit code, what it printed, what it complained about."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "hindwise.cli", "reindex", *arguments),
        env=process_environment(data, {}),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, errors = await asyncio.wait_for(process.communicate(), 60)
    return process.returncode, output.decode(), errors.decode()
