"""Prepared statements told to Postgres through libpq itself: a driver's cursor takes longer for a short one than the server does.

Only on a connection without transactions, where the driver keeps no account that this would pass by; elsewhere its cursor is asked.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

_PLACE = re.compile(r"%\((\w+)\)s|%%")
_KNOWN = "known statements"
"""Under this name, in the `info` of each connection: what was prepared on it."""
_UNKNOWN, _KNOWN_ALREADY = "26000", "42P05"
"""What a server says where a pooler between us and it took another one, or where it was told to forget."""


class Text:
    """A statement as Postgres takes it. sql: with places as %(name)s."""

    def __init__(self, sql: str) -> None:
        self.sql = sql
        self.order: list[str] = []
        self.numbered = _PLACE.sub(self._number, sql).encode()
        # By what it says: whoever else prepared this name on the same server meant the same.
        self.name = b"hindwise_" + blake2b(self.numbered, digest_size=12).hexdigest().encode()

    def _number(self, place: re.Match[str]) -> str:
        if (name := place[1]) is None:
            return "%"
        if name not in self.order:
            self.order.append(name)
        return f"${self.order.index(name) + 1}"


class _Known:
    """What one connection has prepared, and what reads its answers."""

    def __init__(self, driver: Any, dbapi: Any) -> None:
        self.texts: set[Text] = set()
        self.reader = dbapi.adapt.Transformer(driver)


Rows = Sequence[tuple[Any, ...]]


def ask(conn: Connection, text: Text, values: Mapping[str, Any]) -> Rows:
    """Return all rows. values: texts and numbers. Raises what SQLAlchemy would raise."""
    driver: Any = conn.connection.driver_connection
    dbapi: Any = conn.dialect.loaded_dbapi
    with _as_sqlalchemy_has_it(conn, text, driver, dbapi):
        if _takes_statements(driver, dbapi):
            return _directly(conn.info, driver, dbapi, text, values)
        with driver.cursor(binary=True) as cursor:  # texts, numbers and bytes as they are, not written out and read again
            found: list[tuple[Any, ...]] = cursor.execute(text.sql, values).fetchall()
            return found


@contextmanager
def sent(conn: Connection, text: Text, values: Mapping[str, Any]) -> Iterator[Callable[[], Rows]]:
    """Send a statement, and give what takes its rows: meanwhile the server works, and so can the caller.

    Nothing else may be asked of the connection before the rows are taken; not taken, they are let go at the end of the block. A statement
    that this connection does not know yet is asked when its rows are. Raises, as the taking does, what `ask` raises.
    """
    driver: Any = conn.connection.driver_connection
    dbapi: Any = conn.dialect.loaded_dbapi
    known: _Known | None = conn.info.get(_KNOWN)
    if known is None or text not in known.texts or not _takes_statements(driver, dbapi):
        yield lambda: ask(conn, text, values)
        return
    libpq, is_waited_for = driver.pgconn, True
    with _as_sqlalchemy_has_it(conn, text, driver, dbapi):
        libpq.send_query_prepared(text.name, _given(text, values), result_format=dbapi.pq.Format.BINARY)

    def take() -> Rows:
        nonlocal is_waited_for
        with _as_sqlalchemy_has_it(conn, text, driver, dbapi):
            is_waited_for = False
            result = driver.wait(dbapi.generators.execute(libpq))[-1]
            if result.status != dbapi.pq.ExecStatus.TUPLES_OK and dbapi.errors.error_from_result(result).sqlstate == _UNKNOWN:
                return _directly(conn.info, driver, dbapi, text, values)
            return _rows(known, _checked(result, dbapi, dbapi.pq.ExecStatus.TUPLES_OK))

    try:
        yield take
    finally:
        if is_waited_for:
            with suppress(dbapi.Error):  # a connection that is lost says so to whoever asks it next
                driver.wait(dbapi.generators.execute(libpq))


def _takes_statements(driver: Any, dbapi: Any) -> bool:
    # In a transaction not: what a server says of a name that it knows, or does not, would end it.
    return (
        driver.autocommit and driver.prepare_threshold is not None and driver.pgconn.transaction_status == dbapi.pq.TransactionStatus.IDLE
    )


@contextmanager
def _as_sqlalchemy_has_it(conn: Connection, text: Text, driver: Any, dbapi: Any) -> Iterator[None]:
    try:
        yield
    except dbapi.Error as error:
        lost = bool(driver.closed)
        if lost:
            conn.invalidate(error)
        raise DBAPIError.instance(text.sql, None, error, dbapi.Error, connection_invalidated=lost) from error


def _directly(info: dict[str, Any], driver: Any, dbapi: Any, text: Text, values: Mapping[str, Any]) -> Rows:
    if (known := info.get(_KNOWN)) is None:
        known = info[_KNOWN] = _Known(driver, dbapi)
    given = _given(text, values)
    try:
        result = _executed(known, driver.pgconn, dbapi, text, given)
    except dbapi.Error as error:
        if error.sqlstate != _UNKNOWN:
            raise
        known.texts.clear()
        result = _executed(known, driver.pgconn, dbapi, text, given)
    return _rows(known, result)


def _given(text: Text, values: Mapping[str, Any]) -> list[bytes]:
    return [str(values[name]).encode() for name in text.order]


def _rows(known: _Known, result: Any) -> Rows:
    known.reader.set_pgresult(result)
    try:
        rows: list[tuple[Any, ...]] = known.reader.load_rows(0, result.ntuples, tuple)
    finally:
        known.reader.set_pgresult(None)
    return rows


def _executed(known: _Known, libpq: Any, dbapi: Any, text: Text, given: list[bytes]) -> Any:
    if text not in known.texts:
        _checked(libpq.prepare(text.name, text.numbered), dbapi, dbapi.pq.ExecStatus.COMMAND_OK, _KNOWN_ALREADY)
        known.texts.add(text)
    return _checked(libpq.exec_prepared(text.name, given, None, dbapi.pq.Format.BINARY), dbapi, dbapi.pq.ExecStatus.TUPLES_OK)


def _checked(result: Any, dbapi: Any, wanted: Any, harmless: str = "") -> Any:
    if result.status != wanted:
        error = dbapi.errors.error_from_result(result)
        if error.sqlstate != harmless:
            raise error
    return result
