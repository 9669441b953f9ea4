"""Named leases: who does a job that only one process at a time should do. They end by themselves, by the ledger's shared clock."""

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Connection, bindparam, literal, or_, select, type_coerce, update

from hindwise.ledger.databases import insert_new, shared_now, shared_until
from hindwise.ledger.schema import leases

_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST = timedelta(days=2)
"""No lease by name is taken for longer."""


def is_over(until: Any, longest: timedelta) -> ColumnElement[bool]:
    """Whether a lease has ended, in a statement that is given `now`: its time is over, or it ends later than any that is taken now.

    The latter was given by a clock that was set back since; its holder may be gone for ever.
    """
    now, most = type_coerce(shared_now(), BigInteger), literal(longest // timedelta(microseconds=1), BigInteger)
    return or_(until < shared_now(), type_coerce(until, BigInteger) > now + most)


_TAKE = (
    update(leases)
    .where(leases.c.name == bindparam("lease"), or_(is_over(leases.c.until, _LONGEST), leases.c.held_by == bindparam("holder")))
    .values(held_by=bindparam("holder"), until=shared_until())
)


def make_row(conn: Connection, name: str) -> None:
    """Have a row of this name, held by nobody, where there is none."""
    insert_new(conn, leases, [{"name": name, "held_by": "", "until": _LONG_AGO}])


def take(conn: Connection, name: str, holder: str, now: datetime, seconds: float) -> bool:
    """Take or renew a lease for `seconds`; False while another holder has it."""
    make_row(conn, name)
    asked = {"lease": name, "holder": holder, "now": now, "until": now + timedelta(seconds=seconds), "seconds": seconds}
    return bool(conn.execute(_TAKE, asked).rowcount)


def alone(conn: Connection, name: str) -> None:
    """Wait for whoever else does this, until the transaction ends: also where there is no row of its own yet that could be locked."""
    make_row(conn, name)
    conn.execute(select(leases.c.name).where(leases.c.name == name).with_for_update()).all()
