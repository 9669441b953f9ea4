"""The supervisor's parts, each by itself: back-off, ports, marks of processes, the lock, logs, the guard."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hindwise.cli import running
from hindwise.cli.running import Running
from hindwise.cli.supervisor import guard, lock, logs, ports, processes, temporal_server
from hindwise.cli.supervisor.backoff import Backoff
from hindwise.errors import InvalidInput, NotAllowed

GUARD_MODES = ["kernel", "pipe"] if sys.platform.startswith("linux") else ["pipe"]


def wait_until(condition: Callable[[], bool], limit_s: float = 10.0) -> bool:
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return condition()


@pytest.fixture
def sleeper():
    """A process of ours that leads its own group, as a supervisor's child does."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
    yield process
    if process.poll() is None:
        process.kill()
    process.wait(5)


def test_pauses_double_up_to_half_a_minute_and_end_after_ten_quick_deaths():
    backoff = Backoff()
    backoff.worked_once()
    assert [backoff.after(0.5) for _ in range(10)] == [1, 2, 4, 8, 16, 30, 30, 30, 30, None]


def test_what_never_worked_is_given_up_soon():
    backoff = Backoff()
    assert [backoff.after(0.5) for _ in range(3)] == [1, 2, None]


def test_a_long_life_is_forgiven():
    backoff = Backoff()
    backoff.worked_once()
    for _ in range(9):
        backoff.after(1)
    assert backoff.after(3600) == 1
    assert backoff.after(1) == 2


def test_a_busy_port_that_was_asked_for_is_an_error_with_the_next_step():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InvalidInput, match="--port 0"):
            ports.listen("127.0.0.1", port, explicit=True)
        opened, other = ports.listen("127.0.0.1", port, explicit=False)
        with opened:
            assert other not in {0, port}


def test_port_zero_gives_a_port_that_others_cannot_take():
    opened, port = ports.listen("127.0.0.1", 0, explicit=True)
    with opened:
        assert port > 0
        assert not ports.is_free(port)
    assert ports.is_free(port)


def test_free_ports_differ_and_lie_below_the_outgoing_range():
    found = ports.free_ports(5)
    assert len(set(found)) == 5
    assert all(20_000 <= port < 32_000 for port in found)


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("localhost", True),
        ("::1", True),
        ("[::1]", True),
        ("0.0.0.0", False),
        ("10.0.0.1", False),
        ("example.org", False),
    ],
)
def test_loopback_is_told_from_the_rest(host, loopback):
    assert ports.is_loopback(host) is loopback


@pytest.mark.parametrize(("host", "reachable"), [("0.0.0.0", "127.0.0.1"), ("::", "[::1]"), ("::1", "[::1]"), ("127.0.0.1", "127.0.0.1")])
def test_a_server_on_all_addresses_is_reached_by_loopback(host, reachable):
    assert ports.reachable_host(host) == reachable


def test_a_process_is_known_by_its_start_not_by_its_pid(sleeper):
    mark = processes.start_mark(sleeper.pid)
    assert mark
    assert processes.is_same(processes.Known(sleeper.pid, mark))
    assert not processes.is_same(processes.Known(sleeper.pid, mark + "0"))
    sleeper.kill()
    sleeper.wait()
    assert not processes.is_same(processes.Known(sleeper.pid, mark))


def test_leftovers_are_ended_and_their_notes_removed(tmp_path, sleeper):
    processes.write_record(tmp_path / "pids", "worker", sleeper.pid)
    assert list(processes.read_records(tmp_path / "pids")) == ["worker"]
    assert processes.end_leftovers(tmp_path / "pids") == ["worker"]
    assert sleeper.wait(5) == -signal.SIGTERM
    assert not list((tmp_path / "pids").iterdir())


def test_a_leftover_that_ignores_sigterm_is_killed(tmp_path):
    program = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
    stubborn = subprocess.Popen([sys.executable, "-c", program], start_new_session=True, stdout=subprocess.PIPE)
    with stubborn:
        assert stubborn.stdout.readline() == b"up\n"
        processes.write_record(tmp_path, "api", stubborn.pid)
        assert processes.end_leftovers(tmp_path, limit_s=0.3) == ["api"]
        assert stubborn.wait(5) == -signal.SIGKILL


def test_a_foreign_process_with_a_reused_pid_is_never_touched(tmp_path, sleeper):
    (tmp_path / "api.json").write_text(json.dumps({"pid": sleeper.pid, "mark": "another boot:12345"}))
    (tmp_path / "worker.json").write_text("half a fil")
    assert processes.end_leftovers(tmp_path) == []
    assert sleeper.poll() is None


def test_a_second_holder_is_refused_and_told_who_holds(tmp_path):
    with lock.hold(tmp_path), pytest.raises(NotAllowed, match=f"pid {os.getpid()}, since"), lock.hold(tmp_path):
        pass
    with lock.hold(tmp_path):
        pass


def test_the_lock_of_a_killed_holder_is_free(tmp_path):
    program = (
        "import sys, time; from pathlib import Path; from hindwise.cli.supervisor import lock\n"
        "with lock.hold(Path(sys.argv[1])):\n    print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(NotAllowed, match=f"pid {holder.pid}"), lock.hold(tmp_path):
            pass
        holder.kill()
        holder.wait()
        with lock.hold(tmp_path):
            pass


def test_a_grown_log_is_emptied_and_its_writer_goes_on(tmp_path):
    path = tmp_path / "logs" / "api.log"
    descriptor = logs.open_for_child(path)
    os.write(descriptor, b"old\n" * 100)
    assert not logs.rotate(path, max_bytes=1000)
    assert logs.rotate(path, max_bytes=40)
    os.write(descriptor, b"new\n")
    os.close(descriptor)
    assert path.read_bytes() == b"new\n"
    assert path.with_name("api.log.1").read_bytes() == b"old\n" * 10
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_tail_is_the_end_of_a_log(tmp_path):
    path = tmp_path / "x.log"
    assert logs.tail(path) == ""
    path.write_text("\n".join(f"line {n} 行" for n in range(50)))
    assert logs.tail(path, 2) == "line 48 行\nline 49 行"


def test_temporal_gets_every_search_attribute_and_stays_on_this_machine(tmp_path):
    words = temporal_server.arguments(
        Path("/opt/temporal"), tmp_path / "t.db", port=1, ui_port=2, namespace="ns", search_attributes=["A", "B"]
    )
    assert words[:2] == ("/opt/temporal", "server")
    assert words[words.index("--ip") + 1] == "127.0.0.1"
    assert [words[n + 1] for n, word in enumerate(words) if word == "--search-attribute"] == ["A=Keyword", "B=Keyword"]
    assert "journal_mode=WAL" in words
    assert words[words.index("--dynamic-config-value") + 1] == "system.enableActivityEagerExecution=true"


def _parent_program(mode: str) -> str:
    """A parent that starts a sleeping child through the guard, says its pid, and sleeps itself."""
    return (
        "import os, subprocess, sys, time\n"
        "reading, writing = os.pipe()\n"
        f"child = subprocess.Popen([sys.executable, '-I', '-S', {guard.__file__!r}, {mode!r}, str(os.getpid()), str(reading), '--',\n"
        "    sys.executable, '-c', 'import os, time; print(os.getpid(), flush=True); time.sleep(60)'],\n"
        "    pass_fds=[reading], start_new_session=True)\n"
        "time.sleep(60)\n"
    )


@pytest.mark.parametrize("mode", GUARD_MODES)
def test_a_guarded_child_does_not_outlive_a_killed_parent(mode):
    with subprocess.Popen([sys.executable, "-c", _parent_program(mode)], stdout=subprocess.PIPE) as parent:
        child = int(parent.stdout.readline())
        mark = processes.start_mark(child)
        assert mark  # the precondition: it runs
        parent.kill()
        parent.wait()
        assert wait_until(lambda: not processes.is_same(processes.Known(child, mark)))


def test_the_guard_that_stays_passes_sigterm_on():
    program = "import signal, sys, time; signal.signal(signal.SIGTERM, lambda *_: sys.exit(7)); print('up', flush=True); time.sleep(60)"
    reading, writing = os.pipe()
    command = [sys.executable, "-I", "-S", guard.__file__, "pipe", str(os.getpid()), str(reading), "--", sys.executable, "-c", program]
    with subprocess.Popen(command, pass_fds=[reading], stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout.readline() == b"up\n"
        process.terminate()
        assert process.wait(10) == 7
    os.close(reading)
    os.close(writing)


def _told(pid: int) -> Running:
    return Running("http://127.0.0.1:1", "hw_x", "127.0.0.1:2", "http://127.0.0.1:3", pid, None, 4, 5)


def test_what_runs_is_written_whole_for_its_owner_alone(tmp_path):
    path = tmp_path / "up.json"
    running.write(path, _told(os.getpid()))
    assert path.stat().st_mode & 0o777 == 0o600
    assert running.read(tmp_path) == _told(os.getpid())
    assert [item.name for item in tmp_path.iterdir()] == ["up.json"]


def test_a_dead_or_unreadable_up_counts_as_not_running(tmp_path, sleeper):
    assert running.read(tmp_path) is None
    sleeper.kill()
    sleeper.wait()
    running.write(tmp_path / "up.json", _told(sleeper.pid))
    assert running.read(tmp_path) is None
    (tmp_path / "up.json").write_text("{")
    assert running.read(tmp_path) is None


@pytest.mark.parametrize(
    ("ui_url", "page"),
    [
        ("http://127.0.0.1:8233", "http://127.0.0.1:8233/namespaces/hindwise/workflows"),
        ("https://ui.example/", "https://ui.example/namespaces/hindwise/workflows"),
        ("https://ui.example/namespaces/team/workflows", "https://ui.example/namespaces/team/workflows"),
        ("", ""),
    ],
)
def test_the_link_to_temporal_opens_our_workflows(ui_url, page):
    assert running.workflows_page(ui_url, "hindwise") == page
