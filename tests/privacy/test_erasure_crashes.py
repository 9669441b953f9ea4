"""A process that dies at any moment of an erasure: whoever takes it up again completes it, and the receipt is the same."""

from collections.abc import Awaitable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hindwise.engine import Engine
from hindwise.errors import LedgerUnavailable
from hindwise.index.live import LiveIndex
from hindwise.ledger import erasures, outbox, spaces
from hindwise.ledger.engine import Ledger
from hindwise.ledger.generations import Generation
from hindwise.model.space import user_space
from hindwise.privacy import erase_user
from tests.api.front import open_front
from tests.privacy.living import USER, WORD, ZH, files_with, live_briefly, tables_with
from tests.privacy.zombies import late_answer

TENANT = "default"


class Killed(BaseException):
    """Nothing of ours catches it: as if the process were gone."""


class _Dying:
    """Counts the calls to ledger and indexes, and lets the process die when the one number `at` has done its work."""

    def __init__(self, at: int) -> None:
        self.at, self.calls = at, 0

    async def call(self, work: Awaitable[Any]) -> Any:
        """Do it; it may be the last."""
        self.calls += 1
        told = await work
        if self.calls == self.at:
            raise Killed
        return told

    def engine(self, engine: Engine) -> Engine:
        """An engine that dies."""
        return replace(engine, ledger=_DyingLedger(engine.ledger, self), index=_DyingIndex(engine.index, self))  # type: ignore[arg-type]


class _DyingLedger:
    """The ledger's calls, counted."""

    def __init__(self, real: Ledger, dying: _Dying) -> None:
        self._real, self._dying = real, dying

    async def read(self, work: Any) -> Any:
        """As the real one."""
        return await self._dying.call(self._real.read(work))

    async def write(self, work: Any) -> Any:
        """As the real one."""
        return await self._dying.call(self._real.write(work))

    async def empty_log(self) -> bool:
        """As the real one."""
        return bool(await self._dying.call(self._real.empty_log()))


class _DyingFile:
    """What an erasure asks of one index, counted."""

    def __init__(self, real: Any, dying: _Dying) -> None:
        self._real, self._dying = real, dying

    async def ids(self, space: str) -> set[str]:
        """As the real one."""
        return set(await self._dying.call(self._real.ids(space)))

    async def drop(self, space: str) -> None:
        """As the real one."""
        await self._dying.call(self._real.drop(space))

    async def empty_log(self) -> bool:
        """As the real one."""
        return bool(await self._dying.call(self._real.empty_log()))


class _DyingIndex(LiveIndex):
    """Opens indexes whose calls are counted."""

    def __init__(self, real: LiveIndex, dying: _Dying) -> None:
        self._real, self._dying = real, dying

    async def opened(self, generation: Generation) -> Any:
        """As the real one."""
        return _DyingFile(await self._real.opened(generation), self._dying)


async def test_an_erasure_that_is_taken_up_again_after_any_crash_ends_the_same(tmp_path: Path) -> None:
    """Whichever call was the last one; no row is counted twice or forgotten."""
    async with open_front(tmp_path) as front:
        engine = front.engine

        async def asked() -> str:
            await live_briefly(engine)
            return (await erase_user.request(engine, TENANT, USER, "test")).id

        counting = _Dying(0)
        calm = await erase_user.erase(counting.engine(engine), await asked())
        assert counting.calls > 10
        for at in range(1, counting.calls):
            erasure_id = await asked()
            with pytest.raises(Killed):
                await erase_user.erase(_Dying(at).engine(engine), erasure_id)
            done = await erase_user.erase(engine, erasure_id)
            assert (done.status, done.counts) == ("completed", calm.counts), at
            assert await engine.ledger.read(lambda conn: tables_with(conn, WORD, ZH)) == set(), at
        assert files_with(tmp_path) == {}


async def test_a_lease_that_was_lost_lets_the_last_transaction_change_nothing(tmp_path: Path) -> None:
    """Somebody else may have written the index since it was dropped: all of it is done again."""
    async with open_front(tmp_path) as front:
        engine = front.engine
        await live_briefly(engine)
        asked = await erase_user.request(engine, TENANT, USER, "test")
        real = engine.index

        class Slow:
            """The real index; meanwhile another process takes the lease over."""

            def __getattr__(self, name: str) -> Any:
                return getattr(real, name)

            async def drop(self, space: str) -> None:
                """Drop, and take long for it."""
                await real.drop(space)
                this = await engine.ledger.read(lambda conn: erasures.get(conn, asked.id))
                later = engine.clock.now().replace(year=2027)
                assert await engine.ledger.write(lambda conn: outbox.lease_named(conn, "another", later, 0.001, this.space_no or 0))

        with pytest.raises(LedgerUnavailable, match="lease"):
            await erase_user.wipe(replace(engine, index=Slow()), asked.id)  # type: ignore[arg-type]
        found = await engine.ledger.read(lambda conn: tables_with(conn, WORD))
        assert found >= {"turns", "episodes", "memories"}
        engine.clock.advance(days=400)  # type: ignore[attr-defined]
        assert (await erase_user.erase(engine, asked.id)).status == "completed"
        assert await engine.ledger.read(lambda conn: spaces.find(conn, TENANT, [user_space(USER)])) == {}


async def test_an_answer_that_was_asked_for_before_an_erasure_is_kept_by_nobody(tmp_path: Path) -> None:
    """The user comes back with the same run, whose ids are the same; what a model says of the erased one does not get into it."""
    async with open_front(tmp_path) as front:
        assert await late_answer(front) == []
