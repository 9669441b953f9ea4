"""`hindwise up` as people and service managers meet it: real Temporal, real worker, real API, real signals."""

import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hindwise.cli.readiness import is_ready
from hindwise.cli.supervisor import processes
from hindwise.cli.supervisor.processes import Known

CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("HINDWISE_", "LLM_", "EMBEDDING_"))}
START_LIMIT_S = 90.0
FIELDS = {"api_url", "api_key", "temporal_address", "temporal_ui_url", "pid", "temporal_server_pid", "worker_pid", "api_pid"}


def wait_for(question: Callable[[], Any], limit_s: float, what: str) -> Any:
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        if answer := question():
            return answer
        time.sleep(0.05)
    raise AssertionError(f"{what} did not happen within {limit_s:.0f} s")


class Up:
    """A running `hindwise up` of one test, and everything that it started."""

    def __init__(self, data: Path, *arguments: str, **env: str) -> None:
        self.data = data
        # Whoever runs us may have packages of these names; ours must be the ones that are imported.
        for name in ("api", "activities"):
            (data.parent / name).mkdir(exist_ok=True)
            (data.parent / name / "__init__.py").write_text("raise RuntimeError('not ours')")
        self.ready_file = data.parent / f"{data.name}.ready.json"
        command = [sys.executable, "-m", "hindwise.cli", "up", "--data", str(data), "--port", "0", "--ready-file", str(self.ready_file)]
        self.process = subprocess.Popen(
            [*command, *arguments],
            cwd=data.parent,
            env={**CLEAN, "HINDWISE_EMBED": "none", **env},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.started: set[Known] = set()

    def told(self) -> dict[str, Any] | None:
        with contextlib.suppress(OSError):
            found: dict[str, Any] = json.loads(self.ready_file.read_text())
            for name in ("pid", "temporal_server_pid", "worker_pid", "api_pid"):
                if (pid := found[name]) and (mark := processes.start_mark(pid)):
                    self.started.add(Known(pid, mark))
            return found
        return None

    def ready(self, which: Callable[[dict[str, Any]], bool] = lambda _: True) -> dict[str, Any]:
        def look() -> dict[str, Any] | None:
            if self.process.poll() is not None:
                raise AssertionError(f"up ended with {self.process.returncode}: {self.process.communicate()}")
            found = self.told()
            return found if found and which(found) else None

        answer: dict[str, Any] = wait_for(look, START_LIMIT_S, "being ready")
        return answer

    def end(self, number: signal.Signals = signal.SIGTERM, limit_s: float = 20.0) -> tuple[int, str, str]:
        self.told()
        self.process.send_signal(number)
        output, errors = self.process.communicate(timeout=limit_s)
        return self.process.returncode, output, errors

    def alive(self) -> set[int]:
        """Pids of ours that still run."""
        return {known.pid for known in self.started if processes.is_same(known)}

    def clean_up(self) -> None:
        if self.process.poll() is None:
            self.end()
        for stream in (self.process.stdout, self.process.stderr):
            stream.close()
        for known in self.started:
            if processes.is_same(known):
                os.kill(known.pid, signal.SIGKILL)


@pytest.fixture
def up(tmp_path) -> Iterator[Callable[..., Up]]:
    begun: list[Up] = []

    def begin(*arguments: str, **env: str) -> Up:
        begun.append(Up(tmp_path / "data", *arguments, **env))
        return begun[-1]

    yield begin
    for each in begun:
        each.clean_up()


@pytest.fixture(scope="module")
def shared(tmp_path_factory) -> Iterator[Up]:
    """One running Hindwise for the tests that leave it as it was."""
    each = Up(tmp_path_factory.mktemp("shared") / "data")
    try:
        each.ready()
        yield each
    finally:
        each.clean_up()


def ask(url: str) -> tuple[int, bytes]:
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=10) as answer:
        return answer.status, answer.read()


def hindwise(shared: Up, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hindwise.cli", *arguments, "--data", str(shared.data)]
    return subprocess.run(
        command,
        cwd=shared.data.parent,
        env={**CLEAN, "HINDWISE_EMBED": "none"},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )


def test_a_look_at_its_temporal_means_the_one_that_up_started(shared):
    told = hindwise(shared, "setup-temporal", "--check", "--json")
    assert told.returncode == 0, told.stderr
    assert json.loads(told.stdout)["address"] == shared.ready()["temporal_address"]


@contextlib.contextmanager
def role(shared: Up, *words: str) -> Iterator[Path]:
    """A role that a person starts beside it, in the same data directory; what it writes."""
    log = shared.data.parent / f"{words[0]}.log"
    command = [sys.executable, "-P", "-m", "hindwise.cli", *words, "--data", str(shared.data)]
    with log.open("wb") as file:
        process = subprocess.Popen(command, cwd=shared.data.parent, env={**CLEAN, "HINDWISE_EMBED": "none"}, stdout=file, stderr=file)
    try:
        yield log
    finally:
        process.terminate()
        process.wait(timeout=30)


def test_an_api_and_a_worker_that_are_started_beside_it_find_its_temporal(shared):
    address = shared.ready()["temporal_address"]

    def first_line(log: Path, begin: str) -> str:
        return next((line for line in log.read_text().splitlines() if line.startswith(begin)), "")

    with (
        role(shared, "api", "--port", "0") as api,
        role(shared, "worker", "--ready-file", str(shared.data.parent / "worker.ready")) as worker,
    ):
        url = wait_for(lambda: first_line(api, "listening on "), START_LIMIT_S, "listening").split()[-1]
        wait_for(lambda: is_ready(url), START_LIMIT_S, "an API that reaches Temporal")
        wait_for((shared.data.parent / "worker.ready").exists, START_LIMIT_S, "a worker that takes work")
        for log in (api, worker):
            assert f"Temporal: {address}, the one of the `hindwise up`" in log.read_text()


def test_the_ready_file_tells_all_and_only_its_owner_may_read_it(shared):
    told = shared.ready()
    assert set(told) == FIELDS
    assert stat.S_IMODE(shared.ready_file.stat().st_mode) == 0o600
    assert json.loads((shared.data / "up.json").read_text()) == told
    assert told["api_key"].startswith("hw_")
    assert len({told[name] for name in FIELDS if name.endswith("pid")}) == 4
    assert shared.alive() == {told[name] for name in FIELDS if name.endswith("pid")}


def test_every_link_answers(shared):
    told = shared.ready()
    assert json.loads(ask(f"{told['api_url']}/readyz")[1])["status"] == "ready"
    assert ask(f"{told['api_url']}/docs")[0] == 200
    assert b"<html" in ask(told["temporal_ui_url"])[1].lower()


def test_everything_in_the_data_directory_is_private(shared):
    shared.ready()
    assert stat.S_IMODE(shared.data.stat().st_mode) == 0o700
    open_to_others = [path.name for path in shared.data.rglob("*") if path.stat().st_mode & 0o077]
    assert open_to_others == []


def test_what_is_remembered_is_recalled_listed_and_shown(shared):
    made = json.loads(hindwise(shared, "remember", "我喜欢靠过道的座位", "-u", "xiao", "--json").stdout)
    brief = hindwise(shared, "recall", "订一个靠过道的座位", "-u", "xiao")
    assert (brief.returncode, "靠过道" in brief.stdout) == (0, True)
    explained = hindwise(shared, "recall", "靠过道的座位", "-u", "xiao", "--explain")
    assert "relevance" in explained.stdout
    listed = json.loads(hindwise(shared, "list", "-u", "xiao", "--json").stdout)
    assert [item["memory_id"] for item in listed["items"]] == [made["id"]]
    shown = hindwise(shared, "show", made["id"])
    assert (shown.returncode, "靠过道" in shown.stdout) == (0, True)
    assert hindwise(shared, "show", "00000000-0000-0000-0000-000000000000").returncode == 1


def test_a_transcript_is_reflected_on_once_and_shown(shared):
    chat = json.dumps(
        [
            {"role": "user", "content": "Refund order 4410. From now on always answer in one short sentence."},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c1", "function": {"name": "refund", "arguments": '{"order": "4410"}'}}],
            },
            {"role": "tool", "tool_call_id": "c1", "name": "refund", "content": "Error: order 4410 is not paid"},
            {"role": "assistant", "content": "The refund failed because the order is not paid."},
        ]
    )
    options = ("-", "-u", "ana", "-a", "shop", "--goal", "refund an order", "--outcome", "failure", "--note", "refund is missing")
    told = hindwise(shared, "reflect", *options, stdin=chat)
    assert told.returncode == 0, told.stderr + told.stdout
    assert "completed: reflection" in told.stdout
    again = json.loads(hindwise(shared, "reflect", *options, "--no-wait", "--json", stdin=chat).stdout)
    assert again["duplicate"] is True
    listed = json.loads(hindwise(shared, "reflections", "list", "--json").stdout)
    assert [item["reflection_id"] for item in listed["items"]] == [again["reflection_id"]]
    shown = hindwise(shared, "reflections", "show", again["reflection_id"])
    assert "completed" in shown.stdout
    status = json.loads(hindwise(shared, "status", "--json").stdout)
    assert (status["ready"], status["reflections"]) == (True, {"completed": 1})


def test_doctor_finds_everything_in_order(shared):
    told = hindwise(shared, "doctor", "--json")
    report = json.loads(told.stdout)
    assert {finding["name"]: finding["state"] for finding in report["findings"] if finding["state"] != "ok"} == {}
    assert told.returncode == 0


def test_a_second_up_on_the_same_directory_is_refused_and_says_by_whom(shared):
    told = shared.ready()
    second = hindwise(shared, "up", "--port", "0")
    assert second.returncode == 1
    assert f"pid {told['pid']}" in second.stderr
    assert shared.ready() == told


@pytest.mark.parametrize(
    ("number", "lang", "words"),
    [(signal.SIGTERM, "en", "Hindwise is ready"), (signal.SIGINT, "zh", "Hindwise 已就绪")],
    ids=["SIGTERM, in English", "Ctrl-C, in Chinese"],
)
def test_a_signal_ends_the_whole_tree_cleanly(up, number, lang, words):
    running = up("--lang", lang)
    told = running.ready()
    assert running.alive() == {told[name] for name in FIELDS if name.endswith("pid")}
    began = time.monotonic()
    code, output, errors = running.end(number)
    assert code == 0, errors
    assert time.monotonic() - began < 15
    assert running.alive() == set()
    assert words in output
    assert f"{told['api_url']}/docs" in output
    assert "Traceback" not in errors + output
    assert not running.ready_file.exists()
    assert not (running.data / "up.json").exists()


def test_a_signal_while_starting_ends_it_too(up):
    running = up()
    wait_for(lambda: (running.data / "pids" / "temporal.json").exists(), 30, "the start of Temporal")
    known = processes.read_records(running.data / "pids")["temporal"]
    code, _, errors = running.end()
    assert (code, processes.is_same(known)) == (0, False), errors


def test_kill_9_of_the_parent_leaves_no_orphan_and_the_next_up_has_everything(up):
    running = up()
    running.ready()
    assert hindwise(running, "remember", "Ana lives in Bonn", "-u", "ana").returncode == 0
    os.kill(running.process.pid, signal.SIGKILL)
    wait_for(lambda: not running.alive(), 5, "the end of all children")
    running.ready_file.unlink()
    again = up()
    again.ready()
    assert "Bonn" in hindwise(again, "list", "-u", "ana").stdout


def test_a_child_that_is_killed_is_started_again_on_the_same_ports(up):
    running = up("--json")
    first = running.ready()
    running.process.stdout.close()  # whoever read our lines is gone: that must not end anything either
    for name in ("worker_pid", "api_pid", "temporal_server_pid"):
        before = running.ready()
        os.kill(before[name], signal.SIGKILL)
        after = running.ready(lambda told, name=name, before=before: told[name] != before[name])
        assert {field: after[field] for field in FIELDS - {name}} == {field: before[field] for field in FIELDS - {name}}
        assert json.loads(ask(f"{first['api_url']}/readyz")[1])["status"] == "ready"
        assert hindwise(running, "reflect", "-", stdin=json.dumps([{"role": "user", "content": f"Always call me {name}."}])).returncode == 0
    code, _, errors = running.end()
    assert (code, running.alive()) == (0, set())
    assert errors.count("SIGKILL") == 3


def test_leftovers_of_the_same_directory_are_ended_and_strangers_are_not(up, tmp_path):
    sleep = [sys.executable, "-c", "import time; time.sleep(300)"]
    with subprocess.Popen(sleep, start_new_session=True) as orphan, subprocess.Popen(sleep, start_new_session=True) as stranger:
        records = tmp_path / "data" / "pids"
        records.mkdir(parents=True)
        processes.write_record(records, "worker", orphan.pid)
        (records / "api.json").write_text(json.dumps({"pid": stranger.pid, "mark": "the start of another process"}))
        running = up("--json", "--no-auth")
        told = running.ready()
        assert orphan.wait(5) == -signal.SIGTERM
        assert stranger.poll() is None
        stranger.kill()
    # The same run shows that without keys none is needed, and that a script gets JSON and nothing else.
    assert told["api_key"] == ""
    assert ask(f"{told['api_url']}/v1/memories?user_id=ana")[0] == 200
    code, output, errors = running.end()
    assert (code, [json.loads(line) for line in output.splitlines()]) == (0, [told])
    assert "left behind" in errors


def test_wrong_settings_end_it_soon_with_the_reason(up):
    running = up(HINDWISE_EMBED="openai")
    output, errors = running.process.communicate(timeout=60)
    assert running.process.returncode == 1
    assert "EMBEDDING" in errors
    assert "Traceback" not in output + errors
