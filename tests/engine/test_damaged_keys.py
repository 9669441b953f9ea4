"""A key file that was cut is told, not used."""

import pytest

from api.bootstrap import ensure_first_key
from hindwise.engine import open_engine
from hindwise.errors import InvalidInput
from hindwise.settings import Settings
from hindwise.testing import FixedClock, HashedEmbedder


def settings(data):
    return Settings(_env_file=None, data=data)  # type: ignore[call-arg]


async def test_a_secret_that_was_cut_stops_the_start_and_says_what_to_do(tmp_path):
    (tmp_path / "secret.key").write_text("zz")
    with pytest.raises(InvalidInput, match="backup"):
        async with open_engine(settings(tmp_path), FixedClock(), HashedEmbedder()):
            raise AssertionError("opened with a damaged secret")


async def test_an_empty_key_file_on_a_new_ledger_stops_the_start_and_says_what_to_do(tmp_path):
    (tmp_path / "api_key").write_text("")
    async with open_engine(settings(tmp_path), FixedClock(), HashedEmbedder()) as engine:
        with pytest.raises(InvalidInput, match="remove it"):
            await ensure_first_key(engine)
