"""The first key: made once, at the first start, and kept in the data directory for its owner alone."""

import asyncio
import os
import secrets
import socket
from pathlib import Path

import structlog
from sqlalchemy import Connection

from hindwise.engine import Engine
from hindwise.errors import InvalidInput
from hindwise.ledger import keys

NAME = "first key"

_log = structlog.get_logger("hindwise.api")


async def ensure_first_key(engine: Engine) -> str | None:
    """Return the key in `data/api_key`, made now where the ledger has none; None where others exist and that file tells none of them.

    Several processes may start at once, on several machines: one key is made, and all log where it lies. Raises LedgerUnavailable;
    InvalidInput for an empty file and no key.
    """
    path = engine.settings.data.absolute() / "api_key"  # told in the log, maybe of another machine
    made = False
    if not path.exists():
        if await engine.ledger.read(keys.count):
            _tell(await engine.ledger.read(keys.first_lies_at))
            return None
        made = await asyncio.to_thread(_make, path)
    key = (await asyncio.to_thread(path.read_text, "utf-8")).strip()
    admitted = await engine.ledger.write(lambda conn: _admit(conn, engine, key, f"{socket.gethostname()}:{path}"))
    if not admitted and made:
        await asyncio.to_thread(path.unlink, missing_ok=True)  # another machine was faster: what lies here opens nothing
    _tell(str(path) if admitted else await engine.ledger.read(keys.first_lies_at))
    return key if admitted else None


def _tell(place: str) -> None:
    if place:
        _log.info("first_key", file=place, next="more of them: `hindwise keys create NAME`")


def _make(path: Path) -> bool:
    """Write a new key; False where another process of this machine was faster."""
    # Written beside and linked into place: of several processes starting at once, one wins and all read its key whole.
    draft = path.with_name(f".api_key-{os.getpid()}-{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(keys.new_key() + "\n")
        path.hardlink_to(draft)
    except FileExistsError:
        return False
    finally:
        draft.unlink()
    return True


def _admit(conn: Connection, engine: Engine, key: str, place: str) -> bool:
    if keys.find(conn, key):
        return True
    if keys.count(conn):
        return False
    if not key:
        raise InvalidInput("the file api_key in the data directory is empty and there is no other key: remove it, the next start makes one")
    # Of several processes of one machine the second one finds the same key, admitted by the first.
    return keys.add_first(conn, engine.settings.tenant, NAME, engine.clock.now(), key, place) or keys.find(conn, key) is not None
