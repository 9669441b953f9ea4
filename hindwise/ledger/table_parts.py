"""What more than one file of tables is made of."""

from typing import Any

from sqlalchemy import BigInteger, Column, Integer, text


def number() -> Column[int]:
    """A rising row number: 64 bits on Postgres, the rowid on SQLite."""
    return Column("no", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True)


def only(condition: str) -> dict[str, Any]:
    """Return the keywords by which an index holds the rows of one SQL condition, the same on every database."""
    return {"sqlite_where": text(condition), "postgresql_where": text(condition)}
