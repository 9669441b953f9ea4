"""How commands end where nobody reads on, where an id is empty, where a directory is not there, and where waiting cures nothing."""

import io
import subprocess
import sys

import pytest

from hindwise.cli import app as cli
from hindwise.cli import exits
from hindwise.errors import LedgerDamaged, LedgerUnavailable
from tests.shell import CLEAN, hindwise


@pytest.mark.parametrize("command", ["status", "status --json", "migrate --check", "--help"])
def test_a_command_whose_reader_went_away_ends_quietly_as_others_do(tmp_path, command):
    line = 'exec 3>&1; { "$@"; echo $? >&3; } | exec true'
    told = subprocess.run(
        [
            "/bin/sh",
            "-c",
            line,
            "sh",
            sys.executable,
            "-c",
            "import time; time.sleep(0.3); from hindwise.cli import main; main()",
            *command.split(),
        ],
        cwd=tmp_path,
        env=CLEAN,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (told.stdout.strip(), told.stderr) == (str(exits.NOBODY_READS), "")


@pytest.mark.parametrize(("code", "told"), [(0, 0), (1, exits.NOBODY_READS), (3, 3)])
def test_what_goes_on_unread_ends_as_it_ends(monkeypatch, code, told):
    """As `up`, whose words are read once."""
    monkeypatch.setattr(sys, "stdout", sys.stdout)

    def goes_on(**_):
        sys.stdout = io.StringIO()
        sys.exit(code)

    monkeypatch.setattr(cli, "app", goes_on)
    with pytest.raises(SystemExit) as ended:
        exits.run([])
    assert ended.value.code == told


@pytest.mark.parametrize(
    "command", ["show", "confirm", "session", "reflections show", "reflections retry", "keys revoke"], ids=lambda words: words
)
def test_an_empty_id_is_refused_as_such(tmp_path, command):
    told = hindwise(*command.split(), "", cwd=tmp_path)
    assert told.returncode == exits.USAGE
    assert "it is empty" in told.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [(), ("--check",)], ids=["apply", "check"])
def test_migrating_a_directory_that_is_not_there_makes_none(tmp_path, words):
    told = hindwise("migrate", "--data", str(tmp_path / "typo" / "数据"), *words, cwd=tmp_path)
    assert told.returncode == exits.USAGE
    assert "no such directory" in told.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_ledger_is_not_to_be_waited_for(tmp_path):
    (tmp_path / "ledger.db").write_bytes(b"no database at all " * 400)
    told = hindwise("migrate", "--data", str(tmp_path), cwd=tmp_path)
    assert told.returncode == exits.UNREACHABLE
    assert "backup" in told.stderr
    assert "in a moment" not in told.stderr


def test_a_ledger_that_is_away_still_is():
    assert "in a moment" in exits.explain(LedgerUnavailable("away")).next_step
    assert exits.explain(LedgerDamaged("damaged")).next_step == ""
