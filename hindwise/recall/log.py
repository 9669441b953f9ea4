"""The recall log, written behind the answer: which memories were told, for which session or run. Never delays or fails a recall."""

import asyncio
from collections import deque
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import structlog
from sqlalchemy.exc import SQLAlchemyError

from hindwise.errors import HindwiseError
from hindwise.ledger import recalls, spaces
from hindwise.ledger.engine import Ledger
from hindwise.model.space import spaces_of
from hindwise.recall.overtaken import Answered, standing
from hindwise.safety.contacts import Contacts
from hindwise.safety.masking import mask

_WITHIN_S = 0.5
_BATCH = 200
_MAX_WAITING = 10_000
"""Beyond it the oldest entries are given up: a ledger that is down for long must not eat the memory."""

_NEVER = datetime(1970, 1, 1, tzinfo=UTC)

_logger = structlog.get_logger(__name__)


class RecallLog:
    """Collects rows and writes them in batches, within a second, their questions masked. `lost`: rows given up so far."""

    def __init__(self, ledger: Ledger, secret: bytes, contacts: Contacts) -> None:
        self._ledger, self._secret, self._contacts = ledger, secret, contacts
        self._waiting: deque[Answered] = deque()
        self._touched: dict[tuple[str, str], datetime] = {}
        self._task: asyncio.Task[None] | None = None
        self._writing = asyncio.Lock()
        self.lost = 0

    def add(self, row: dict[str, Any], space_no: int) -> None:
        """Keep a row for the next batch; it is dropped where its user is erased before. Returns at once; call it on the event loop.

        space_no: of the user's space as the recall saw it, 0 for none.
        """
        if len(self._waiting) >= _MAX_WAITING:
            self._waiting.popleft()
            self.lost += 1
        self._waiting.append(Answered(row, space_no))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._write_soon(), name="recall-log")

    async def flush(self) -> None:
        """Write what waits, now. What the ledger does not take stays for a later flush."""
        async with self._writing:
            while self._waiting:
                batch = [self._waiting.popleft() for _ in range(min(_BATCH, len(self._waiting)))]
                if not await self._write(batch):
                    return

    async def close(self) -> None:
        """Write what waits and stop. What the ledger refuses now is lost, and counted."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        await self.flush()
        if self._waiting:
            self.lost += len(self._waiting)
            self._waiting.clear()
            _logger.warning("recalls_not_logged", lost=self.lost)

    async def _write_soon(self) -> None:
        while self._waiting:
            await asyncio.sleep(_WITHIN_S)
            before = len(self._waiting)
            await self.flush()
            if len(self._waiting) >= before:
                # The ledger does not answer. The next recall starts another try.
                return

    async def _write(self, batch: list[Answered]) -> bool:
        try:
            # Shielded: a batch that was taken out of the queue is written even when `close` cancels the waiting.
            await asyncio.shield(self._ledger.write(lambda conn: recalls.log(conn, self._masked(standing(conn, self._secret, batch)))))
        except HindwiseError as error:
            _logger.warning("recall_log_failed", cause=error.type, waiting=len(self._waiting) + len(batch))
            self._waiting.extendleft(reversed(batch))
            return False
        except SQLAlchemyError as error:
            # The database answers, and refuses these rows: it would refuse them again, and hold up all that come after.
            self.lost += len(batch)
            _logger.error("recalls_not_logged", cause=type(error).__name__, lost=self.lost)
            return True
        await self._touch([one.row for one in batch])
        return True

    def _masked(self, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Here and not at the question, which it would delay."""
        return [{**row, "query": mask(row["query"], self._contacts).text} for row in rows]

    async def _touch(self, rows: Sequence[dict[str, Any]]) -> None:
        """Note that the spaces are in use: once a day and process, beside the log, since it locks other rows."""
        used: dict[tuple[str, str], datetime] = {}
        for row in rows:
            for name in spaces_of(row["user_id"], row["agent_id"]):
                used[row["tenant_id"], name] = row["at"]
        due = {space: at for space, at in used.items() if at - self._touched.get(space, _NEVER) >= spaces.TOUCHED}
        if not due:
            return
        try:
            await self._ledger.write(lambda conn: spaces.touch(conn, due.keys(), max(due.values())))
        except HindwiseError as error:
            _logger.warning("use_not_noted", cause=error.type)  # the next recall there tries again
            return
        if len(self._touched) > _MAX_WAITING:
            self._touched.clear()
        self._touched.update(due)
