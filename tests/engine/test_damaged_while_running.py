"""An index file is damaged, or deleted, under running processes: they notice, and fill a new one from the ledger without a restart."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from sqlalchemy import select

from hindwise.engine import Engine
from hindwise.errors import IndexDamaged, IndexUnavailable
from hindwise.index.dispatcher import dispatch_forever
from hindwise.index.projection import index_space
from hindwise.ledger import generations
from hindwise.ledger.generations import State
from hindwise.ledger.schema import generations as rows
from hindwise.privacy import erase_user
from hindwise.recall.recall import Recaller
from tests.engine.recall.helpers import TENANT, ask, conclusions, fact, keep
from tests.engine.reindex.helpers import fill, furnish, house, live, switch, wanted
from tests.processes import environment
from tests.workflows.stage import until

KEY = "The spare key lies under the flowerpot. 备用钥匙在花盆下面"
ASKED = "备用钥匙在哪里"


def damage(path: Path, how: str) -> None:
    """As a bad disk, a full one, or a person would."""
    if how == "deleted":
        path.unlink()
    elif how == "cut":
        os.truncate(path, 5000)
    elif how == "replaced":
        other = path.with_suffix(".copy")
        other.write_bytes(path.read_bytes()[:8192])
        other.rename(path)
    else:
        with path.open("r+b") as file:  # in place: the same file, as long as before
            file.write(b"no database at all " * (path.stat().st_size // 19))


@asynccontextmanager
async def worker(data: Path) -> AsyncIterator[Engine]:
    """An engine whose dispatcher runs."""
    async with house(data) as engine:
        stop = asyncio.Event()
        dispatching = asyncio.create_task(dispatch_forever(engine.projection, engine.ledger, stop))
        try:
            yield engine
        finally:
            stop.set()
            await dispatching


async def made_again(engine: Engine, recaller: Recaller, number: int) -> None:
    """Wait until this process asks another generation than `number`, and is answered by it."""

    async def answered() -> bool:
        answer = await ask(recaller, ASKED, user="ann")
        assert list(conclusions(answer))[:1] == [KEY], "the ledger answers meanwhile"
        generation = live(engine).generation
        return generation is not None and generation.no != number and not answer.degraded

    await until(answered, 30)


async def is_removed(engine: Engine, number: int) -> bool:
    """Whether nothing of a generation is left."""
    return number not in {one.no for one in await engine.ledger.read(generations.kept)}


@pytest.mark.parametrize("how", ["overwritten", "cut", "deleted", "replaced"])
async def test_two_running_processes_go_over_to_one_new_index_that_is_filled_from_the_ledger(tmp_path: Path, how: str) -> None:
    async with house(tmp_path) as engine:
        await keep(engine, "user:ann", fact(KEY))
        await furnish(engine, ["user:ann", "agent:desk"], 12)
    [file] = tmp_path.glob("index-*.db")
    async with worker(tmp_path) as first, house(tmp_path) as second:
        await live(first).empty_log()
        recallers = [Recaller(first), Recaller(second)]
        damage(file, how)
        [written] = await keep(first, "user:ann", fact("Likes green tea"))
        await asyncio.gather(*(made_again(one, recaller, 1) for one, recaller in zip((first, second), recallers, strict=True)))
        for recaller in recallers:
            await recaller.close()
        await until(lambda: is_removed(first, 1), 10)
        found = await first.ledger.read(generations.kept)
        assert [(one.no, one.state, one.holes) for one in found] == [(2, State.LIVE, False)], "one new index, whoever noticed"
        await first.index.health()

        async def whole() -> bool:
            held = [await one.index.ids(index_space(TENANT, space)) for one in (first, second) for space in ("user:ann", "agent:desk")]
            return [len(one) for one in held] == [14, 12, 14, 12] and written in held[2]

        await until(whole, 30)
    assert [one.name for one in tmp_path.glob("index-*")] == ["index-2.db"], "nothing of the damaged one is left"


async def said(process: asyncio.subprocess.Process) -> bytes:
    """The next line of a process that is not of its log; b"" at its end."""
    assert process.stdout is not None
    async with asyncio.timeout(90):  # it may have to start first
        while (line := await process.stdout.readline()) and not line.startswith(b"asks"):
            pass
    return line


async def test_a_process_of_its_own_follows_too(tmp_path: Path) -> None:
    """As an API does while the worker beside it finds the damage."""
    async with house(tmp_path) as engine:
        await keep(engine, "user:ann", fact(KEY))
        await furnish(engine, ["user:ann"], 12)
    code = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from tests.engine.reindex.helpers import house, live\n"
        "async def main():\n"
        "    async with house(Path(sys.argv[1])) as engine:\n"
        "        print('asks', live(engine).generation.no, flush=True)\n"
        "        while live(engine).generation.no == 1 or live(engine).is_elsewhere:\n"
        "            await asyncio.sleep(0.05)\n"
        "        await engine.index.health()\n"
        "        print('asks', live(engine).generation.no, flush=True)\n"
        "asyncio.run(main())\n"
    )
    other = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, str(tmp_path), env=environment(tmp_path, {}), stdout=asyncio.subprocess.PIPE
    )
    try:
        assert await said(other) == b"asks 1\n"
        async with worker(tmp_path) as engine:
            damage(tmp_path / "index-1.db", "deleted")
            recaller = Recaller(engine)
            await made_again(engine, recaller, 1)
            await recaller.close()
            assert await said(other) == b"asks 2\n"
    finally:
        if other.returncode is None:
            other.kill()
        await other.wait()


async def test_an_erasure_in_the_same_moment_ends_and_leaves_nothing(tmp_path: Path) -> None:
    async with house(tmp_path) as engine:
        await furnish(engine, ["user:ann", "agent:desk"], 12)
        await live(engine).empty_log()
    async with worker(tmp_path) as engine:
        damage(tmp_path / "index-1.db", "overwritten")
        asked = await erase_user.request(engine, TENANT, "ann", "test")

        async def is_erased() -> bool:
            try:
                return (await erase_user.erase(engine, asked.id)).status == "completed"
            except IndexUnavailable:
                return False  # as the workflow does, which tries again

        await until(is_erased, 30)
        await until(lambda: is_removed(engine, 1), 30)

        async def whole() -> bool:
            return len(await engine.index.ids(index_space(TENANT, "agent:desk"))) == 12

        await until(whole, 30)
        assert await engine.index.ids(index_space(TENANT, "user:ann")) == set()
    assert [one.name for one in tmp_path.glob("index-*")] == ["index-2.db"]


async def test_who_dies_before_every_memory_was_marked_leaves_that_to_the_next(tmp_path: Path) -> None:
    async with house(tmp_path) as engine:
        await furnish(engine, ["user:ann"], 12)
        assert await engine.ledger.write(lambda conn: generations.replace_damaged(conn, 1, "damaged", engine.clock.now())) == 2
        assert await engine.ledger.write(lambda conn: generations.replace_damaged(conn, 1, "damaged", engine.clock.now())) is None
    async with worker(tmp_path) as engine:

        async def whole() -> bool:
            return len(await engine.index.ids(index_space(TENANT, "user:ann"))) == 12

        await until(whole, 30)


async def test_a_build_beside_it_goes_on_and_the_one_that_stood_in_is_kept_when_it_serves(tmp_path: Path) -> None:
    """Its number is the lower one."""
    async with house(tmp_path) as engine:
        await furnish(engine, ["user:ann"], 12)
        build = await wanted(engine)
        damage(tmp_path / "index-1.db", "deleted")

        async def replaced() -> bool:
            generation = live(engine).generation
            return generation is not None and generation.no == 3 and not live(engine).is_elsewhere

        await until(replaced, 30)
        await until(lambda: is_removed(engine, 1), 10)
        await fill(engine, build.no)
        await switch(engine, build.no)
        await engine.ledger.write(lambda conn: generations.settle(conn, build.no))
        states = dict(await engine.ledger.read(lambda conn: conn.execute(select(rows.c.no, rows.c.state)).all()))
        assert states == {1: State.DROPPED, 2: State.LIVE, 3: State.OLD}


async def test_a_damaged_file_that_is_being_built_says_so(tmp_path: Path) -> None:
    async with house(tmp_path) as engine:
        await furnish(engine, ["user:ann"], 12)
        build = await wanted(engine)
        await fill(engine, build.no)
        index = await live(engine).opened(build)
        damage(tmp_path / "index-2.db", "deleted")
        with pytest.raises(IndexDamaged, match=r"index-2.db is gone.*hindwise reindex --drop-old"):
            await index.health()
        assert issubclass(IndexDamaged, IndexUnavailable)
