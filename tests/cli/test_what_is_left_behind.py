"""What commands leave on the disk: nothing where they were refused, and what holds memories or keys is its owner's alone."""

import asyncio
import os
import socket

import pytest

from hindwise.cli import exits
from hindwise.cli.up import prepare
from hindwise.engine import open_engine
from hindwise.settings import Settings
from tests.shell import hindwise


def modes(folder):
    """Of every file and folder, by name."""
    return {path.relative_to(folder).as_posix(): path.stat().st_mode & 0o777 for path in folder.rglob("*")}


@pytest.fixture
def open_umask():
    """As a careless server has it: without a hand of ours every file would be everybody's."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.parametrize("command", ["up", "api"])
def test_a_start_that_is_refused_for_its_port_leaves_no_directory(tmp_path, command):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        told = hindwise(command, "--data", "new/data", "--port", str(taken.getsockname()[1]), cwd=tmp_path)
    assert told.returncode == exits.USAGE
    assert "is in use" in told.stderr
    assert "--port 0" in told.stderr
    assert list(tmp_path.iterdir()) == []


def test_listing_keys_makes_no_ledger_and_says_who_makes_a_key(tmp_path):
    told = hindwise("keys", "list", cwd=tmp_path)
    assert (told.returncode, told.stdout) == (0, "")
    assert "hindwise up" in told.stderr
    assert hindwise("keys", "list", "--json", cwd=tmp_path).stdout.strip() == "[]"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", [["keys", "create", "x"], ["migrate"]], ids=lambda words: words[0])
def test_what_a_command_makes_is_its_owners_alone(tmp_path, open_umask, command):
    assert hindwise(*command, cwd=tmp_path, HINDWISE_EMBED="none").returncode == 0
    found = modes(tmp_path)
    assert ".hindwise/ledger.db" in found
    assert found.pop(".hindwise") == 0o700
    assert set(found.values()) == {0o600}, found


async def test_ledger_index_and_their_logs_are_private_while_they_are_used(tmp_path, open_umask):
    settings = Settings(_env_file=None, data=tmp_path / "data", embed="none")
    async with open_engine(settings) as engine:
        await engine.ledger.read(lambda conn: None)
        found = await asyncio.to_thread(modes, settings.data)
    assert {"ledger.db", "ledger.db-wal", "ledger.db-shm", "index-1.db", "secret.key"} <= found.keys()
    assert set(found.values()) == {0o600}, found
    assert settings.data.stat().st_mode & 0o777 == 0o700


def test_files_that_stood_open_are_shut_at_the_next_start(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    for name in ("ledger.db", "ledger.db-wal", "index-1.db", "temporal.db"):
        (data / name).touch()
        (data / name).chmod(0o644)
    data.chmod(0o755)
    prepare(Settings(_env_file=None, data=data))
    assert set(modes(data).values()) == {0o600}
    assert data.stat().st_mode & 0o777 == 0o700
