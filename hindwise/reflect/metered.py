"""Questions to a model, kept within the tenant's day and counted: held before they are asked, settled after they were answered."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from uuid import uuid4

from sqlalchemy import Connection

from hindwise.errors import BudgetSpent, LedgerUnavailable, ModelRefused, ModelTimeout, ModelUnavailable
from hindwise.ledger import pace, spending
from hindwise.ledger.spending import Hold
from hindwise.model.reflection import Usage
from hindwise.model.turn import Turn
from hindwise.reflect.budget import Prices, accounted, day_of, estimate, spent

if TYPE_CHECKING:
    from hindwise.engine import Engine

PATIENCE_S = 30.0
"""How long a question waits for what is held for others: most cost less than was held. It keeps its place at the model meanwhile."""
_LOOK_AGAIN_S = 0.5


class Meter:
    """One model's questions. Cheap to make."""

    def __init__(self, engine: "Engine", model: str) -> None:
        settings = engine.settings
        self._ledger, self._clock, self.model = engine.ledger, engine.clock, model
        self.ceiling, self._per_minute = settings.llm_daily_tokens, settings.llm_requests_per_minute
        self._prices = Prices(settings.llm_price_input, settings.llm_price_output)

    def accounted(self, usage: Usage, *, again: bool = False) -> Usage:
        """The usage with the model's name and the money. again: asked after a complaint."""
        return accounted(usage, self.model, self._prices, again=again)

    def plan(self, conn: Connection, tenant_id: str, held: str, tokens: int) -> None:
        """Keep tokens of today for a question that will be asked later. Raises BudgetSpent."""
        self._hold(conn, tenant_id, held, tokens, "")

    async def place(self, within_s: float) -> None:
        """Wait for a place in the minute (HINDWISE_LLM_REQUESTS_PER_MINUTE): for a question beside the queue that Temporal limits.

        Raises ModelUnavailable where the reflections leave none for so long.
        """
        end = asyncio.get_running_loop().time() + within_s
        while left := await self._ledger.write(lambda conn: pace.take(conn, self._per_minute, self._clock.now())):
            if asyncio.get_running_loop().time() + left > end:
                raise ModelUnavailable(
                    "the questions of this minute are used up by reflections (HINDWISE_LLM_REQUESTS_PER_MINUTE): ask again later",
                    retry_after_s=max(1.0, left),
                )
            await asyncio.sleep(left)

    @asynccontextmanager
    async def question(
        self, tenant_id: str, held: str, turns: Sequence[Turn], *, patience_s: float = 0.0, placed: bool = False
    ) -> AsyncIterator[Hold]:
        """Hold what a question about these turns may cost while it is asked; whoever asks settles it, in the transaction of the answer.

        held: id of the hold, the same for the same question. patience_s: how long to wait where it is others' holds that leave no room.
        placed: it has its `place` in the minute already; else it is noted there.
        A model that gave no answer costs nothing; one that was cut off by a time limit counts as the estimate, since a provider bills
        what it began. Raises BudgetSpent.
        """
        tokens, asked_by = await asyncio.to_thread(estimate, turns), str(uuid4())
        kept = await self._wait_for_room(tenant_id, held, tokens, asked_by, patience_s, placed)
        try:
            yield kept
        except (ModelUnavailable, ModelRefused) as error:
            lost = isinstance(error, ModelTimeout)
            with contextlib.suppress(LedgerUnavailable):  # then the hold stays, and counts as used
                await self._ledger.write(lambda conn: spending.settle(conn, kept, Usage(), self.model, lost=lost))
            raise

    async def _wait_for_room(self, tenant_id: str, held: str, tokens: int, asked_by: str, patience_s: float, placed: bool) -> Hold:
        def keep(conn: Connection) -> Hold:
            if not placed:
                pace.note(conn, self._per_minute, self._clock.now())
            return self._hold(conn, tenant_id, held, tokens, asked_by)

        end = asyncio.get_running_loop().time() + patience_s
        while True:
            try:
                return await self._ledger.write(keep)
            except BudgetSpent as error:
                fits_alone = error.extra["used"] + tokens <= self.ceiling
                if not fits_alone or asyncio.get_running_loop().time() + _LOOK_AGAIN_S > end:
                    raise
            await asyncio.sleep(_LOOK_AGAIN_S)

    def settle(self, conn: Connection, kept: Hold, usage: Usage) -> None:
        """Count what was answered, once."""
        spending.settle(conn, kept, usage, self.model)

    def _hold(self, conn: Connection, tenant_id: str, held: str, tokens: int, asked_by: str) -> Hold:
        now = self._clock.now()
        found = spending.hold(
            conn, held, tenant_id, self.model, day_of(now), tokens=tokens, ceiling=self.ceiling, asked_by=asked_by, now=now
        )
        if isinstance(found, Hold):
            return found
        raise spent(self.ceiling, found.used, found.held, now)
