"""A ledger that SQLite cannot read is told in one sentence, with what to do."""

import pytest

from hindwise.engine import open_engine
from hindwise.errors import InvalidInput, LedgerUnavailable
from hindwise.ledger.databases import make_engine
from hindwise.ledger.engine import Ledger
from hindwise.settings import Settings
from hindwise.testing import FixedClock, HashedEmbedder


async def test_a_damaged_ledger_says_that_a_backup_is_needed(tmp_path):
    (tmp_path / "ledger.db").write_bytes(b"no database at all " * 400)
    with pytest.raises(LedgerUnavailable, match="backup"):
        async with open_engine(Settings(_env_file=None, data=tmp_path), FixedClock(), HashedEmbedder()):  # type: ignore[call-arg]
            pass


def test_a_database_url_that_is_none_is_named_without_its_words():
    with pytest.raises(InvalidInput, match="HINDWISE_DATABASE_URL") as refused:
        make_engine("geheim nonsense")
    assert "geheim" not in refused.value.detail


@pytest.mark.parametrize(
    ("before", "told"),
    [("PRAGMA max_page_count=1", "the disk is full"), ("PRAGMA query_only=ON", "cannot be written")],
    ids=["full", "read-only"],
)
async def test_a_ledger_that_cannot_grow_says_why(tmp_path, before, told):
    ledger = Ledger(f"sqlite:///{tmp_path / 'ledger.db'}")

    def work(conn):
        conn.exec_driver_sql(before)
        conn.exec_driver_sql("CREATE TABLE kept (words TEXT)")
        conn.exec_driver_sql("INSERT INTO kept VALUES (?)", ("记忆" * 9_000,))

    try:
        with pytest.raises(LedgerUnavailable, match=told):
            await ledger.write(work)
    finally:
        await ledger.close()
