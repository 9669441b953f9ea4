"""A ledger with today's tables and nothing in them, as a first start leaves it: migrated once in each test process, then copied.

How a ledger comes to its tables is tested in `conformance/ledger/test_migrations.py`, and by every process that a test starts.
"""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from hindwise.ledger.databases import make_engine
from hindwise.ledger.migrate import upgrade


def migrate_at(url: str) -> None:
    """Bring the database at `url` to today's tables."""
    engine = make_engine(url)
    try:
        with engine.begin() as conn:
            upgrade(conn)
    finally:
        engine.dispose()


@cache
def _migrated() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.db"
        migrate_at(f"sqlite:///{path}")
        return path.read_bytes()


def with_tables(data: Path, name: str = "ledger.db") -> Path:
    """Put a fresh ledger into a data directory that has none; return its path."""
    path = data / name
    if not path.exists():
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_bytes(_migrated())
    return path
