"""Questions to a model by the minute, over all processes: who may wait leaves the room to those that Temporal lets through.

Reflections come through a queue that Temporal limits, so they only note that they asked. A comparison is asked beside that queue: it
takes a place where one is free, and none where the reflections use up the minute.
"""

from datetime import datetime

from sqlalchemy import BigInteger, Connection, bindparam, case, select, type_coerce, update

from hindwise.ledger.databases import shared_now
from hindwise.ledger.leases import make_row
from hindwise.ledger.schema import leases

_NAME = "model-pace"
_MINUTE_US = 60_000_000
_AHEAD_US = _MINUTE_US
"""What is noted ahead of time at most: after a burst of reflections nobody waits for longer than a minute."""

_UNTIL, _NOW = type_coerce(leases.c.until, BigInteger), type_coerce(shared_now(), BigInteger)
_NEXT = case((_UNTIL > _NOW + _AHEAD_US, _NOW + _AHEAD_US), (_UNTIL > _NOW, _UNTIL), else_=_NOW) + bindparam("step", type_=BigInteger())
_NOTE = update(leases).where(leases.c.name == _NAME).values(until=_NEXT)
_TAKE = _NOTE.where(leases.c.until <= shared_now())
_LEFT = select((_UNTIL - _NOW).label("left")).where(leases.c.name == _NAME)


def note(conn: Connection, per_minute: float, now: datetime) -> None:
    """A question is asked that another limit let through. per_minute: 0 = no limit, and nothing is noted."""
    if per_minute:
        make_row(conn, _NAME)
        conn.execute(_NOTE, {"step": _step(per_minute), "now": now})


def take(conn: Connection, per_minute: float, now: datetime) -> float:
    """Take a place for one question: 0.0 where there is one, else the seconds after which there may be. per_minute: 0 = always one."""
    if not per_minute:
        return 0.0
    make_row(conn, _NAME)
    if conn.execute(_TAKE, {"step": _step(per_minute), "now": now}).rowcount:
        return 0.0
    left: int = conn.execute(_LEFT, {"now": now}).scalar_one()
    return max(0.001, left / 1_000_000)


def _step(per_minute: float) -> int:
    return round(_MINUTE_US / per_minute)
