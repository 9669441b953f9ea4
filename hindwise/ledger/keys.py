"""API keys: stored hashed, scoped to a tenant and to read, write, outcome or admin."""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

from sqlalchemy import Connection, func, insert, select, update

from hindwise.errors import InvalidInput, NotFound
from hindwise.ledger import leases
from hindwise.ledger.databases import insert_new, upsert
from hindwise.ledger.schema import api_keys, installation, tenants

_FIRST = "first key"
_PLACE_CHARS = 200

SCOPES = ("read", "write", "outcome", "admin")
"""admin includes the others."""


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A key without its secret."""

    id: str
    tenant_id: str
    name: str
    scopes: tuple[str, ...]
    created_at: datetime
    revoked_at: datetime | None


def hash_key(key: str) -> str:
    """sha256 of a key: keys are random, so a slow hash would add nothing."""
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()


def new_key() -> str:
    """Return a fresh key: 256 random bits, recognisable by its prefix."""
    return "hw_" + secrets.token_urlsafe(32)


def add(conn: Connection, tenant_id: str, name: str, scopes: Sequence[str], now: datetime, key: str) -> KeyRow:
    """Keep a key's hash. Raises InvalidInput for an unknown scope."""
    if unknown := [scope for scope in scopes if scope not in SCOPES]:
        raise InvalidInput(f"unknown scope {unknown[0]!r}: use {', '.join(SCOPES)}")
    insert_new(conn, tenants, [{"id": tenant_id, "created_at": now}])
    row = KeyRow(str(uuid4()), tenant_id, name, tuple(scopes), now, None)
    conn.execute(
        insert(api_keys).values(id=row.id, tenant_id=tenant_id, name=name, key_hash=hash_key(key), scopes=list(scopes), created_at=now)
    )
    return row


def add_first(conn: Connection, tenant_id: str, name: str, now: datetime, key: str, place: str) -> bool:
    """Keep an admin key where there is none at all; False where others exist, also one that another process adds in this moment, and
    for one that was revoked.

    place: where its secret lies, for whoever comes second; see `first_lies_at`.
    """
    leases.alone(conn, _FIRST)
    if count(conn) or conn.execute(select(api_keys.c.id).where(api_keys.c.key_hash == hash_key(key))).first():
        return False
    add(conn, tenant_id, name, ["admin"], now, key)
    upsert(conn, installation, [{"name": _FIRST, "value": place[:_PLACE_CHARS]}], keys=["name"])
    return True


def first_lies_at(conn: Connection) -> str:
    """Where the process that made the first key put it; "" where that is not known."""
    return conn.execute(select(installation.c.value).where(installation.c.name == _FIRST)).scalar_one_or_none() or ""


def find(conn: Connection, key: str) -> KeyRow | None:
    """Return the live key row behind a secret, or None."""
    row = conn.execute(select(api_keys).where(api_keys.c.key_hash == hash_key(key), api_keys.c.revoked_at.is_(None))).first()
    return KeyRow(row.id, row.tenant_id, row.name, tuple(row.scopes), row.created_at, row.revoked_at) if row else None


def page(conn: Connection, tenant_id: str, limit: int = 200) -> list[KeyRow]:
    """Return the keys of a tenant, newest first."""
    query = select(api_keys).where(api_keys.c.tenant_id == tenant_id).order_by(api_keys.c.created_at.desc()).limit(limit)
    return [KeyRow(row.id, row.tenant_id, row.name, tuple(row.scopes), row.created_at, row.revoked_at) for row in conn.execute(query)]


def revoke(conn: Connection, tenant_id: str, key_id: str, now: datetime) -> None:
    """End a key. Raises NotFound."""
    done = conn.execute(
        update(api_keys)
        .where(api_keys.c.tenant_id == tenant_id, api_keys.c.id == key_id, api_keys.c.revoked_at.is_(None))
        .values(revoked_at=now)
    )
    if not done.rowcount:
        raise NotFound(f"no live key {key_id!r}: `hindwise keys list` shows them")


def count(conn: Connection) -> int:
    """How many live keys there are."""
    return int(conn.execute(select(func.count()).select_from(api_keys).where(api_keys.c.revoked_at.is_(None))).scalar_one())
