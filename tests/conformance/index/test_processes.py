"""Several processes on one store: a write is seen by all at once, and what was acknowledged outlives a kill -9."""

import asyncio
import sys
from pathlib import Path

import pytest

from hindwise.index.base import Filters
from hindwise.index.embedded import open_embedded
from tests.conformance.index.reference import DIM, make_item, unit

ROOT = Path(__file__).resolve().parents[3]

WRITER = """
import asyncio, sys
from pathlib import Path
from hindwise.index.embedded import open_embedded
from tests.conformance.index.reference import DIM, make_item

async def main(path, prefix, count):
    index = open_embedded(Path(path), dim=DIM, cache_mb=8)
    for i in range(count):
        await index.upsert([make_item(f"{prefix}{i:05d}", f"cancel word{i}")])
        print(f"{prefix}{i:05d}", flush=True)

asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
"""


async def start_writer(path: Path, prefix: str, count: int) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-c", WRITER, str(path), prefix, str(count), cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )


@pytest.fixture
async def path(tmp_path):
    return tmp_path / "index-1.db"


async def test_each_write_of_another_process_is_seen_by_the_next_question(path):
    index = open_embedded(path, dim=DIM, cache_mb=8)
    writer = await start_writer(path, "w", 20)
    try:
        async with asyncio.timeout(60):
            for _ in range(20):
                memory_id = (await writer.stdout.readline()).decode().strip()
                found = {c.memory_id for c in await index.candidates("user:a", ["cancel"], unit(1), Filters(), k=200)}
                assert memory_id in found
            assert await writer.wait() == 0
    finally:
        await index.close()


async def test_two_processes_write_one_space_at_once_and_nothing_is_lost(path):
    writers = [await start_writer(path, prefix, 40) for prefix in "ab"]
    async with asyncio.timeout(60):
        assert [await writer.communicate() and writer.returncode for writer in writers] == [0, 0]
    index = open_embedded(path, dim=DIM, cache_mb=8)
    try:
        expected = {f"{prefix}{i:05d}" for prefix in "ab" for i in range(40)}
        assert await index.ids("user:a") == expected
        assert {c.memory_id for c in await index.candidates("user:a", ["cancel"], None, Filters(), k=200)} == expected
    finally:
        await index.close()


async def test_acknowledged_items_outlive_a_kill_of_the_writer(path):
    acknowledged = set()
    for round_no in range(3):
        writer = await start_writer(path, f"r{round_no}-", 100_000)
        async with asyncio.timeout(60):
            for _ in range(25):
                acknowledged.add((await writer.stdout.readline()).decode().strip())
            writer.kill()
            rest = (await writer.stdout.read()).decode()
            await writer.wait()
        acknowledged |= set(rest.splitlines()[:-1] if rest and not rest.endswith("\n") else rest.splitlines())
        index = open_embedded(path, dim=DIM, cache_mb=8)
        try:
            await index.health()
            kept = await index.ids("user:a")
            assert acknowledged <= kept
            # What was in flight is there wholly or not at all: the space's count agrees with its rows.
            assert len(await index.candidates("user:a", [], unit(1), Filters(), k=200)) == min(200, len(kept))
            await index.upsert([make_item("after", "afterwards")])
            assert "after" in await index.ids("user:a")
        finally:
            await index.close()
