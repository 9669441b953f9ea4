"""Named leases: who does a job that only one process at a time should do. They end by themselves."""

from datetime import datetime, timedelta

from sqlalchemy import Connection, or_, update

from hindwise.ledger.engine import insert_new
from hindwise.ledger.schema import leases


def take(conn: Connection, name: str, holder: str, now: datetime, seconds: float) -> bool:
    """Take or renew a lease for `seconds`; False while another holder has it."""
    until = now + timedelta(seconds=seconds)
    insert_new(conn, leases, [{"name": name, "held_by": "", "until": now - timedelta(seconds=1)}])
    free = or_(leases.c.until < now, leases.c.held_by == holder)
    done = conn.execute(update(leases).where(leases.c.name == name, free).values(held_by=holder, until=until))
    return bool(done.rowcount)
