"""Statements for a path that is walked for every task, with the conversions of their columns: compiled once, told to SQLite itself.

Around a statement that SQLite answers in microseconds, SQLAlchemy's own way takes some hundred. What comes of it is the same: values
and rows are converted by the types of their columns, and errors are SQLAlchemy's. On another database, whose round trip outweighs
it, a statement goes SQLAlchemy's way. `prepared` is for what needs no conversion at all.
"""

import re
import sqlite3
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Insert
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import DBAPIError, StatementError

_LIST = re.compile(r"__\[POSTCOMPILE_(\w+)\]")
_DIALECT = sqlite.dialect(paramstyle="qmark")
Convert = Callable[[Any], Any]


TAKES_STATEMENTS = "takes statements"
"""Under this name `engine` leaves, in the `info` of each connection, the driver's own where that takes statements directly."""


def sqlite_driver(conn: Connection) -> Any:
    """The sqlite3 connection behind `conn`, for statements that pass SQLAlchemy by; None on another database."""
    return conn.info.get(TAKES_STATEMENTS)


class _Bound(NamedTuple):
    """One place of a statement: the value's name, how it is converted, and the value that stands there where none is given."""

    name: str
    convert: Convert | None
    constant: Any
    is_list: bool


class Direct:
    """A statement with named parameters; an expanding one is given a list. Rows have their columns as attributes, in order.

    An INSERT takes the columns that are named with each call; none may have a default that Python computes.
    """

    def __init__(self, statement: Any) -> None:
        self.statement = statement
        self._inserts = isinstance(statement, Insert)
        self._compiled: dict[tuple[str, ...], _OnSqlite] = {}

    def rows(self, conn: Connection, values: Mapping[str, Any]) -> Sequence[Any]:
        """Return all rows. Raises what SQLAlchemy would raise."""
        if (driver := sqlite_driver(conn)) is None:
            return conn.execute(self.statement, dict(values)).all()
        return self._for(values).rows(driver, values)

    def first(self, conn: Connection, values: Mapping[str, Any]) -> Any:
        """Return the first row, or None. Raises as `rows`."""
        found = self.rows(conn, values)
        return found[0] if found else None

    def run(self, conn: Connection, values: Mapping[str, Any]) -> int:
        """Run it; return how many rows it touched. Raises as `rows`."""
        if (driver := sqlite_driver(conn)) is None:
            return int(conn.execute(self.statement, dict(values)).rowcount)
        return self._for(values).run(driver, values)

    def run_each(self, conn: Connection, values: Sequence[Mapping[str, Any]]) -> int:
        """Run it once for each; all name the same. At least one, and no lists. Return how many rows it touched. Raises as `rows`."""
        if (driver := sqlite_driver(conn)) is None:
            return int(conn.execute(self.statement, [dict(each) for each in values]).rowcount)
        return self._for(values[0]).run_each(driver, values)

    def _for(self, values: Mapping[str, Any]) -> "_OnSqlite":
        key = tuple(values) if self._inserts else ()
        if (known := self._compiled.get(key)) is None:
            # Two threads may both compile it; either is right.
            known = self._compiled[key] = _OnSqlite(self.statement, key if self._inserts else None)
        return known


class _OnSqlite:
    """A statement compiled for SQLite, its lists left open."""

    def __init__(self, statement: Any, keys: Sequence[str] | None) -> None:
        compiled = statement.compile(dialect=_DIALECT, column_keys=keys)
        self._sql = str(compiled)
        self._bound = [_bound_of(compiled.binds[name], name) for name in compiled.positiontup or ()]
        self._by_lengths: dict[tuple[int, ...], str] = {}
        self._has_lists = any(one.is_list for one in self._bound)
        self._always_given = all(one.constant is _REQUIRED for one in self._bound)
        columns = list(statement.exported_columns)
        self._row = namedtuple("Row", [column.key for column in columns]) if columns else None
        converts = [column.type.dialect_impl(_DIALECT).result_processor(_DIALECT, None) for column in columns]
        self._converts = [(place, convert) for place, convert in enumerate(converts) if convert]

    def rows(self, driver: Any, values: Mapping[str, Any]) -> Sequence[Any]:
        sql, given = self._asked(values)
        found = _tell(sql, lambda: driver.execute(sql, given).fetchall())
        make: Any = self._row
        if make is None:
            raise StatementError("this statement returns no rows", sql, None, TypeError())
        if not self._converts:
            return [make._make(row) for row in found]
        told = []
        for row in found:
            plain = list(row)
            for place, convert in self._converts:
                plain[place] = convert(plain[place])
            told.append(make._make(plain))
        return told

    def run(self, driver: Any, values: Mapping[str, Any]) -> int:
        sql, given = self._asked(values)
        return int(_tell(sql, lambda: _count(driver.execute(sql, given))))

    def run_each(self, driver: Any, values: Sequence[Mapping[str, Any]]) -> int:
        given = [self._each(each) for each in values]
        return int(_tell(self._sql, lambda: _count(driver.executemany(self._sql, given))))

    def _asked(self, values: Mapping[str, Any]) -> tuple[str, list[Any]]:
        """The SQL, and what is bound in it, in order."""
        if not self._has_lists:
            return self._sql, self._each(values)
        given: list[Any] = []
        lengths = []
        for one in self._bound:
            if one.is_list:
                items = _value(one, values)
                given += map(one.convert, items) if one.convert else items
                lengths.append(len(items))
            else:
                value = _value(one, values)
                given.append(one.convert(value) if one.convert else value)
        key = tuple(lengths)
        if (sql := self._by_lengths.get(key)) is None:
            places = iter(key)
            # An empty list matches nothing.
            sql = _LIST.sub(lambda _: ", ".join("?" * length) if (length := next(places)) else "SELECT 1 WHERE 0", self._sql)
            if len(self._by_lengths) < _MAX_LENGTHS:
                self._by_lengths[key] = sql
        return sql, given

    def _each(self, values: Mapping[str, Any]) -> list[Any]:
        """What is bound, in order, in a statement without lists."""
        if not self._always_given:
            values = {one.name: _value(one, values) for one in self._bound}
        return [convert(values[name]) if convert else values[name] for name, convert, _, _ in self._bound]


_MAX_LENGTHS = 64
_REQUIRED = object()


def _bound_of(bind: Any, name: str) -> _Bound:
    constant = _REQUIRED if bind.required else bind.effective_value
    return _Bound(name, bind.type.dialect_impl(_DIALECT).bind_processor(_DIALECT), constant, bool(bind.expanding))


def _value(one: _Bound, values: Mapping[str, Any]) -> Any:
    return values[one.name] if one.constant is _REQUIRED else values.get(one.name, one.constant)


def _count(cursor: Any) -> int:
    number = int(cursor.rowcount)
    cursor.close()
    return number


def _tell(sql: str, ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except sqlite3.Error as error:
        raise DBAPIError.instance(sql, None, error, sqlite3.Error) from error
