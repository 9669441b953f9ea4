"""An index that lost what it held: nobody may be answered from what is empty as if that were all.

First every live memory is marked, then the place is made again: who asks meanwhile is answered by the ledger and told so, and whoever
dies in between leaves something that the next process goes on with.
"""

from typing import Final

import structlog

from hindwise.clock import Clock
from hindwise.errors import IndexUnavailable
from hindwise.index.base import Index, SpaceServer, WholeIndex
from hindwise.index.projection import index_space
from hindwise.ledger import generations, whole_index
from hindwise.ledger.engine import Ledger
from hindwise.ledger.generations import Generation, State

_SAMPLE: Final = 20
"""Spaces that are looked into when a live index is opened; on a server all of them are too many."""

_log = structlog.get_logger(__name__)


class Refill:
    """Fills a live generation from the ledger anew, by marks that the dispatcher works off."""

    def __init__(self, ledger: Ledger, clock: Clock) -> None:
        self._ledger, self._clock = ledger, clock

    async def before_making(self, number: int) -> None:
        """Do what must be done before the index of a generation, of which nothing is there, is made empty.

        Raises IndexUnavailable where it must not be made: it serves no longer, and what is gone stays gone. LedgerUnavailable.
        """
        # Asked when it is missing, not when it was opened: what was opened while it was being built serves since then.
        states = {row.no: row.state for row in await self._ledger.read(generations.kept)}
        if states.get(number) == State.LIVE:
            await self.mark_all(number)
        elif states.get(number) != State.BUILDING:
            raise IndexUnavailable(
                f"generation {number} serves no longer, and its index is gone: `hindwise reindex --drop-old` takes it off the list"
            )

    async def must_be_kept(self, number: int) -> None:
        """Raise IndexUnavailable where a generation is on the list no more: opened, it would leave a file that no erasure looks into."""
        if number not in {row.no for row in await self._ledger.read(generations.kept)}:
            raise IndexUnavailable(f"generation {number} was removed")

    async def replace(self, lost: Generation, why: str) -> bool:
        """Let a generation that is filled from the ledger take the place of a live one whose file is lost; False where it serves no more.

        In a number of its own, so that no process goes on with what another one has removed. Raises LedgerUnavailable.
        """
        now = self._clock.now()
        new = await self._ledger.write(lambda conn: generations.replace_damaged(conn, lost.no, why, now))
        if new is None:
            return False
        _log.error("index_damaged", generation=lost.no, detail=why, next=f"generation {new} is filled from the ledger")
        return True

    async def after_opening(self, index: Index, generation: Generation) -> None:
        """Have a live generation filled where it lost everything, or a space, or where an earlier filling was not ended.

        Raises IndexUnavailable, LedgerUnavailable.
        """
        if generation.state == State.LIVE and (await self._was_cut_short(generation.no) or await self._lacks(index)):
            await self.mark_all(generation.no)

    async def mark_all(self, number: int) -> None:
        """Mark every live memory, if this generation serves; space by space, so that a large ledger goes on working."""
        if not await self._ledger.write(lambda conn: generations.begin_refill(conn, number)):
            return
        _log.error("index_lost", generation=number, next="filled again from the ledger")
        after: int | None = 0
        while after is not None:
            now = self._clock.now()
            after = await self._ledger.write(
                lambda conn, above=after, at=now: whole_index.mark_dirty_after(conn, above, at)  # type: ignore[misc]
            )
        await self._ledger.write(lambda conn: generations.end_refill(conn, number))

    async def _was_cut_short(self, number: int) -> bool:
        return await self._ledger.read(lambda conn: generations.is_refilled(conn, number))

    async def _lacks(self, index: Index) -> bool:
        """Whether it lacks a space that it should hold; all of them, where it is lost as a whole."""
        if isinstance(index, WholeIndex):
            return await index.is_empty()
        if not isinstance(index, SpaceServer):
            return False
        if lacks := await self._lacking(index):
            # Nobody may have been in between: of what was taken back or erased meanwhile nothing is lacking.
            lacks &= await self._lacking(index)
        if lacks:
            _log.error("index_lacks_spaces", lacks=len(lacks), of_at_most=_SAMPLE)
        return bool(lacks)

    async def _lacking(self, index: SpaceServer) -> set[str]:
        settled = await self._ledger.read(lambda conn: whole_index.settled_spaces(conn, _SAMPLE))
        return await index.without_anything([index_space(tenant_id, name) for tenant_id, name in settled])
