"""What comes next in a list that is told page by page, newest first, where any number of rows may share one instant?"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Column, Select, or_


@dataclass(frozen=True, slots=True)
class Place:
    """Where a row stands: its instant, and among those of the same instant its id, as its database puts ids in order."""

    at: datetime
    id: str


def newest_first(query: Select[Any], at: Column[Any], own: Column[Any], after: Place | None, limit: int) -> Select[Any]:
    """Ask for the first rows after a place (None: from the top), ties by id: none is told twice, also where those before are gone."""
    if after is not None:
        # Said twice, so that an index over the instant begins at the place, and not at the top.
        query = query.where(at <= after.at, or_(at < after.at, own > after.id))
    return query.order_by(at.desc(), own).limit(limit)
