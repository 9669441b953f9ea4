"""Whose answer is kept under an Idempotency-Key: an erasure of that user takes it along; one that overtook the request lets none be kept.

The user stands in the body, or is who owns what path, query and answer name.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response

from hindwise.engine import Engine
from hindwise.errors import LedgerUnavailable
from hindwise.ledger import erasures, idempotency, owners, spaces
from hindwise.ledger.keys import KeyRow
from hindwise.model.space import user_space

_NAMED_OTHERWISE = {"id": "memory_id"}
"""Both memory doors call what they wrote `id`."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A request under a key. `user`, `named`: as `user_in` and `named_in` say; `wiped`: how often the user was erased before it."""

    key: str
    path: str
    asked: str
    user: str | None = None
    named: Mapping[str, str] = field(default_factory=dict)
    wiped: int = 0


def begin(conn: Connection, engine: Engine, tenant_id: str, request: Kept) -> tuple[idempotency.Kept | None, Kept]:
    """Return the answer of a first request with the key, and this one with what is known of its user at the beginning.

    Without such an answer the request is noted as begun, until `keep` or `release`. Raises IdempotencyMismatch, LedgerUnavailable.
    """
    owner = _owner(conn, tenant_id, request)
    if owner:
        spaces.hold(conn, tenant_id, [user_space(owner)])  # an erasure comes before the note or sees it
        owner = _owner(conn, tenant_id, request)
    # A path may name what is a user's: of whom nobody knows yet, it is told with the answer.
    path = "" if owner is None else request.path
    found = idempotency.begin(conn, tenant_id, request.key, request.asked, engine.clock.now(), path=path, owner=owner or "")
    return found, replace(request, wiped=_wiped(conn, engine, tenant_id, request.user))


def _owner(conn: Connection, tenant_id: str, request: Kept) -> str | None:
    """The user whose things a request is about, "" where they are nobody's, None where that is not known."""
    if request.user or not request.named:
        return request.user or ""
    return owners.owner_of(conn, tenant_id, request.named)


async def release(engine: Engine, tenant_id: str, request: Kept) -> None:
    """End a request that failed: its key may come again with a corrected body."""
    # Where the ledger is away, the note is over after its time; the failure itself is what the caller has to be told.
    with suppress(LedgerUnavailable):
        await engine.ledger.write(lambda conn: idempotency.release(conn, tenant_id, request.key, request.asked))


def _wiped(conn: Connection, engine: Engine, tenant_id: str, user: str | None) -> int:
    return erasures.wiped(conn, tenant_id, erasures.hash_of(engine.secret, tenant_id, user)) if user else 0


def user_in(body: Any) -> str | None:
    """The user that a body names, "" where it names an agent alone, None where it names neither."""
    named = body if isinstance(body, dict) else {}
    user = named.get("user_id")
    return user if isinstance(user, str) else "" if isinstance(named.get("agent_id"), str) else None


def named_in(request: Request, answer: Response | None = None) -> dict[str, str]:
    """What a request and its answer name: ids of sessions, episodes and so on."""
    try:
        told = json.loads(bytes(answer.body)) if answer else None
    except ValueError:
        told = None
    parts: tuple[Mapping[str, Any], ...] = (request.path_params, request.query_params, told if isinstance(told, dict) else {})
    named = {_NAMED_OTHERWISE.get(name, name): value for part in parts for name, value in part.items() if isinstance(value, str)}
    return {name: named[name] for name in owners.NAMES if named.get(name)}


def keep(
    conn: Connection,
    engine: Engine,
    caller: KeyRow,
    request: Kept,
    named: Mapping[str, str],
    status_code: int,
    answer: dict[str, Any] | None,
) -> None:
    """Keep an answer for its user; none where the user, or what it tells of, was erased since the request began."""
    tenant, user = caller.tenant_id, request.user
    if user is None:
        user = owners.owner_of(conn, tenant, named) if named else ""
    if user:
        spaces.hold(conn, tenant, [user_space(user)])
    overtaken = (
        _wiped(conn, engine, tenant, user) != request.wiped if request.user else named and owners.owner_of(conn, tenant, named) is None
    )
    if user is None or (user and overtaken):
        idempotency.release(conn, tenant, request.key, request.asked)
        return
    now = engine.clock.now()
    idempotency.keep(conn, tenant, request.key, request.path, request.asked, status_code, answer, now, owner=user)
