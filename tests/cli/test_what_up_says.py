"""The line that `hindwise up` gives to try next can be pasted into a second terminal."""

import sys

import pytest

from hindwise.cli import words
from hindwise.cli.up import own_command


@pytest.fixture
def started(tmp_path, monkeypatch):
    """As `make up` starts it: by the way to its file, in a folder whose environment is not on PATH."""
    command = tmp_path / "my folder" / ".venv" / "bin" / "hindwise"
    command.parent.mkdir(parents=True)
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    monkeypatch.chdir(tmp_path / "my folder")
    monkeypatch.setattr(sys, "argv", [".venv/bin/hindwise", "up"])
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    return command


def test_without_its_folder_on_the_path_it_is_named_by_the_way_to_its_file(started):
    assert own_command() == ".venv/bin/hindwise"
    assert words.say("try_line", "zh", command=own_command(), data="").startswith(".venv/bin/hindwise remember ")


def test_on_the_path_it_is_named_alone(started, monkeypatch):
    monkeypatch.setenv("PATH", f"{started.parent}:/usr/bin:/bin")
    assert own_command() == "hindwise"


def test_from_elsewhere_the_way_is_whole_and_quoted(started, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path.parent)
    monkeypatch.setattr(sys, "argv", [str(started), "up"])
    assert own_command() in {f"'{started}'", f"'{started.relative_to(tmp_path.parent)}'"}


def test_run_as_a_module_it_is_named_as_people_know_it(started, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/somewhere/hindwise/cli/__main__.py", "up"])
    assert own_command() == "hindwise"
