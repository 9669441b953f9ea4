"""What all processes of one installation must agree on, kept where all of them look."""

from sqlalchemy import Connection, select

from hindwise.ledger.databases import insert_new
from hindwise.ledger.schema import installation
from hindwise.model.ids import keyed_hash

_HASHED_WITH = "secret"


def agrees(conn: Connection, secret: bytes) -> bool:
    """Whether `secret` is the installation's; the first process to ask says which it is. Only a hash made with it is kept."""
    ours = keyed_hash(secret, "installation")
    insert_new(conn, installation, [{"name": _HASHED_WITH, "value": ours}])
    kept: str = conn.execute(select(installation.c.value).where(installation.c.name == _HASHED_WITH)).scalar_one()
    return kept == ours
