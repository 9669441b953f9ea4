"""The index is made from the ledger: a damaged file of it must not keep anything from starting."""

import asyncio
from pathlib import Path

import pytest

from hindwise.engine import open_engine
from hindwise.errors import DimensionMismatch
from hindwise.index.factory import open_embedded_file
from hindwise.index.projection import index_space
from hindwise.recall.remember import remember
from hindwise.settings import Settings
from hindwise.testing import FixedClock, HashedEmbedder
from tests.build import make_draft


def damage(path: Path, how: str) -> None:
    whole = path.read_bytes()
    path.write_bytes(b"no database at all " * 400 if how == "overwritten" else whole[:1000])


@pytest.mark.parametrize("how", ["overwritten", "cut"])
async def test_an_engine_starts_with_a_damaged_index_and_an_empty_one_takes_its_place(tmp_path, how):
    for again in (False, True):
        settings = Settings(_env_file=None, data=tmp_path)  # type: ignore[call-arg]
        async with open_engine(settings, FixedClock(), HashedEmbedder()) as engine:
            await engine.index.health()
            assert await engine.index.ids("user:a") == set()
        (file,) = tmp_path.glob("index-*.db")
        if not again:
            damage(file, how)


@pytest.mark.parametrize("how", ["overwritten", "gone"])
async def test_a_lost_index_is_filled_again_from_the_ledger(tmp_path, how):
    settings = Settings(_env_file=None, data=tmp_path)  # type: ignore[call-arg]
    async with open_engine(settings, FixedClock(), HashedEmbedder()) as engine:
        draft = make_draft("window")
        decision = await remember(engine, settings.tenant, draft, "user:a", "test", engine.clock.now())
        await engine.projection.one_space()
        assert await engine.index.ids(index_space(settings.tenant, "user:a")) == {decision.memory_id}
    (file,) = tmp_path.glob("index-*.db")
    if how == "gone":
        file.unlink()
    else:
        damage(file, how)
    async with open_engine(settings, FixedClock(), HashedEmbedder()) as engine:
        assert await engine.projection.one_space() == 1
        assert await engine.index.ids(index_space(settings.tenant, "user:a")) == {decision.memory_id}


async def test_processes_that_start_at_once_end_with_one_whole_file(tmp_path):
    path = tmp_path / "index-1.db"
    path.write_bytes(b"no database at all " * 400)
    opened = await asyncio.gather(*(asyncio.to_thread(open_embedded_file, path, dim=4, cache_mb=8) for _ in range(4)))
    for index in opened:
        await index.health()
        await index.close()


def test_a_file_of_another_version_is_not_thrown_away(tmp_path):
    path = tmp_path / "index-1.db"
    open_embedded_file(path, dim=4, cache_mb=8)
    before = path.read_bytes()
    with pytest.raises(DimensionMismatch):
        open_embedded_file(path, dim=5, cache_mb=8)
    assert path.read_bytes()[:100] == before[:100]
