"""`make cluster` says what it did; addresses are told only where they stay open."""

import argparse
import os
import subprocess
from pathlib import Path

import pytest

from bench import cluster as command
from tests.processes import ROOT


class FakeCluster:
    """Answers at once; the first look after the start is interrupted, as by Ctrl-C."""

    url, ui_url, data = "http://127.0.0.1:1", "http://127.0.0.1:2", Path("data")

    class weaviate:
        url = "http://127.0.0.1:3"

    class postgres:
        url = "postgresql://127.0.0.1:4"

    def start(self):
        return self

    def pids(self):
        return {"api-1": 7}

    def revive(self):
        raise KeyboardInterrupt

    def close(self):
        return []


def test_where_it_is_kept_the_addresses_are_told_last_and_ctrl_c_ends_it(capsys):
    asked = argparse.Namespace(keep=True, no_demo=True, json=None)
    assert command._run(FakeCluster(), asked) == 0
    told = capsys.readouterr().out
    assert told.index("Done:") < told.index("It stays up until Ctrl-C") < told.index("http://127.0.0.1:1/docs") < told.index("Stopping")
    assert told.rstrip().endswith("Nothing is left running.")


@pytest.mark.parametrize(
    ("blows", "promises", "said"),
    [
        ({"blows": [{"name": "api-1"}, {"name": "ledger"}]}, {"a": True, "b": False}, ["killed api-1, ledger", "1 of its 2 promises"]),
        (None, {"a": True}, ["1 of its 1 promises"]),
        (None, {}, ["started"]),
    ],
)
def test_the_summary_says_what_was_killed_and_what_was_kept(blows, promises, said):
    summary = command.summary(blows, promises)
    assert all(part in summary for part in said)
    assert "http" not in summary


@pytest.mark.parametrize(("keep", "option"), [("", False), ("KEEP=1", True)])
def test_the_make_target_keeps_it_where_it_is_asked_to(keep, option):
    # Without what a `make test` around it hands down, such as that it says where it works.
    own = {name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES"}}
    command = ["make", "-n", "cluster", *filter(None, [keep])]
    told = subprocess.run(command, cwd=ROOT, env=own, capture_output=True, text=True, timeout=30, check=True)
    assert ("--keep" in told.stdout.splitlines()[-1]) is option
