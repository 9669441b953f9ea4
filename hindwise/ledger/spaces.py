"""Space rows: made once, locked in order of number, guarded by their epoch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, select, update

from hindwise.errors import SpaceErased
from hindwise.ledger.engine import insert_new
from hindwise.ledger.schema import spaces


@dataclass(frozen=True, slots=True)
class SpaceRow:
    """A space as the ledger numbers it. `ledger_no` rises with each memory change, `index_no` when the index caught up."""

    no: int
    name: str
    epoch: int
    ledger_no: int
    index_no: int


_DROPPED = "the space was erased while this was in flight; nothing was written"

_FIND = select(spaces.c.no, spaces.c.name, spaces.c.epoch, spaces.c.ledger_no, spaces.c.index_no).where(
    spaces.c.tenant_id == bindparam("tenant"), spaces.c.name.in_(bindparam("names", expanding=True))
)
_LOCK = _FIND.order_by(spaces.c.no).with_for_update()
_EPOCH = select(spaces.c.epoch).where(spaces.c.no == bindparam("space")).with_for_update()
_BUMP = update(spaces).where(spaces.c.no == bindparam("space")).values(ledger_no=spaces.c.ledger_no + 1).returning(spaces.c.ledger_no)
_INDEXED = (
    update(spaces).where(spaces.c.no == bindparam("space"), spaces.c.index_no < bindparam("up_to")).values(index_no=bindparam("up_to"))
)


def ensure(conn: Connection, tenant_id: str, names: Sequence[str]) -> None:
    """Make sure that the rows exist."""
    insert_new(conn, spaces, [{"tenant_id": tenant_id, "name": name, "epoch": 0, "ledger_no": 0, "index_no": 0} for name in names])


def find(conn: Connection, tenant_id: str, names: Sequence[str]) -> dict[str, SpaceRow]:
    """Return the rows that exist, by name."""
    return {row.name: SpaceRow(*row) for row in conn.execute(_FIND, {"tenant": tenant_id, "names": list(names)})}


def lock(conn: Connection, tenant_id: str, names: Sequence[str], epochs: Mapping[str, int] | None = None) -> dict[str, SpaceRow]:
    """Make, then lock the rows in order of number (SQLite's write lock covers it), and return them by name.

    epochs: what the work began with, by space name. Raises SpaceErased when one differs: the work is dropped.
    """
    ensure(conn, tenant_id, names)
    rows = {row.name: SpaceRow(*row) for row in conn.execute(_LOCK, {"tenant": tenant_id, "names": list(names)})}
    for name, epoch in (epochs or {}).items():
        if name in rows and rows[name].epoch != epoch:
            raise SpaceErased(_DROPPED)
    return rows


def check_epoch(conn: Connection, space_no: int, epoch: int) -> None:
    """Lock a space and compare its epoch with what the work began with. Raises SpaceErased when it differs: the work is dropped."""
    if conn.execute(_EPOCH, {"space": space_no}).scalar_one_or_none() != epoch:
        raise SpaceErased(_DROPPED)


def bump(conn: Connection, space_no: int) -> int:
    """Raise `ledger_no` of a locked space by one and return it."""
    return int(conn.execute(_BUMP, {"space": space_no}).scalar_one())


def set_index_no(conn: Connection, space_no: int, index_no: int) -> None:
    """Note up to which ledger number the index of a space is complete; never backwards."""
    conn.execute(_INDEXED, {"space": space_no, "up_to": index_no})
