"""What endpoints of models accept, by the hash of their address: for processes that start later, or run beside the one that found out."""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, select

from hindwise.ledger.databases import upsert
from hindwise.ledger.schema import model_abilities

_MAX_MODEL_CHARS = 200


def find(conn: Connection, endpoint: str) -> Row[Any] | None:
    """Return the row of an endpoint with a model, or None. endpoint: a hash, never an address."""
    return conn.execute(select(model_abilities).where(model_abilities.c.endpoint == endpoint)).first()


def keep(
    conn: Connection,
    endpoint: str,
    model: str,
    *,
    format_no: int,
    token_limit: str,
    temperature: bool,
    long_failures: int,
    learned_at: datetime,
) -> None:
    """Keep what was learned; the latest word of any process stands. model: for people who look."""
    row = {
        "endpoint": endpoint,
        "model": model[:_MAX_MODEL_CHARS],
        "format": format_no,
        "token_limit": token_limit,
        "temperature": temperature,
        "long_failures": long_failures,
        "learned_at": learned_at,
    }
    upsert(conn, model_abilities, [row], keys=["endpoint"])
