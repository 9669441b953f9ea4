"""Space rows: made once, locked in order of number, guarded by their epoch."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, bindparam, or_, select, update

from hindwise.errors import LedgerUnavailable, SpaceErased
from hindwise.ledger.databases import insert_new
from hindwise.ledger.direct import Direct
from hindwise.ledger.prepared import Prepared
from hindwise.ledger.schema import spaces
from hindwise.ledger.slot_keys import renew
from hindwise.resolve.slots import key_version


@dataclass(frozen=True, slots=True)
class SpaceRow:
    """A space as the ledger numbers it. `ledger_no` rises with each memory change, `index_no` when the index caught up."""

    no: int
    name: str
    epoch: int
    ledger_no: int
    index_no: int
    slot_keys: str
    """With what the keys of its slots were made; see `slot_keys`."""


TOUCHED = timedelta(days=1)
"""How exactly it is known when a space was last used."""

_DROPPED = "the space was erased while this was in flight; nothing was written"

_FIND = select(spaces.c.no, spaces.c.name, spaces.c.epoch, spaces.c.ledger_no, spaces.c.index_no, spaces.c.slot_keys).where(
    spaces.c.tenant_id == bindparam("tenant"), spaces.c.name.in_(bindparam("names", expanding=True))
)
_FOUND, _LOCK = Direct(_FIND), Direct(_FIND.order_by(spaces.c.no).with_for_update())
_HOLD = _FIND.order_by(spaces.c.no).with_for_update(read=True, key_share=True)
_LOCK_TRIES = 6
_EPOCH = Prepared(select(spaces.c.epoch).where(spaces.c.no == bindparam("space")).with_for_update())
_BUMP = Direct(
    update(spaces).where(spaces.c.no == bindparam("space")).values(ledger_no=spaces.c.ledger_no + 1).returning(spaces.c.ledger_no)
)
_INDEXED = Direct(
    update(spaces)
    .where(spaces.c.no == bindparam("space"), spaces.c.index_no < bindparam("up_to"))
    .values(index_no=bindparam("up_to"), used_at=bindparam("now"))
)


def ensure(conn: Connection, tenant_id: str, names: Sequence[str]) -> None:
    """Make sure that the rows exist."""
    fresh = {"tenant_id": tenant_id, "epoch": 0, "ledger_no": 0, "index_no": 0, "slot_keys": key_version()}
    insert_new(conn, spaces, [{**fresh, "name": name} for name in sorted(names)])


def find(conn: Connection, tenant_id: str, names: Sequence[str]) -> dict[str, SpaceRow]:
    """Return the rows that exist, by name."""
    return {row.name: SpaceRow(*row) for row in _FOUND.rows(conn, {"tenant": tenant_id, "names": list(names)})}


def made(conn: Connection, tenant_id: str, names: Sequence[str]) -> dict[str, SpaceRow]:
    """Return the rows by name, made where they are missing."""
    found = find(conn, tenant_id, names)
    if len(found) < len(names):
        ensure(conn, tenant_id, names)
        found = find(conn, tenant_id, names)
    return found


def lock(conn: Connection, tenant_id: str, names: Sequence[str], epochs: Mapping[str, int] | None = None) -> dict[str, SpaceRow]:
    """Make, then lock the rows in order of number (SQLite's write lock covers it), and return them by name.

    Keys of slots that an older lexicon made are made anew. epochs: what the work began with, by space name.
    Raises SpaceErased when one differs: the work is dropped.
    """
    rows = _locked(conn, tenant_id, names)
    for name, epoch in (epochs or {}).items():
        if name in rows and rows[name].epoch != epoch:
            raise SpaceErased(_DROPPED)
    for row in rows.values():
        if row.slot_keys != key_version():
            renew(conn, row.no)
    return rows


def _locked(conn: Connection, tenant_id: str, names: Sequence[str]) -> dict[str, SpaceRow]:
    for _ in range(_LOCK_TRIES):
        rows = {row.name: SpaceRow(*row) for row in _LOCK.rows(conn, {"tenant": tenant_id, "names": list(names)})}
        if len(rows) == len(set(names)):
            return rows
        # New, or an erasure took a row away while its lock was waited for: what comes now begins the space anew.
        ensure(conn, tenant_id, names)
    raise LedgerUnavailable("a space was erased again and again while it was waited for", retry_after_s=1)


def hold(conn: Connection, tenant_id: str, names: Sequence[str]) -> dict[str, int]:
    """Keep the rows that exist from being erased until the transaction ends, and return their numbers by name; nobody else waits for it."""
    return {row.name: int(row.no) for row in conn.execute(_HOLD, {"tenant": tenant_id, "names": sorted(names)})} if names else {}


def check_epoch(conn: Connection, space_no: int, epoch: int) -> None:
    """Lock a space and compare its epoch with what the work began with. Raises SpaceErased when it differs: the work is dropped."""
    if _EPOCH.rows(conn, {"space": space_no}) != [(epoch,)]:
        raise SpaceErased(_DROPPED)


def is_there(conn: Connection, space_no: int) -> bool:
    """Lock a space, and say whether it exists still."""
    return bool(_EPOCH.rows(conn, {"space": space_no}))


def bump(conn: Connection, space_no: int) -> int:
    """Raise `ledger_no` of a locked space by one and return it."""
    return int(_BUMP.rows(conn, {"space": space_no})[0].ledger_no)


def set_index_no(conn: Connection, space_no: int, index_no: int, now: datetime) -> None:
    """Note up to which ledger number the index of a space is complete, never backwards, and that the space is in use."""
    _INDEXED.run(conn, {"space": space_no, "up_to": index_no, "now": now})


def touch(conn: Connection, used: Collection[tuple[str, str]], now: datetime) -> None:
    """Note that spaces, by tenant and name, are in use; to the day, and locked in order of number."""
    stale = or_(spaces.c.used_at.is_(None), spaces.c.used_at < now - TOUCHED)
    for tenant, names in _by_tenant(used).items():
        query = select(spaces.c.no).where(spaces.c.tenant_id == tenant, spaces.c.name.in_(names), stale).order_by(spaces.c.no)
        if numbers := list(conn.execute(query.with_for_update()).scalars()):
            conn.execute(update(spaces).where(spaces.c.no.in_(numbers)).values(used_at=now))


def _by_tenant(used: Collection[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for tenant, name in sorted(used):
        found.setdefault(tenant, []).append(name)
    return found


def idle(conn: Connection, space_nos: Sequence[int], before: datetime) -> set[int]:
    """Return those of the spaces that were used once, but not since `before`."""
    return set(conn.execute(select(spaces.c.no).where(spaces.c.no.in_(list(space_nos)), spaces.c.used_at < before)).scalars())
