"""What does an error of a database mean? A blip, that it is away, damaged, or of another version; and why, in words of our own."""

import sqlite3

from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

_BLIP_STATES = frozenset({"40001", "40P01", "23505"})
"""Serialization failure, deadlock, and a key that another transaction wrote first: on the second try it is found."""
_AWAY_CLASSES = frozenset({"08", "53", "57", "58"})
"""Connection, resources, an operator's hand, the server's own system."""
_READ_ONLY = "25006"
"""What a standby says to a writer, also after a fail-over until it is promoted."""
_NOT_ALLOWED = frozenset({"42501", "3F000"})
"""Its user may not make or touch our tables, or has no schema for them: what an owner of the database cures."""


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
    return (
        bool(getattr(error, "connection_invalidated", False)) or state[:2] in _AWAY_CLASSES or state == _READ_ONLY or state in _NOT_ALLOWED
    )


def is_damage(error: Exception) -> bool:
    """Whether SQLite cannot read its file."""
    code = getattr(getattr(error, "orig", error), "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


_OTHER_SHAPE_STATES = frozenset({"42703", "42P01", "42701", "42P07"})
"""A column or table that is not there, or that a migration would make and is."""
_OTHER_SHAPE_WORDS = ("no such column", "no such table", "has no column named", "duplicate column name", "already exists")
"""What SQLite says, which has no codes for it."""
_MAX_NAME_CHARS = 160


def is_of_another_version(error: Exception) -> bool:
    """Whether the tables are not those that this version asks for: no second try cures that."""
    original = getattr(error, "orig", None) or error
    if isinstance(original, sqlite3.OperationalError):
        return any(part in str(original) for part in _OTHER_SHAPE_WORDS)
    return getattr(original, "sqlstate", None) in _OTHER_SHAPE_STATES


def what_differs(error: Exception) -> str:
    """The column or table that differs, as the driver names it: a name of our own, with no value and no row."""
    return (str(getattr(error, "orig", None) or error).splitlines() or [""])[0][:_MAX_NAME_CHARS]


_UNTIL_THEN = "make room, then it goes on by itself"
_WHY = (
    ("refused", "nothing listens there"),
    ("resolve", "its host is not known"),
    ("sslmode value", "the sslmode in its URL is none"),
    ("support SSL", "it does not speak TLS, which sslmode in its URL asks for"),
    ("certificate", "TLS with it fails: look at sslmode and sslrootcert in its URL"),
    ("authentication failed", "it knows another user or password"),
    ("does not exist", "it has no such database or user"),
    ("starting up", "it is starting"),
    ("shutting down", "it is shutting down"),
    ("too many", "it has no connection left"),
    ("remaining connection slots", "it has no connection left"),
    ("permission denied", "its user may not do that: make it the owner of the database, or GRANT USAGE, CREATE ON SCHEMA public to it"),
    ("no schema has been selected", "its search_path names no schema that exists"),
    ("read-only transaction", "it takes no writes: it is a standby, or default_transaction_read_only is on"),
    ("invalid port", "the port in its URL is none"),
    ("imeout", "it took too long"),
    ("disk is full", f"the disk is full; {_UNTIL_THEN}"),
    ("No space left", f"its server's disk is full; {_UNTIL_THEN}"),
    ("readonly database", "its file cannot be written: look at the owner, mode and mount of the data directory"),
    ("unable to open database", "its file cannot be opened: look at the owner, mode and mount of the data directory"),
    ("disk I/O error", "the disk of the data directory fails, or is full: look at the system's log"),
)
"""A part of what a driver says, and our words for it: its own may quote the URL or a row."""


def why(error: Exception) -> str:
    """Why the database does not answer, as people can be told."""
    original = getattr(error, "orig", None) or error
    told = str(original)
    return next((words for part, words in _WHY if part in told), type(original).__name__)
