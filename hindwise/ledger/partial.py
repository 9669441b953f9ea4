"""Indexes that hold only the rows which anybody asks for."""

from typing import Any

from sqlalchemy import text


def only(condition: str) -> dict[str, Any]:
    """Return the keywords by which an index holds the rows of one SQL condition, the same on every database."""
    return {"sqlite_where": text(condition), "postgresql_where": text(condition)}
