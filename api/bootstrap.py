"""The first key: made once, at the first start, and kept in the data directory for its owner alone."""

import asyncio
import os
import secrets
from pathlib import Path

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from hindwise.engine import Engine
from hindwise.errors import InvalidInput
from hindwise.ledger import keys

NAME = "first key"


async def ensure_first_key(engine: Engine) -> str | None:
    """Return the key in `data/api_key`, made now where the ledger has none; None where others exist and that file tells none of them.

    Several processes may start at once: they end with the same key. Raises LedgerUnavailable; InvalidInput for an empty file and no key.
    """
    path = engine.settings.data / "api_key"
    if not path.exists():
        if await engine.ledger.read(keys.count):
            return None
        await asyncio.to_thread(_make, path)
    key = (await asyncio.to_thread(path.read_text, "utf-8")).strip()
    try:
        return await engine.ledger.write(lambda conn: _admit(conn, engine, key))
    except IntegrityError:  # another process added it in the same moment, or somebody revoked it
        return key if await engine.ledger.read(lambda conn: keys.find(conn, key)) else None


def _make(path: Path) -> None:
    # Written beside and linked into place: of several processes starting at once, one wins and all read its key whole.
    draft = path.with_name(f".api_key-{os.getpid()}-{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(keys.new_key() + "\n")
        path.hardlink_to(draft)
    except FileExistsError:
        return
    finally:
        draft.unlink()


def _admit(conn: Connection, engine: Engine, key: str) -> str | None:
    if keys.find(conn, key):
        return key
    if keys.count(conn):
        return None
    if not key:
        raise InvalidInput("the file api_key in the data directory is empty and there is no other key: remove it, the next start makes one")
    keys.add(conn, engine.settings.tenant, NAME, ["admin"], engine.clock.now(), key)
    return key
