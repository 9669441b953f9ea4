"""How a unit of work reaches the database: one hop to a thread, one transaction, one owner per retry.

What differs between SQLite and Postgres stands in this file. What their errors mean stands in `failures`; how a statement gets past
SQLAlchemy to either driver in `direct` and `prepared`, which go by what this file leaves in the connection. Other queries are plain Core.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import get_ident
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from sqlalchemy import Connection, Engine, Float, Table, bindparam, create_engine, event, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement
from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_exponential_jitter

from hindwise.errors import InvalidInput, LedgerDamaged, LedgerMismatch, LedgerUnavailable
from hindwise.files import make_private
from hindwise.ledger.direct import TAKES_STATEMENTS, Direct
from hindwise.ledger.failures import is_away, is_blip, is_damage, is_of_another_version, what_differs, why
from hindwise.ledger.threads import Threads
from hindwise.ledger.times import Utc

if TYPE_CHECKING:
    from hindwise.settings import Settings

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
_MIGRATION_LOCK = 7_240_119
_FORMS = "use sqlite:///… or postgresql+psycopg://user:password@host:port/database (in a password, write @ as %40 and / as %2F)"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one process may take of a database server, and how long it waits for it. SQLite needs none of it."""

    pool_size: int = 12
    connect_timeout_s: float = 5.0
    lock_timeout_s: float = 10.0
    statement_timeout_s: float = 20.0


_AGAIN = Retrying(
    retry=retry_if_exception(is_blip),
    stop=stop_after_attempt(2),
    wait=wait_exponential_jitter(multiplier=0.05, max=0.5),
    reraise=True,
)
"""After a blip. Only then: it takes longer than a short transaction. Keeps its state by thread."""


def make_engine(url: str, limits: Limits = Limits()) -> Engine:
    """Return the SQLAlchemy engine for `url` (sqlite:///path or postgresql+psycopg://…). Raises InvalidInput for others.

    Nobody is asked yet. No message repeats the URL: it may hold a password.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise InvalidInput(f"HINDWISE_DATABASE_URL is no URL of a database: {_FORMS}") from None
    backend = parsed.get_backend_name()
    if backend == "sqlite":
        if parsed.database in {None, "", ":memory:"}:
            raise InvalidInput(
                f"HINDWISE_DATABASE_URL names no file, so nothing would be kept and no two processes would share it: {_FORMS}"
            )
        engine = create_engine(
            parsed, pool_size=8, max_overflow=4, pool_timeout=10, hide_parameters=True, connect_args={"check_same_thread": False}
        )
        event.listen(engine, "do_connect", _make_sqlite_private)
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    if backend in {"postgresql", "postgres"}:
        return _postgres_engine(parsed.set(drivername="postgresql+psycopg"), limits)
    raise InvalidInput(f"this kind of database is not supported: {_FORMS}")


def is_server(url: str) -> bool:
    """Whether the URL names a database server, which several machines can share, and not a file of one. Never raises."""
    return url.startswith("postgres")


def _postgres_engine(url: URL, limits: Limits) -> Engine:
    if "@" in (url.host or "") + (url.database or ""):
        raise InvalidInput(f"HINDWISE_DATABASE_URL is not understood: {_FORMS}")
    given = {
        "connect_timeout": max(2, round(limits.connect_timeout_s)),  # libpq counts whole seconds, and takes 1 for 2
        "application_name": "hindwise",
        "client_encoding": "utf8",  # whatever PGCLIENTENCODING says
        # A machine that is gone without a word is noticed: by silence, and by what it does not acknowledge.
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": round((limits.statement_timeout_s + 5) * 1000),
    }
    try:
        engine = create_engine(
            url,
            # As many connections as threads, so that no thread waits for one.
            pool_size=limits.pool_size,
            max_overflow=0,
            pool_timeout=limits.connect_timeout_s,
            pool_pre_ping=True,
            isolation_level="READ COMMITTED",
            hide_parameters=True,  # an error message must not quote turns
            connect_args={name: value for name, value in given.items() if name not in url.query},
        )
    except ImportError as error:
        raise InvalidInput("the ledger on Postgres needs psycopg: pip install 'hindwise[postgres]'") from error

    event.listen(engine, "do_connect", _connect_to_unicode)

    def prepare(connection: Any, _record: Any) -> None:
        # Not as start-up options: a pooler between us and the server refuses those.
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT set_config('lock_timeout', %s, false), set_config('statement_timeout', %s, false),"
                " set_config('idle_in_transaction_session_timeout', %s, false)",
                [f"{round(seconds * 1000)}ms" for seconds in (limits.lock_timeout_s, limits.statement_timeout_s, _WAIT_LIMIT_S)],
            )
        connection.commit()

    event.listen(engine, "connect", prepare)
    return engine


def _connect_to_unicode(dialect: Any, _record: Any, given: Sequence[Any], options: dict[str, Any]) -> Any:
    """Connect. Raises InvalidInput where the URL asks for what there is not, or the database cannot hold every word."""
    try:
        connection = dialect.loaded_dbapi.connect(*given, **options)
    except dialect.loaded_dbapi.ProgrammingError as error:  # the driver's own: no server has been asked yet
        raise InvalidInput(f"HINDWISE_DATABASE_URL is not understood ({what_differs(error)}): {_FORMS}") from None
    encoding = connection.info.parameter_status("server_encoding")
    if encoding in {None, "UTF8"}:
        return connection
    connection.close()
    raise InvalidInput(
        f"the ledger's database is encoded in {encoding}, which cannot hold every word: make one with "
        "CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0"
    )


def alone_in_migrating(conn: Connection) -> None:
    """Let one process at a time change the tables, until its transaction ends. On SQLite a write transaction is alone anyway."""
    if conn.dialect.name == "postgresql":
        conn.execute(text("SELECT set_config('lock_timeout', '0', true), set_config('statement_timeout', '0', true)"))
        conn.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _MIGRATION_LOCK})


@contextmanager
def read_in_order(conn: Connection) -> Iterator[None]:
    """Within it, let questions for the first rows of an order walk an index that has it, whatever the database knows of the table.

    Of a space that grew since it last counted, Postgres expects a row or two, and would read and sort all. In a unit that only reads; one
    that writes plans as ever. What else is asked in it is planned so too. SQLite counts on nothing, and walks anyway.
    """
    driver: Any = conn.connection.driver_connection
    if conn.dialect.name == "sqlite" or not driver.autocommit:
        yield
        return
    conn.exec_driver_sql("BEGIN; SET LOCAL enable_sort = off")  # a pooler between us and the server keeps a transaction together
    yield
    conn.exec_driver_sql("COMMIT")  # after an error whoever ends the unit takes the transaction back


def _make_sqlite_private(_dialect: Any, _record: Any, given: Sequence[Any], _options: Any) -> None:
    if not str(given[0]).startswith((":", "file:")):  # in memory, or named by a URI, which is its maker's affair
        make_private(Path(given[0]))


def _prepare_sqlite(connection: sqlite3.Connection, record: Any) -> None:
    record.info[TAKES_STATEMENTS] = connection
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


class Inserted(NamedTuple):
    """How many rows were new."""

    rowcount: int


def insert_new(conn: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> Inserted:
    """Insert rows, at least one, passing over those that break a unique key."""
    statement = _insert_new(table, conn.dialect.name)
    return Inserted(statement.run(conn, rows[0]) if len(rows) == 1 else statement.run_each(conn, rows))


def upsert(conn: Connection, table: Table, rows: Sequence[dict[str, Any]], *, keys: Sequence[str]) -> None:
    """Insert rows; where `keys` exist already, overwrite the other columns."""
    if rows:
        _upsert(table, conn.dialect.name, tuple(keys), tuple(rows[0])).run_each(conn, rows)


# Built once for each table: building takes longer than running.
@cache
def _insert_new(table: Table, dialect: str) -> Direct:
    # Without the option Postgres' cursor is closed before anybody could ask it how many rows were new.
    return Direct(_maker(dialect)(table).on_conflict_do_nothing().execution_options(preserve_rowcount=True))


@cache
def _upsert(table: Table, dialect: str, keys: tuple[str, ...], columns: tuple[str, ...]) -> Direct:
    statement = _maker(dialect)(table)
    others = {name: statement.excluded[name] for name in columns if name not in keys}
    return Direct(statement.on_conflict_do_update(index_elements=list(keys), set_=others))


def _maker(dialect: str) -> Callable[[Table], Any]:
    return sqlite.insert if dialect == "sqlite" else postgresql.insert


class _SharedClock(FunctionElement[Any]):
    """An instant by the clock that all processes of a ledger share: its server's; on SQLite, where all are on one machine, that one's."""

    type = Utc()
    inherit_cache = True


def shared_now() -> Any:
    """The present instant in a statement that is given `now` by this process's clock. Leases go by it: two clocks would give one twice."""
    return _SharedClock(bindparam("now", type_=Utc()))


def shared_until() -> Any:
    """`seconds` (float) after the present, in a statement that is given `until` too, which is the same by this process's clock."""
    return _SharedClock(bindparam("until", type_=Utc()), bindparam("seconds", type_=Float()))


@compiles(_SharedClock)
def _clock_of_this_machine(element: _SharedClock, compiler: Any, **how: Any) -> str:
    told: str = compiler.process(next(iter(element.clauses)), **how)
    return told


@compiles(_SharedClock, "postgresql")
def _clock_of_the_server(element: _SharedClock, compiler: Any, **how: Any) -> str:
    later = "".join(f" + {compiler.process(seconds, **how)}" for seconds in list(element.clauses)[1:])
    return f"CAST((EXTRACT(EPOCH FROM clock_timestamp()){later}) * 1000000 AS BIGINT)"


class Ledger:
    """The database, asked in whole units of work: `await ledger.write(lambda conn: …)`."""

    def __init__(self, url: str, limits: Limits = Limits()) -> None:
        self.engine = make_engine(url, limits)
        self.is_sqlite = self.engine.dialect.name == "sqlite"
        self.is_shared = not self.is_sqlite
        """Whether processes on several machines may use it."""
        self._writers = self.engine.execution_options(write=True)
        # On Postgres each statement sees what is committed when it begins, in a transaction or not: two more round trips change nothing.
        self._readers = self.engine if self.is_sqlite else self.engine.execution_options(isolation_level="AUTOCOMMIT")
        # One writing thread on SQLite: its own queue is unfair, ours is first come, first served.
        writers = 1 if self.is_sqlite else limits.pool_size // 2
        readers = 6 if self.is_sqlite else limits.pool_size - writers
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

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run `work(conn)`, which only reads; it may run again after a blip. Raises LedgerUnavailable, and whatever `work` raises."""
        return await self._hop(self._read_pool, self._readers, work)

    async def write(self, work: Callable[[Connection], T], *, within_s: float = _WAIT_LIMIT_S) -> T:
        """Run `work(conn)` in one write transaction: all of it or nothing. `work` may run again after a blip.

        Also after a commit whose answer was lost: then `work` finds what it wrote. within_s: after so long nobody waits any more.
        Raises LedgerUnavailable, and whatever `work` raises (then nothing was written).
        """
        return await self._hop(self._write_pool, self._writers, work, within_s)

    async def _hop(self, pool: Threads, engine: Engine, work: Callable[[Connection], T], within_s: float = _WAIT_LIMIT_S) -> T:
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
        """One transaction, or some reads.

        A writer to Postgres asks for a connection each time, so that one that was lost is noticed before; a reader simply reads again.
        """
        if engine is self._writers and not self.is_sqlite:
            with engine.begin() as conn:
                yield conn
            return
        kept = self._kept.pop(get_ident(), None)
        conn = kept or engine.connect()
        try:
            if self.is_sqlite:
                with conn.begin():
                    yield conn
            else:
                yield conn
                conn.rollback()  # SQLAlchemy's own account: on the server there is no transaction to end
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
        return not self.is_sqlite or await self._run(self._write_pool, _WAIT_LIMIT_S, self._cut_log)

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
        self._read_pool.close()
        self._write_pool.close()
        for conn in self._kept.values():
            conn.close()
        self._kept.clear()
        self.engine.dispose()
