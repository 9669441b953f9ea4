"""Sums that many transactions add to at once, and none waits for another: each sum lies in a few rows, and whoever adds takes a free one.

A row is made where all of a sum's rows are taken: so there are never more of them than transactions that added to it at the same moment,
and reading a sum costs the same however often something was added. On SQLite, where one transaction writes at a time, there is one row.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, Table, bindparam, select, update

from hindwise.ledger.databases import insert_new


def add(conn: Connection, table: Table, name: str, more: Mapping[str, float]) -> None:
    """Add to the columns that `more` names of the sum `name`. table: its key is the name's column and `shard`, in this order."""
    statement = _addition(table, tuple(sorted(more)))
    if conn.execute(statement, {"of": name, **{f"more_{column}": value for column, value in more.items()}}).rowcount:
        return
    key, shard = table.primary_key.columns
    insert_new(conn, table, [{key.name: name, shard.name: str(uuid4()), **more}])


@cache
def _addition(table: Table, columns: tuple[str, ...]) -> Any:
    key, shard = table.primary_key.columns
    # On Postgres a row that another transaction holds is passed over. SQLite knows no such rows, and is not told.
    free = select(shard).where(key == bindparam("of")).limit(1).with_for_update(skip_locked=True).scalar_subquery()
    added = {name: table.c[name] + bindparam(f"more_{name}", type_=table.c[name].type) for name in columns}
    return update(table).where(key == bindparam("of"), shard == free).values(added)
