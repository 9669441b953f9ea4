"""Which API a command means: one started alone on the data directory, one at the usual address; and what is said where none is meant."""

import json
import os
import socket
import sys
import threading
from contextlib import contextmanager

import pytest

from hindwise.cli import exits, readiness, serving
from hindwise.cli.supervisor import processes
from hindwise.settings import Settings
from tests.nobody import nobody_at
from tests.processes import Process, environment, until
from tests.shell import fake_api, hindwise

READY = {"status": "degraded", "ledger": "ok", "index": "ok", "temporal": "unavailable", "note": None}
PAGE = {("GET", "/v1/memories"): (200, {"items": [], "next_cursor": None}), ("GET", "/readyz"): (200, READY)}


def port_of(api):
    return api.url.rpartition(":")[2]


def asked_keys(api):
    return [key for _, path, _, key in api.asked if path.startswith("/v1")]


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """`hindwise api` by itself, as a person starts it in a folder; Temporal is away."""
    home = tmp_path_factory.mktemp("alone")
    env = environment(home / ".hindwise", {"HINDWISE_TEMPORAL_ADDRESS": nobody_at()})
    del env["HINDWISE_DATA"]
    process = Process("api", [sys.executable, "-m", "hindwise.cli", "api", "--port", "0"], env, home).start()
    try:
        until(lambda: serving.local(home / ".hindwise") and readiness.ask_ready(serving.local(home / ".hindwise").api_url)[0], "API up")
        yield home
    finally:
        process.stop()
    assert serving.local(home / ".hindwise") is None, "it takes its note along"


def test_every_command_beside_an_api_that_was_started_alone_finds_it_and_its_key(alone):
    kept = hindwise("remember", "I prefer window seats", "--user", "ana", cwd=alone)
    assert kept.returncode == 0, kept.stderr
    told = hindwise("recall", "该订什么座位 seat?", "--user", "ana", cwd=alone)
    assert "window seats" in told.stdout, told.stderr
    told = hindwise("status", cwd=alone)
    assert told.returncode == 0, told.stderr
    assert serving.local(alone / ".hindwise").api_url in told.stdout
    assert "temporal unavailable" in told.stdout
    assert "1 active" in told.stdout


def test_doctor_says_how_it_does_and_where_its_key_lies_without_telling_the_key(alone):
    report = hindwise("doctor", "--json", cwd=alone, HINDWISE_EMBED="none").stdout
    found = {finding["name"]: finding for finding in json.loads(report)["findings"]}
    assert serving.local(alone / ".hindwise").api_url in found["running"]["detail"]
    assert "temporal unavailable" in found["running"]["detail"]
    assert str(alone / ".hindwise" / "api_key") in found["key"]["detail"]
    assert readiness.first_key(alone / ".hindwise") not in report


def test_an_api_at_the_usual_address_is_asked_where_nobody_named_another(tmp_path):
    with fake_api(PAGE) as api:
        told = hindwise("list", cwd=tmp_path, HINDWISE_PORT=port_of(api), HINDWISE_API_KEY="hw_mine")
    assert told.returncode == 0, told.stderr
    assert f"asking the API at {api.url}" in told.stderr
    assert asked_keys(api) == ["Bearer hw_mine"]


def test_it_is_never_shown_the_key_of_a_directory_it_does_not_serve(tmp_path):
    (tmp_path / ".hindwise").mkdir()
    (tmp_path / ".hindwise" / "api_key").write_text("hw_of_this_directory\n")
    with fake_api({**PAGE, ("GET", "/v1/memories"): (401, {"detail": "no key"})}) as api:
        told = hindwise("list", cwd=tmp_path, HINDWISE_PORT=port_of(api))
    assert (told.returncode, asked_keys(api)) == (exits.FAILED, [None])
    assert "HINDWISE_API_KEY" in told.stderr
    assert "--data" in told.stderr


@pytest.mark.parametrize("command", [("list",), ("status",)])
def test_where_a_directory_is_named_another_ones_api_is_told_and_not_used(tmp_path, command):
    with fake_api(PAGE) as api:
        told = hindwise(*command, "--data", "mine", cwd=tmp_path, HINDWISE_PORT=port_of(api))
    assert told.returncode == exits.UNREACHABLE
    assert "no Hindwise runs in mine" in told.stderr
    assert f"--url {api.url}" in told.stderr
    assert asked_keys(api) == []


def test_status_asks_the_address_that_it_is_given(tmp_path):
    with fake_api(PAGE) as api:
        told = hindwise("status", "--url", api.url, "--json", cwd=tmp_path)
    assert (told.returncode, json.loads(told.stdout)["checks"]["status"]) == (0, "degraded")


def test_a_key_that_the_api_does_not_know_is_told_by_where_it_came_from(tmp_path):
    with fake_api({("GET", "/v1/memories"): (401, {"detail": "this key is not known here"})}) as api:
        told = hindwise("list", "--url", api.url, "--key", "hw_other", cwd=tmp_path)
    assert "look at HINDWISE_API_KEY and --key" in told.stderr
    assert "hw_other" not in told.stderr


@contextmanager
def something_else(says):
    """A server that is no Hindwise."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer():
            try:
                with server.accept()[0] as caller:
                    caller.recv(4096)
                    caller.sendall(says)
            except OSError:
                return

        thread = threading.Thread(target=answer)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


@pytest.mark.parametrize("says", [b"220 ready\r\n", b"HTTP/1.0 200 OK\r\n\r\n{}", b"HTTP/1.0 404 No\r\n\r\n<html>"])
def test_another_server_at_the_usual_address_is_not_taken_for_ours(says):
    with something_else(says) as port:
        assert serving.answers_there(Settings(_env_file=None, port=port)) == ""


def test_the_note_of_a_dead_api_counts_as_none_and_goes_with_the_next_one(tmp_path):
    (tmp_path / "serving").mkdir()
    dead = {"api_url": "http://127.0.0.1:9", "pid": os.getpid(), "mark": "of another process with this pid"}
    (tmp_path / "serving" / "1.json").write_text(json.dumps(dead))
    (tmp_path / "serving" / "2.json").write_text("{")
    assert serving.local(tmp_path) is None
    with serving.told(tmp_path, "http://127.0.0.1:8"):
        assert processes.start_mark(os.getpid())
        assert serving.local(tmp_path).api_url == "http://127.0.0.1:8"
        assert not (tmp_path / "serving" / "1.json").exists()
    assert serving.local(tmp_path) is None
