"""Statements for a path that is walked at every question: compiled once, asked with plain values, answered in plain tuples.

The driver is asked directly, since SQLAlchemy's own way takes several times as long as the answer. So that every database gives the
same, a prepared statement takes and returns only what nobody has to convert: texts, numbers, truth values (0 and 1 on SQLite), times as
microseconds and JSON as text, by casts of its own.
"""

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from sqlalchemy import CompoundSelect, Connection, Dialect, Select
from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.postgresql import psycopg
from sqlalchemy.exc import DatabaseError, OperationalError
from sqlalchemy.sql.compiler import SQLCompiler

from hindwise.ledger import pg_statements
from hindwise.ledger.direct import sqlite_driver

_LIST = re.compile(r"__\[POSTCOMPILE_(\w+)\]")
_IN_LIST = re.compile(r"IN \(__\[POSTCOMPILE_(\w+)\]\)")


class Prepared:
    """A SELECT with named parameters; an expanding one is given a list, which must not be empty.

    few: names of lists that are always short. Postgres, which takes any other list for ten values, is told how many these are: else it
    might hold a plan for these values alone to be worth its while, and make one at every question.
    """

    def __init__(self, statement: Select[Any] | CompoundSelect[Any], *, few: Sequence[str] = ()) -> None:
        self.statement = statement
        self._few = few
        self._by_lengths: dict[tuple[int, ...], str] = {}
        self._by_few: dict[tuple[int, ...], pg_statements.Text] = {}

    def rows(self, conn: Connection, values: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
        """Return all rows. Raises what SQLAlchemy would raise."""
        if (driver := sqlite_driver(conn)) is None:
            return pg_statements.ask(conn, *self.for_postgres(values))
        sql, bound = self.for_sqlite(values)
        try:
            found: list[tuple[Any, ...]] = driver.execute(sql, bound).fetchall()
        except sqlite3.OperationalError as error:
            raise OperationalError(sql, None, error) from error
        except sqlite3.DatabaseError as error:
            raise DatabaseError(sql, None, error) from error
        return found

    @contextmanager
    def sent(self, conn: Connection, values: Mapping[str, Any]) -> Iterator[Callable[[], Sequence[tuple[Any, ...]]]]:
        """Ask, and give what takes the rows: where the database is a server, it works meanwhile. See `pg_statements.sent`."""
        if sqlite_driver(conn) is not None:
            yield lambda: self.rows(conn, values)
            return
        with pg_statements.sent(conn, *self.for_postgres(values)) as take:
            yield take

    def for_sqlite(self, values: Mapping[str, Any]) -> tuple[str, list[Any]]:
        """Return the SQL and what is bound in it, in order."""
        text, order, constants = self._compiled
        given = {**constants, **values}
        bound: list[Any] = []
        lengths = []
        for name in order:
            value = given[name]
            if isinstance(value, list):
                before = len(bound)
                bound += _padded(value)
                lengths.append(len(bound) - before)
            else:
                bound.append(value)
        key = tuple(lengths)
        if (sql := self._by_lengths.get(key)) is None:
            places = iter(key)
            sql = self._by_lengths[key] = _LIST.sub(lambda _: ", ".join("?" * next(places)), text)
        return sql, bound

    def for_postgres(self, values: Mapping[str, Any]) -> tuple[pg_statements.Text, dict[str, Any]]:
        """Return the statement, and what is bound in it, by name."""
        sql, constants = self._on_postgres
        given = dict(constants)
        for name, value in values.items():
            if not isinstance(value, list):
                given[name] = value
            elif name in self._few:
                given.update({f"{name}_{place}": one for place, one in enumerate(value)})
            else:
                given[name] = _as_array(value)
        key = tuple([len(values[name]) for name in self._few])
        if (text := self._by_few.get(key)) is None:
            for name, length in zip(self._few, key, strict=True):
                places = ", ".join(f"%({name}_{place})s" for place in range(length))
                sql = sql.replace(f"= ANY (%({name})s)", f"IN ({places})")
            # Two threads may both make it: then a connection may know it twice.
            text = self._by_few[key] = pg_statements.Text(sql)
        return text, given

    @cached_property
    def _on_postgres(self) -> tuple[str, dict[str, Any]]:
        """The SQL, and the values that it brings. A list is one parameter: the text is always the same, and the server plans it once."""
        dialect: Dialect = psycopg.dialect()  # type: ignore[no-untyped-call]
        compiled = self.statement.compile(dialect=dialect)
        return _IN_LIST.sub(r"= ANY (%(\1)s)", str(compiled)), _constants(compiled, dialect)

    @cached_property
    def _compiled(self) -> tuple[str, list[str], dict[str, Any]]:
        """The SQL with its lists left open, the parameters in order of place, and the values that the statement itself brings."""
        dialect = sqlite.dialect()
        compiled = self.statement.compile(dialect=dialect)
        return str(compiled), list(compiled.positiontup or ()), _constants(compiled, dialect)


def _constants(compiled: SQLCompiler, dialect: Dialect) -> dict[str, Any]:
    found = {}
    for bind, name in compiled.bind_names.items():
        if not bind.required:
            process = bind.type.dialect_impl(dialect).bind_processor(dialect)
            found[name] = process(bind.value) if process else bind.value
    return found


def look_again(conn: Connection) -> None:
    """Within a unit that only reads: let the next statement see what was committed since the first one.

    SQLite holds on to what it saw first until the transaction ends; on Postgres each statement looks anew.
    """
    if (driver := sqlite_driver(conn)) is not None:
        for statement in ("COMMIT", "BEGIN"):
            driver.execute(statement).close()


def _as_array(values: list[Any]) -> str:
    """Write a list as Postgres reads it: the driver's own way takes longer than the question."""
    if all(isinstance(value, int) for value in values):
        return f"{{{','.join(map(str, values))}}}"
    quoted = ['"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"' for value in values]
    return f"{{{','.join(quoted)}}}"


def _padded(values: list[Any]) -> list[Any]:
    """Repeat the last one up to one of a few lengths, so that the driver has the SQL ready. What is asked is a set: it means the same."""
    length = 1
    while length < len(values):
        length = length * 2 if length < 16 else length + 16
    return values + values[-1:] * (length - len(values))
