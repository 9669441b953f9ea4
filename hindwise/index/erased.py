"""What was erased by any process is let go by each: words whose reading it remembers, and what it read of the space to find things faster.

Nobody is told it: whoever asks finds nothing in the store. This is about the bytes. Receipts in the ledger say what was wiped.
"""

import asyncio
from typing import Final

import structlog

from hindwise.clock import Clock
from hindwise.errors import HindwiseError
from hindwise.index.base import RememberingIndex
from hindwise.ledger import erasures
from hindwise.ledger.engine import Ledger
from hindwise.text.remembered import forget_words

LOOK_EVERY_S: Final = 5.0
_TIMES: Final = 2
"""So often what was erased is let go: what was just being read in the moment of the first is remembered after it."""

_log = structlog.get_logger(__name__)


class Forgetting:
    """Looks at the receipts of this ledger, from the time it was made on."""

    def __init__(self, ledger: Ledger, index: RememberingIndex, clock: Clock) -> None:
        self._ledger, self._index, self._clock = ledger, index, clock
        self._since = clock.now()
        self._told: dict[str, int] = {}

    async def look(self) -> None:
        """Let go what was wiped since the last look that came to its end. Raises LedgerUnavailable, IndexUnavailable."""
        now = self._clock.now()
        wiped = await self._ledger.read(lambda conn: erasures.wiped_since(conn, self._since))
        due = [receipt for receipt in wiped if self._told.get(receipt, 0) < _TIMES]
        if due:
            forget_words()
            await self._index.forget([wiped[receipt] for receipt in due])
        self._told = {receipt: self._told.get(receipt, 0) + (receipt in due) for receipt in wiped}
        self._since = now

    async def keep_on(self) -> None:
        """Do so every few seconds; for ever."""
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            try:
                await self.look()
            except HindwiseError:
                continue  # ledger or index do not answer: the next look begins where this one did
            except Exception as error:  # whoever stops looking would keep what is erased
                _log.error("erased_not_let_go", error=type(error).__name__)
