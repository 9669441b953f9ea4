"""Idempotency keys: the first answer is kept and given again; another body under the same key is refused, also while the first runs.

A request begins with a row that says so (`begin`), which its answer replaces (`keep`) or its failure takes away (`release`). So of two
processes that get one key with two bodies at the same moment, one refuses. Requests with the same body run beside each other: what they
write finds itself, and their row counts them.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, select, update

from hindwise.errors import IdempotencyMismatch, LedgerUnavailable
from hindwise.ledger.databases import insert_new
from hindwise.ledger.schema import idempotency_keys

UNDERWAY = timedelta(minutes=3)
"""After so long a request that began is over: its process died. Longer than any request, and than clocks are apart."""

_TRIES = 5


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer that was given before."""

    status_code: int
    response: Any


def begin(conn: Connection, tenant_id: str, key: str, body_digest: str, now: datetime, *, path: str = "", owner: str = "") -> Kept | None:
    """Return the answer kept under the key; where there is none, note that a request begins, to be ended by `keep` or `release`.

    body_digest: of all that was asked, the path too. owner: as of `keep`. path: where its owner is known, for processes of the version
    before: they compare it, and take another for another request.
    Raises IdempotencyMismatch when the key was used with another digest, or is at this moment; LedgerUnavailable.
    """
    # A status below 0 counts those who run. The path may name a session, so it is told once an owner is known.
    mine = {"path": path, "body_digest": body_digest, "status_code": -1, "owner": owner, "created_at": now}
    of_key = _of(tenant_id, key)
    for _ in range(_TRIES):
        if insert_new(conn, idempotency_keys, [{"tenant_id": tenant_id, "key": key, **mine}]).rowcount:
            return None
        row = conn.execute(select(idempotency_keys).where(*of_key).with_for_update()).first()
        if row is None:
            continue  # the other one failed and let go in between
        over = row.status_code < 0 and abs(now - row.created_at) >= UNDERWAY
        if row.body_digest != body_digest and not over:
            raise IdempotencyMismatch(f"Idempotency-Key {key[:40]!r} was used before with another body: take a new key for a new request")
        if row.status_code >= 0:
            return Kept(row.status_code, row.response)
        running = 0 if over else row.status_code
        conn.execute(update(idempotency_keys).where(*of_key).values(**{**mine, "status_code": running - 1}))
        return None
    raise LedgerUnavailable(f"Idempotency-Key {key[:40]!r} is asked too often at this moment", retry_after_s=1)


def release(conn: Connection, tenant_id: str, key: str, body_digest: str) -> None:
    """End a request that began and has no answer to keep: once nobody runs any more, the key is free for any body."""
    mine = (*_of(tenant_id, key), idempotency_keys.c.body_digest == body_digest)
    column = idempotency_keys.c.status_code
    # In this order: the first statement makes another one's release wait, so the last of them sees that it is.
    conn.execute(update(idempotency_keys).where(*mine, column < 0).values(status_code=column + 1))
    conn.execute(delete(idempotency_keys).where(*mine, column == 0))


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
    answer = {"path": path, "status_code": status_code, "response": response, "owner": owner, "created_at": now}
    begun = (*_of(tenant_id, key), idempotency_keys.c.body_digest == body_digest, idempotency_keys.c.status_code < 0)
    if not conn.execute(update(idempotency_keys).where(*begun).values(**answer)).rowcount:
        insert_new(conn, idempotency_keys, [{"tenant_id": tenant_id, "key": key, "body_digest": body_digest, **answer}])


def _of(tenant_id: str, key: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return idempotency_keys.c.tenant_id == tenant_id, idempotency_keys.c.key == key


def purge(conn: Connection, before: datetime) -> int:
    """Forget keys older than `before`; return how many."""
    return conn.execute(delete(idempotency_keys).where(idempotency_keys.c.created_at < before)).rowcount
