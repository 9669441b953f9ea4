"""Who notices what other processes decided: it never stops, and one index that does not answer keeps nobody from another."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from hindwise.cli.reindex_keeper import keep_reindexing
from hindwise.index import live as live_module
from hindwise.index.base import Index
from hindwise.index.embedded import open_embedded
from hindwise.index.live import LiveIndex
from hindwise.ledger import generations
from hindwise.ledger.generations import Generation, Spec, State
from tests.engine.reindex.helpers import house

SPEC = Spec("hashed-64", 64, 1)


def _row(number: int, state: State) -> Generation:
    return Generation(number, "embedded", *SPEC, state=str(state), holes=False)


class _Shelf:
    """Opens files; one number of them only once `answers` is set. `rows`: what the ledger would say, or an error to raise."""

    def __init__(self, folder: Path, silent: int = 0) -> None:
        self._folder, self._silent = folder, silent
        self.answers, self.asked = asyncio.Event(), asyncio.Event()
        self.rows: list[Generation] | Exception = [_row(1, State.LIVE)]

    async def open(self, generation: Generation) -> Index:
        """As the engine's opener."""
        if generation.no == self._silent:
            self.asked.set()
            await self.answers.wait()
        return await asyncio.to_thread(open_embedded, self._folder / f"index-{generation.no}.db", dim=64, cache_mb=8)

    async def read(self) -> list[Generation]:
        """As the ledger."""
        if isinstance(self.rows, Exception):
            self.asked.set()
            raise self.rows
        return self.rows


async def test_what_is_open_is_had_at_once_while_another_index_does_not_answer(tmp_path: Path) -> None:
    """An index kept from before on a server that is away must not hold up the changes to the live one."""
    shelf = _Shelf(tmp_path, silent=2)
    index = LiveIndex(shelf.open, shelf.read, SPEC)
    await index.refresh()
    waiting = asyncio.create_task(index.opened(_row(2, State.OLD)))
    await shelf.asked.wait()
    async with asyncio.timeout(5):
        [target] = await index.targets([_row(1, State.LIVE)])
    assert target.generation.no == 1
    shelf.answers.set()
    await waiting
    await index.close()


async def test_a_look_that_fails_in_an_unknown_way_does_not_end_the_watching(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_module, "LOOK_EVERY_S", 0.01)
    shelf = _Shelf(tmp_path)
    index = LiveIndex(shelf.open, shelf.read, SPEC)
    await index.refresh()
    shelf.rows = RuntimeError("nobody knows why")
    watching = asyncio.create_task(index.watch())
    await shelf.asked.wait()
    shelf.rows = [_row(1, State.DRAINING), _row(2, State.LIVE)]
    async with asyncio.timeout(5):
        while index.generation is None or index.generation.no != 2:
            await asyncio.sleep(0.01)
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)
    await index.close()


async def test_a_worker_goes_on_starting_builds_after_a_look_that_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client fails in a way of its own at first; what is asked for is started all the same."""
    monkeypatch.setattr("hindwise.cli.reindex_keeper.LOOK_EVERY_S", 0.01)
    started = asyncio.Event()

    class Client:
        """Stands for Temporal's."""

        namespace = "hindwise"
        looks = 0

        @property
        def operator_service(self) -> Any:
            """Fails at first; then it says that nobody may ask."""
            self.looks += 1
            if self.looks == 1:
                raise ValueError("a broken answer")
            started.set()
            raise RuntimeError("away")

    async with house(tmp_path) as engine:
        await engine.ledger.write(lambda conn: generations.request(conn, "embedded", engine.clock.now()))
        keeping = asyncio.create_task(keep_reindexing(engine, Client()))  # type: ignore[arg-type]
        async with asyncio.timeout(10):
            await started.wait()
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
