"""What differs between SQLite and Postgres: the one file that knows which database it is.

What their errors mean stands in `failures`; how a statement gets past SQLAlchemy to either driver in `direct` and `prepared`, which go by
what this file leaves in the connection. All other queries are plain Core.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from sqlalchemy import Connection, Engine, Float, Table, bindparam, create_engine, event, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, OperationalError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from hindwise.errors import InvalidInput
from hindwise.files import make_private
from hindwise.ledger.direct import TAKES_STATEMENTS, Direct
from hindwise.ledger.failures import what_differs
from hindwise.ledger.times import Utc

LONGEST_UNIT_S = 30.0
"""After so long nobody waits for a unit of work any more."""

_BUSY_TIMEOUT_MS = 10_000
_LOG_TRY_MS, _LOG_TRIES = 200, 5
_PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    "PRAGMA secure_delete=ON",
    "PRAGMA foreign_keys=ON",
    f"PRAGMA busy_timeout={_BUSY_TIMEOUT_MS}",
    "PRAGMA cache_size=-16000",
)
_STOP_S = 3.0
_MIGRATION_LOCK = 7_240_119
_FORMS = "use sqlite:///… or postgresql+psycopg://user:password@host:port/database (in a password, write @ as %40 and / as %2F)"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one process may take of a database server, and how long it waits for it. SQLite needs none of it."""

    pool_size: int = 12
    connect_timeout_s: float = 5.0
    lock_timeout_s: float = 10.0
    statement_timeout_s: float = 20.0


USUAL = Limits()
"""As the settings have it where nobody sets them."""


def make_engine(url: str, limits: Limits = USUAL) -> Engine:
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
        # 0 would be no limit at all. Not as start-up options: a pooler between us and the server refuses those.
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT set_config('lock_timeout', %s, false), set_config('statement_timeout', %s, false),"
                " set_config('idle_in_transaction_session_timeout', %s, false)",
                [f"{max(1, round(seconds * 1000))}ms" for seconds in (limits.lock_timeout_s, limits.statement_timeout_s, LONGEST_UNIT_S)],
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


def stop_statement(connection: Any) -> None:
    """Let a driver's connection give up the statement at which it is on another thread; that is told there as an error. Blocks briefly."""
    if isinstance(connection, sqlite3.Connection):
        connection.interrupt()
    else:
        connection.cancel_safe(timeout=_STOP_S)


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


class Home(Protocol):
    """Where a ledger lies, and how units of work are run there. `writers`, `readers`: of `engine`, to take connections from."""

    is_shared: bool
    """Whether processes on several machines may use it."""
    engine: Engine
    writers: Engine
    readers: Engine
    keeps_writers: bool
    """Whether a thread that writes goes on with the connection that it had."""
    threads: tuple[int, int]
    """How many read, how many write."""

    def unit(self, conn: Connection) -> AbstractContextManager[Any]:
        """Within it one unit of work runs on a connection that is kept."""

    def cut_log(self) -> bool:
        """Move the write-ahead log into the file and cut it; False where others still read it. Blocks for a second at most."""


def home_of(url: str, limits: Limits) -> Home:
    """Return where `url` leads. Nobody is asked yet. Raises InvalidInput as `make_engine`."""
    engine = make_engine(url, limits)
    return _File(engine) if engine.dialect.name == "sqlite" else _Server(engine, limits)


class _File:
    """SQLite."""

    is_shared, keeps_writers = False, True
    # One writing thread: SQLite's own queue is unfair, ours is first come, first served.
    threads = (6, 1)

    def __init__(self, engine: Engine) -> None:
        self.engine = self.readers = engine
        self.writers: Engine = engine.execution_options(write=True)

    def unit(self, conn: Connection) -> AbstractContextManager[Any]:
        """One transaction."""
        return conn.begin()

    def cut_log(self) -> bool:
        """As `Home.cut_log`."""
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


class _Server:
    """Postgres."""

    # A writer asks for a connection each time, so that one that was lost is noticed before; a reader simply reads again.
    is_shared, keeps_writers = True, False

    def __init__(self, engine: Engine, limits: Limits) -> None:
        self.engine = engine
        self.writers: Engine = engine.execution_options(write=True)
        # Each statement sees what is committed when it begins, in a transaction or not: two more round trips change nothing.
        self.readers: Engine = engine.execution_options(isolation_level="AUTOCOMMIT")
        writing = limits.pool_size // 2
        self.threads = (limits.pool_size - writing, writing)

    @contextmanager
    def unit(self, conn: Connection) -> Iterator[None]:
        """Some reads, without a transaction."""
        yield
        conn.rollback()  # SQLAlchemy's own account: on the server there is no transaction to end

    def cut_log(self) -> bool:
        """The log is the server's own affair."""
        return True
