"""Every process of an installation hashes with one secret, or does not start: on Postgres, where they may stand on several machines."""

import pytest
from structlog.testing import capture_logs

from hindwise.engine import agree_on_secret, installation_secret
from hindwise.errors import InvalidInput
from hindwise.ledger import installation
from hindwise.ledger.engine import Ledger
from hindwise.ledger.migrate import migrate
from hindwise.settings import Settings


@pytest.fixture
async def ledger(postgres_url):
    opened = Ledger(postgres_url)
    yield opened
    await opened.close()


async def test_the_first_to_ask_says_which_it_is_and_nobody_can_read_it(ledger):
    ours, other = b"ours-" * 8, b"other" * 8
    assert [await ledger.write(lambda conn, key=key: installation.agrees(conn, key)) for key in (ours, ours, other, ours)] == [
        True,
        True,
        False,
        True,
    ]
    kept = await ledger.read(lambda conn: [tuple(row) for row in conn.execute(installation.installation.select())])
    assert len(kept) == 1
    assert ours.decode() not in str(kept)


async def test_a_process_with_another_secret_does_not_start(ledger):
    await agree_on_secret(ledger, b"one" * 11)
    with pytest.raises(InvalidInput, match="HINDWISE_SECRET_KEY"):
        await agree_on_secret(ledger, b"two" * 11)


async def test_on_one_machine_a_lost_secret_may_be_replaced(tmp_path):
    alone = Ledger(f"sqlite:///{tmp_path / 'ledger.db'}")
    try:
        await migrate(alone)
        await agree_on_secret(alone, b"one" * 11)
        await agree_on_secret(alone, b"two" * 11)
    finally:
        await alone.close()


def test_a_secret_that_can_be_guessed_is_told_at_the_start_and_taken(tmp_path):
    for short, is_told in {"s" * 15: True, "密" * 15: True, "s" * 16: False}.items():
        with capture_logs() as logs:
            assert installation_secret(Settings(_env_file=None, data=tmp_path, secret_key=short)) == short.encode()
        assert [log["event"] for log in logs] == ["secret_is_short"] * is_told
        assert short not in str(logs)
