"""How a unit of work reaches the database: one hop to a thread, one transaction, one owner per retry.

All that differs between SQLite and Postgres stands in this file; queries elsewhere are plain Core.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, Table, create_engine, event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, DBAPIError, OperationalError
from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_exponential_jitter

from hindwise.errors import InvalidInput, LedgerUnavailable

T = TypeVar("T")

_BUSY_TIMEOUT_MS = 10_000
_WAIT_LIMIT_S = 30.0
_LOG_TRY_MS, _LOG_TRIES = 200, 5
_PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    "PRAGMA secure_delete=ON",
    "PRAGMA foreign_keys=ON",
    f"PRAGMA busy_timeout={_BUSY_TIMEOUT_MS}",
    "PRAGMA cache_size=-16000",
)
_SERIALIZATION_STATES = frozenset({"40001", "40P01"})


def _is_blip(error: BaseException) -> bool:
    """True for what a second try within the same attempt can cure: a lock, a lost connection, a serialization failure."""
    if not isinstance(error, DBAPIError):
        return False
    state = getattr(error.orig, "sqlstate", None)
    return error.connection_invalidated or state in _SERIALIZATION_STATES or "database is locked" in str(error.orig)


_AGAIN = Retrying(
    retry=retry_if_exception(_is_blip),
    stop=stop_after_attempt(2),
    wait=wait_exponential_jitter(multiplier=0.05, max=0.5),
    reraise=True,
)
"""After a blip. Only then: it takes longer than a short transaction. Keeps its state by thread."""


def _is_damage(error: Exception) -> bool:
    code = getattr(getattr(error, "orig", error), "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def make_engine(url: str) -> Engine:
    """Return the SQLAlchemy engine for `url` (sqlite:///path or postgresql+psycopg://…). Raises InvalidInput for others."""
    try:
        parsed = make_url(url)
    except ArgumentError as error:  # not chained into the message: the URL may hold a password
        raise InvalidInput("HINDWISE_DATABASE_URL is no URL of a database: use sqlite:///… or postgresql+psycopg://…") from error
    if parsed.get_backend_name() == "sqlite":
        engine = create_engine(parsed, pool_size=8, max_overflow=4, pool_timeout=10, connect_args={"check_same_thread": False})
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    if parsed.get_backend_name() == "postgresql":
        return create_engine(parsed, pool_size=8, max_overflow=4, pool_timeout=5, pool_pre_ping=True, isolation_level="READ COMMITTED")
    raise InvalidInput(f"database {parsed.get_backend_name()!r} is not supported: use sqlite:///… or postgresql+psycopg://…")


def _prepare_sqlite(connection: sqlite3.Connection, _record: Any) -> None:
    connection.isolation_level = None  # the driver must not send a BEGIN of its own: _begin_sqlite chooses which
    for pragma in _PRAGMAS:
        connection.execute(pragma).close()


def _begin_sqlite(connection: Connection) -> None:
    # A read that later writes cannot be cured by busy_timeout (SQLITE_BUSY_SNAPSHOT), so a writer takes the lock first.
    statement = "BEGIN IMMEDIATE" if connection.get_execution_options().get("write") else "BEGIN"
    driver: Any = connection.connection.driver_connection
    try:
        driver.execute(statement).close()  # past SQLAlchemy, whose machinery takes ten times as long for it
    except sqlite3.OperationalError as error:
        raise OperationalError(statement, None, error) from error


def insert_new(conn: Connection, table: Table, rows: Sequence[dict[str, Any]], *, returning: Sequence[Any] = ()) -> Any:
    """Insert rows, passing over those that break a unique key; returns the cursor result."""
    statement = _insert_new(table, conn.dialect.name)
    if returning:
        return conn.execute(statement.values(list(rows)).returning(*returning))
    return conn.execute(statement, list(rows))


def upsert(conn: Connection, table: Table, rows: Sequence[dict[str, Any]], *, keys: Sequence[str]) -> None:
    """Insert rows; where `keys` exist already, overwrite the other columns."""
    if rows:
        conn.execute(_upsert(table, conn.dialect.name, tuple(keys), tuple(rows[0])), list(rows))


# Built once for each table: building takes longer than running.
@cache
def _insert_new(table: Table, dialect: str) -> Any:
    return _maker(dialect)(table).on_conflict_do_nothing()


@cache
def _upsert(table: Table, dialect: str, keys: tuple[str, ...], columns: tuple[str, ...]) -> Any:
    statement = _maker(dialect)(table)
    others = {name: statement.excluded[name] for name in columns if name not in keys}
    return statement.on_conflict_do_update(index_elements=list(keys), set_=others)


def _maker(dialect: str) -> Callable[[Table], Any]:
    return sqlite.insert if dialect == "sqlite" else postgresql.insert


def skip_locked(conn: Connection) -> bool:
    """Whether rows can be leased by SELECT … FOR UPDATE SKIP LOCKED here; on SQLite the write lock already excludes others."""
    return conn.dialect.name == "postgresql"


class Ledger:
    """The database, asked in whole units of work: `await ledger.write(lambda conn: …)`."""

    def __init__(self, url: str) -> None:
        self.engine = make_engine(url)
        self.is_sqlite = self.engine.dialect.name == "sqlite"
        self._writers = self.engine.execution_options(write=True)
        self._read_pool = ThreadPoolExecutor(max_workers=6, thread_name_prefix="ledger-read")
        # One writing thread on SQLite: its own queue is unfair, ours is first come, first served.
        self._write_pool = ThreadPoolExecutor(max_workers=1 if self.is_sqlite else 6, thread_name_prefix="ledger-write")

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run `work(conn)` in one read transaction. Raises LedgerUnavailable, and whatever `work` raises."""
        return await self._hop(self._read_pool, self.engine, work)

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run `work(conn)` in one write transaction: all of it or nothing. `work` may run again after a blip.

        Raises LedgerUnavailable, and whatever `work` raises (then nothing was written).
        """
        return await self._hop(self._write_pool, self._writers, work)

    async def _hop(self, pool: ThreadPoolExecutor, engine: Engine, work: Callable[[Connection], T]) -> T:
        return await self._run(pool, self._transact, engine, work)

    @staticmethod
    async def _run(pool: ThreadPoolExecutor, call: Callable[..., T], *given: Any) -> T:
        future = asyncio.get_running_loop().run_in_executor(pool, call, *given)
        try:
            async with asyncio.timeout(_WAIT_LIMIT_S):
                return await asyncio.shield(future)
        except TimeoutError as error:
            # The thread cannot be stopped: what it wrote stays consistent, and ids make a repeated call harmless.
            future.add_done_callback(lambda done: done.cancelled() or done.exception())
            raise LedgerUnavailable(f"the ledger did not answer within {_WAIT_LIMIT_S:.0f} s", retry_after_s=5) from error

    @staticmethod
    def _transact(engine: Engine, work: Callable[[Connection], T]) -> T:
        def once() -> T:
            with engine.begin() as conn:
                return work(conn)

        try:
            try:
                return once()
            except DBAPIError as error:
                if not _is_blip(error):
                    raise
            return _AGAIN(once)
        except OperationalError as error:
            raise LedgerUnavailable(f"the ledger did not answer: {type(error.orig).__name__}", retry_after_s=5) from error
        except (DatabaseError, sqlite3.DatabaseError) as error:
            if not _is_damage(error):
                raise
            raise LedgerUnavailable(
                "the ledger's file is damaged (SQLite cannot read it): stop, put a backup of ledger.db in its place, and start again",
                retry_after_s=60,
            ) from error

    async def empty_log(self) -> bool:
        """After an erasure: on SQLite move the write-ahead log into the file and cut it, so that no copy of what was erased stays.

        False where others still read the log after a second of trying; it is cut by a later call or by the last process that closes.
        On Postgres the log is the server's own affair: True. Raises LedgerUnavailable where the thread does not answer.
        """
        return not self.is_sqlite or await self._run(self._write_pool, self._cut_log)

    def _cut_log(self) -> bool:
        pooled = self.engine.raw_connection()
        try:
            driver: Any = pooled.driver_connection
            driver.execute(f"PRAGMA busy_timeout={_LOG_TRY_MS}").close()
            try:
                return any(driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0 for _ in range(_LOG_TRIES))
            finally:
                driver.execute(f"PRAGMA busy_timeout={_BUSY_TIMEOUT_MS}").close()
        except sqlite3.OperationalError:
            return False  # what was erased stays erased: only the log waits
        finally:
            pooled.close()

    async def close(self) -> None:
        """Finish what runs and free connections. Idempotent."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._read_pool.shutdown(wait=True)
        self._write_pool.shutdown(wait=True)
        self.engine.dispose()
