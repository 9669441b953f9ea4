"""Health checks of containers: the API answers with its ledger, or not; and the directory that cannot be written."""

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from hindwise.cli import healthcheck, up
from hindwise.errors import InvalidInput
from hindwise.settings import Settings
from tests.processes import ROOT


class _Ready(BaseHTTPRequestHandler):
    status = 200

    def do_GET(self) -> None:
        self.send_response(self.status if self.path == "/readyz" else 404)
        self.end_headers()
        self.wfile.write(json.dumps({"status": "degraded"}).encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def port() -> Iterator[int]:
    with HTTPServer(("127.0.0.1", 0), _Ready) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def test_it_is_healthy_while_the_ledger_answers_also_without_index_or_temporal(port, monkeypatch, capsys):
    monkeypatch.setenv("HINDWISE_PORT", str(port))
    assert healthcheck.main() == 0
    monkeypatch.setattr(_Ready, "status", 503)
    assert healthcheck.main() == 1
    assert "not ready" in capsys.readouterr().err


def test_without_an_api_it_is_not_healthy_and_says_so_quickly(monkeypatch, capsys):
    monkeypatch.setenv("HINDWISE_PORT", "1")
    assert healthcheck.main() == 1
    assert "no answer" in capsys.readouterr().err


def test_the_check_imports_next_to_nothing():
    """It runs every few seconds."""
    program = "import sys, hindwise.cli.healthcheck; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert not {"typer", "pydantic", "sqlalchemy", "temporalio", "fastapi"} & set(loaded)


def test_a_directory_that_cannot_be_written_ends_with_the_line_to_run(tmp_path: Path, monkeypatch):
    blocked = tmp_path / "of-somebody-else"
    blocked.mkdir(mode=0o500)
    settings = Settings(_env_file=None, data=blocked / "data")
    monkeypatch.delenv("HINDWISE_IMAGE", raising=False)
    with as_nobody(), pytest.raises(InvalidInput, match=rf"Permission denied.*chown -R \d+:\d+ {blocked / 'data'}$"):
        up.prepare(settings)
    monkeypatch.setenv("HINDWISE_IMAGE", "1")
    with as_nobody(), pytest.raises(InvalidInput, match="on the host: the directory that is mounted there"):
        up.prepare(settings)


@contextlib.contextmanager
def as_nobody():
    """Tests may run as root, whom nothing is forbidden."""
    if os.geteuid():
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_usable_directory_is_left_private_and_clean(tmp_path: Path):
    made = tmp_path / "made-by-hand"
    made.mkdir(mode=0o755)
    assert up.prepare(Settings(_env_file=None, data=made)) == made
    assert made.stat().st_mode & 0o777 == 0o700
    assert list(made.iterdir()) == []
