"""The SQL of the embedded index: one SQLite file per generation, and no SQL of it elsewhere.

A row per memory, under the key (space number << 32) | sequence, so that a space is one range scan. A row never changes: replacing a
memory deletes its row and adds one with a higher sequence. So a reader that knows the space as of change c fetches what is above its
highest key and what `gone` lists after c, and checks the count; where that differs (c is older than the list), it compares all keys.

Words are kept per document (hash of the term, frequency) rather than as postings: one row to write and to erase instead of thirty,
no word of a deleted memory left in a dictionary, and inverting a space's words in memory takes less time than reading its vectors.
"""

import sqlite3
import time
from pathlib import Path

from hindwise.errors import DimensionMismatch, IndexUnavailable
from hindwise.files import make_private
from hindwise.text.tokens import TOKENIZER_VERSION

FORMAT = "1"
BUSY_TIMEOUT_S = 20.0
"""How long a write waits for another process's write."""

_PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=NORMAL",  # a projection: what a power cut loses is written again from the ledger
    "PRAGMA secure_delete=ON",
    "PRAGMA temp_store=MEMORY",
)

_TABLES = (
    "CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    # AUTOINCREMENT: the number of a dropped space is never given again, so no cache can mistake one for the other.
    "CREATE TABLE IF NOT EXISTS space (space_no INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE,"
    " docs INTEGER NOT NULL DEFAULT 0, changes INTEGER NOT NULL DEFAULT 0, next_seq INTEGER NOT NULL DEFAULT 1)",
    "CREATE TABLE IF NOT EXISTS doc (key INTEGER PRIMARY KEY, space_no INTEGER NOT NULL, memory_id TEXT NOT NULL, kind TEXT NOT NULL,"
    " recorded_at_ms INTEGER NOT NULL, terms BLOB NOT NULL, vector BLOB)",
    # Numbers only: which keys the newest changes removed.
    "CREATE TABLE IF NOT EXISTS gone (space_no INTEGER, change INTEGER, key INTEGER, PRIMARY KEY (space_no, change, key)) WITHOUT ROWID",
    "CREATE UNIQUE INDEX IF NOT EXISTS doc_memory ON doc (space_no, memory_id)",
)

SELECT_SPACE = "SELECT space_no, docs, changes, next_seq FROM space WHERE name = ?"
SELECT_THERE = "SELECT 1 FROM space WHERE space_no = ?"
ADD_SPACE = "INSERT INTO space (name) VALUES (?) RETURNING space_no, docs, changes, next_seq"
UPDATE_SPACE = "UPDATE space SET docs = ?, changes = changes + 1, next_seq = ? WHERE space_no = ?"
DROP_SPACE = "DELETE FROM space WHERE space_no = ?"
ANY_DOC = "SELECT 1 FROM doc LIMIT 1"
ADD_DOC = "INSERT INTO doc (key, space_no, memory_id, kind, recorded_at_ms, terms, vector) VALUES (?, ?, ?, ?, ?, ?, ?)"
DELETE_DOC = "DELETE FROM doc WHERE space_no = ? AND memory_id = ? RETURNING key"
ADD_GONE = "INSERT INTO gone (space_no, change, key) VALUES (?, ?, ?)"
SELECT_GONE = "SELECT key FROM gone WHERE space_no = ? AND change > ?"
FORGET_GONE = "DELETE FROM gone WHERE space_no = ? AND change <= ?"
DELETE_RANGE = "DELETE FROM doc WHERE key BETWEEN ? AND ?"
SELECT_DOCS = "SELECT key, memory_id, kind, terms, vector FROM doc WHERE key BETWEEN ? AND ? ORDER BY key"
SELECT_KEYS = "SELECT key FROM doc INDEXED BY doc_memory WHERE space_no = ?"
SELECT_IDS = "SELECT memory_id FROM doc WHERE space_no = (SELECT space_no FROM space WHERE name = ?)"
"""One statement, so that a drop between two cannot mix two states."""
SELECT_META = "SELECT value FROM meta WHERE key = ?"

GONE_KEPT = 1_000
"""How many changes the list of removed keys reaches back."""
MAX_SEQ = (1 << 32) - 1


def first_key(space_no: int, seq: int = 0) -> int:
    """The key of a space's row number `seq`."""
    return (space_no << 32) | seq


def last_key(space_no: int) -> int:
    """The highest key that a space can have."""
    return (space_no << 32) | MAX_SEQ


def connect(path: Path, *, may_create: bool) -> sqlite3.Connection:
    """Open a connection in autocommit mode: transactions are begun by hand, so that a read never takes the write lock.

    `may_create` False: a file that vanished is an error, and no empty one takes its place.
    """
    if may_create:
        make_private(path)
    uri = f"{path.resolve().as_uri()}?mode={'rwc' if may_create else 'rw'}"
    connection = sqlite3.connect(uri, uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
    try:
        for pragma in _PRAGMAS:
            _patiently(connection, pragma)
    except BaseException:
        connection.close()
        raise
    return connection


def _patiently(connection: sqlite3.Connection, statement: str) -> None:
    """Switching a new file to WAL does not wait for the busy timeout when another process does the same: wait here."""
    deadline = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            connection.execute(statement).close()
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def create(connection: sqlite3.Connection, *, dim: int, tokenizer: int = TOKENIZER_VERSION) -> None:
    """Make the tables where they are missing, and check that the file was made for this dimension, format and tokenizer.

    Raises DimensionMismatch, or IndexUnavailable for a file of another format or tokenizer.
    """
    wanted = {"dim": str(dim), "format": FORMAT, "tokenizer": str(tokenizer)}
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statement in _TABLES:
            connection.execute(statement)
        connection.executemany("INSERT OR IGNORE INTO meta (key, value) VALUES (?, ?)", list(wanted.items()))
        found = dict(connection.execute("SELECT key, value FROM meta").fetchall())
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    if found["dim"] != wanted["dim"]:
        raise DimensionMismatch(
            f"the index holds vectors of {found['dim']} numbers, the embedder gives {dim}: move the file away and restart"
        )
    if (found["format"], found["tokenizer"]) != (wanted["format"], wanted["tokenizer"]):
        raise IndexUnavailable(
            "the index file was written by another version of Hindwise: move it away and restart, it is built again from the ledger"
        )
