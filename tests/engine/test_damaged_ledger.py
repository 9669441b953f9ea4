"""A ledger that SQLite cannot read is told in one sentence, with what to do."""

import pytest

from hindwise.engine import open_engine
from hindwise.errors import InvalidInput, LedgerUnavailable
from hindwise.ledger.engine import make_engine
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
