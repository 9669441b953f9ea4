"""How a unit of work reaches the database: one hop to a thread, one transaction, one owner per retry."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DatabaseError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_exponential_jitter

from hindwise.errors import LedgerDamaged, LedgerMismatch, LedgerUnavailable
from hindwise.ledger.databases import LONGEST_UNIT_S, USUAL, Limits, home_of
from hindwise.ledger.failures import is_away, is_blip, is_damage, is_of_another_version, what_differs, why
from hindwise.ledger.threads import Threads

if TYPE_CHECKING:
    from hindwise.settings import Settings

T = TypeVar("T")

_AGAIN = Retrying(
    retry=retry_if_exception(is_blip),
    stop=stop_after_attempt(2),
    wait=wait_exponential_jitter(multiplier=0.05, max=0.5),
    reraise=True,
)
"""After a blip. Only then: it takes longer than a short transaction. Keeps its state by thread."""


class Ledger:
    """The database, asked in whole units of work: `await ledger.write(lambda conn: …)`."""

    def __init__(self, url: str, limits: Limits = USUAL) -> None:
        self._home = home_of(url, limits)
        self.engine = self._home.engine
        self.is_shared = self._home.is_shared
        """Whether processes on several machines may use it."""
        readers, writers = self._home.threads
        self._read_pool = Threads(readers, "ledger-read")
        self._write_pool = Threads(writers, "ledger-write")
        self._kept: dict[int, Connection] = {}
        """By thread. Taking one out of the pool and giving it back takes longer than most questions."""

    @classmethod
    def of(cls, settings: "Settings") -> "Ledger":
        """The ledger that the settings name. Raises InvalidInput."""
        limits = Limits(
            settings.database_pool_size,
            settings.database_connect_timeout_s,
            settings.database_lock_timeout_s,
            settings.database_statement_timeout_s,
        )
        return cls(settings.ledger_url(), limits)

    async def read(self, work: Callable[[Connection], T], *, within_s: float = LONGEST_UNIT_S) -> T:
        """Run `work(conn)`, which only reads; it may run again after a blip. within_s: after so long nobody waits any more.

        Raises LedgerUnavailable, and whatever `work` raises.
        """
        return await self._hop(self._read_pool, self._home.readers, work, within_s)

    async def write(self, work: Callable[[Connection], T], *, within_s: float = LONGEST_UNIT_S) -> T:
        """Run `work(conn)` in one write transaction: all of it or nothing. `work` may run again after a blip.

        Also after a commit whose answer was lost: then `work` finds what it wrote. within_s: after so long nobody waits any more.
        Raises LedgerUnavailable, and whatever `work` raises (then nothing was written).
        """
        return await self._hop(self._write_pool, self._home.writers, work, within_s)

    async def _hop(self, pool: Threads, engine: Engine, work: Callable[[Connection], T], within_s: float) -> T:
        return await self._run(pool, within_s, self._transact, engine, work)

    @staticmethod
    async def _run(pool: Threads, within_s: float, call: Callable[..., T], *given: Any) -> T:
        try:
            async with asyncio.timeout(within_s):
                return await pool.run(call, *given)
        except TimeoutError as error:
            # The thread cannot be stopped: what it wrote stays consistent, and ids make a repeated call harmless.
            raise LedgerUnavailable(f"the ledger did not answer within {within_s:.0f} s", retry_after_s=5) from error

    @contextmanager
    def _begin(self, engine: Engine) -> Iterator[Connection]:
        """One unit of work, on the connection that this thread kept, or on a fresh one."""
        if engine is self._home.writers and not self._home.keeps_writers:
            with engine.begin() as conn:
                yield conn
            return
        kept = self._kept.pop(get_ident(), None)
        conn = kept or engine.connect()
        try:
            with self._home.unit(conn):
                yield conn
        except BaseException:
            conn.close()  # whatever is left of it, the pool resets
            raise
        self._kept[get_ident()] = conn

    def _transact(self, engine: Engine, work: Callable[[Connection], T]) -> T:
        def once() -> T:
            with self._begin(engine) as conn:
                return work(conn)

        try:
            try:
                return once()
            except DBAPIError as error:
                if not is_blip(error):
                    raise
            return _AGAIN(once)
        except (DatabaseError, DBAPIError, PoolTimeout, sqlite3.DatabaseError) as error:
            if is_damage(error):
                raise LedgerDamaged(
                    "the ledger's file is damaged (SQLite cannot read it): stop, put a backup of ledger.db in its place, and start again",
                    retry_after_s=60,
                ) from error
            if is_of_another_version(error):
                raise LedgerMismatch(
                    f"the ledger's tables are not those of this version ({what_differs(error)}): run `hindwise migrate`; where that finds"
                    " nothing to do, restore a copy, or start the version that made them"
                ) from error
            if not is_away(error):
                raise
            raise LedgerUnavailable(f"the ledger did not answer: {why(error)}", retry_after_s=5) from error

    async def empty_log(self) -> bool:
        """After an erasure: on SQLite move the write-ahead log into the file and cut it, so that no copy of what was erased stays.

        False where others still read the log after a second of trying; it is cut by a later call or by the last process that closes.
        On Postgres the log is the server's own affair: True. Raises LedgerUnavailable where the thread does not answer.
        """
        return await self._run(self._write_pool, LONGEST_UNIT_S, self._home.cut_log)

    async def close(self) -> None:
        """Finish what runs and free connections. Idempotent."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._read_pool.close()
        self._write_pool.close()
        for conn in self._kept.values():
            conn.close()
        self._kept.clear()
        self.engine.dispose()
