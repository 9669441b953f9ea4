"""What does an error of a database mean? A blip, that it is away, or that its file is damaged; and why, in words of our own."""

import sqlite3

from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

_BLIP_STATES = frozenset({"40001", "40P01", "23505"})
"""Serialization failure, deadlock, and a key that another transaction wrote first: on the second try it is found."""
_AWAY_CLASSES = frozenset({"08", "53", "57", "58"})
"""Connection, resources, an operator's hand, the server's own system."""
_READ_ONLY = "25006"
"""What a standby says to a writer, also after a fail-over until it is promoted."""


def is_blip(error: BaseException) -> bool:
    """True for what a second try within the same attempt can cure: a lock, a lost connection, another who was first."""
    if not isinstance(error, DBAPIError):
        return False
    state = getattr(error.orig, "sqlstate", None)
    return error.connection_invalidated or state in _BLIP_STATES or "database is locked" in str(error.orig)


def is_away(error: Exception) -> bool:
    """Whether the database, not the work, is the reason."""
    if isinstance(error, OperationalError | PoolTimeout):
        return True
    state = getattr(getattr(error, "orig", None), "sqlstate", None) or ""
    return bool(getattr(error, "connection_invalidated", False)) or state[:2] in _AWAY_CLASSES or state == _READ_ONLY


def is_damage(error: Exception) -> bool:
    """Whether SQLite cannot read its file."""
    code = getattr(getattr(error, "orig", error), "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


_WHY = (
    ("refused", "nothing listens there"),
    ("resolve", "its host is not known"),
    ("authentication failed", "it knows another user or password"),
    ("does not exist", "it has no such database or user"),
    ("starting up", "it is starting"),
    ("shutting down", "it is shutting down"),
    ("too many", "it has no connection left"),
    ("remaining connection slots", "it has no connection left"),
    ("imeout", "it took too long"),
)
"""A part of what a driver says, and our words for it: its own may quote the URL or a row."""


def why(error: Exception) -> str:
    """Why the database does not answer, as people can be told."""
    original = getattr(error, "orig", None) or error
    told = str(original)
    return next((words for part, words in _WHY if part in told), type(original).__name__)
