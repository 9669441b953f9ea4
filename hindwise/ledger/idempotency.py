"""Idempotency keys: the first answer is kept and given again; another body under the same key is refused."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, select

from hindwise.errors import IdempotencyMismatch
from hindwise.ledger.engine import insert_new
from hindwise.ledger.schema import idempotency_keys


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer that was given before."""

    status_code: int
    response: Any


def find(conn: Connection, tenant_id: str, key: str, path: str, body_digest: str) -> Kept | None:
    """Return the kept answer. Raises IdempotencyMismatch when the key was used with another body or path."""
    query = select(idempotency_keys).where(idempotency_keys.c.tenant_id == tenant_id, idempotency_keys.c.key == key)
    row = conn.execute(query).first()
    if row is None:
        return None
    if row.body_digest != body_digest or row.path != path:
        raise IdempotencyMismatch(f"Idempotency-Key {key[:40]!r} was used before with another body: take a new key for a new request")
    return Kept(row.status_code, row.response)


def keep(
    conn: Connection,
    tenant_id: str,
    key: str,
    path: str,
    body_digest: str,
    status_code: int,
    response: Any,
    now: datetime,
    *,
    owner: str = "",
) -> None:
    """Keep an answer; the first one stays. owner: the user whose things it may tell of, so that an erasure takes it along."""
    row = {
        "tenant_id": tenant_id,
        "key": key,
        "path": path,
        "body_digest": body_digest,
        "status_code": status_code,
        "response": response,
        "owner": owner,
        "created_at": now,
    }
    insert_new(conn, idempotency_keys, [row])


def purge(conn: Connection, before: datetime) -> int:
    """Forget keys older than `before`; return how many."""
    return conn.execute(delete(idempotency_keys).where(idempotency_keys.c.created_at < before)).rowcount
