"""`hindwise demo` as a newcomer runs it: it ends by itself, keeps every promise, and leaves nothing behind."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from hindwise.cli.demo_server import Server, is_alive
from hindwise.cli.exits import Ended
from hindwise.cli.supervisor import lock

LIMIT_S = 240
"""For a busy machine; an idle one needs less than half."""


def environment(home: Path, **more: str) -> dict[str, str]:
    """A bare environment whose home, caches and temporary files lie in one folder, so that what is written shows."""
    kept = {name: os.environ[name] for name in ("PATH", "VIRTUAL_ENV") if name in os.environ}
    return {**kept, "HOME": str(home), "TMPDIR": str(home / "tmp"), "XDG_CACHE_HOME": str(home / "cache"), "LANG": "C.UTF-8", **more}


def start(home: Path, *arguments: str, **more: str) -> subprocess.Popen[str]:
    (home / "tmp").mkdir(parents=True)
    command = [sys.executable, "-m", "hindwise.cli", "demo", *arguments]
    return subprocess.Popen(
        command, cwd=home, env=environment(home, **more), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    )


def wait_for_pids(data: Path, limit_s: float = 90.0) -> dict[str, Any]:
    """What `up.json` in `data` (a path or a pattern of one) says, once it is there."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        for path in data.parent.glob(f"{data.name}/up.json"):
            told: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            return told
        time.sleep(0.1)
    raise AssertionError("the demo's Hindwise was not ready in time")


def pids_of(told: dict[str, Any]) -> list[int]:
    return [pid for name, pid in told.items() if name.endswith("pid") and pid]


def all_dead(pids: list[int], limit_s: float = 20.0) -> bool:
    end = time.monotonic() + limit_s
    while any(map(is_alive, pids)) and time.monotonic() < end:
        time.sleep(0.1)
    return not any(map(is_alive, pids))


def test_the_demo_in_english_keeps_its_promises_and_with_keep_goes_on_running(tmp_path: Path) -> None:
    home, data = tmp_path / "home", tmp_path / "home" / "data"
    process = start(home, "--keep", "--data", str(data))
    told = wait_for_pids(data)
    try:
        out, err = process.communicate(timeout=LIMIT_S)
        assert process.returncode == 0, out + err
        for number in range(1, 6):
            assert f"== {number}/5" in out
        assert "✗" not in out
        assert re.search(r"✓ 33 of 33 reflections, 0 doubled", out)
        assert "\x1b" not in out  # no terminal, no colours
        table = out.split("Counted in this run")[1]
        for row in ("episodes", "memories: lesson", "same task's lesson among the first 5", "verdict told", "reward alone"):
            assert row in table
        assert "in random order" in table
        assert re.search(r"Temporal UI: http://127\.0\.0\.1:\d+", table)
        assert re.search(r"API: http://127\.0\.0\.1:\d+/docs", table)
        assert {path.name for path in home.iterdir()} == {"data", "tmp"}
        assert list((home / "tmp").iterdir()) == []
        now = wait_for_pids(data, limit_s=1.0)
        assert now["worker_pid"] != told["worker_pid"]  # the one that was killed
        assert all(map(is_alive, pids_of(now)))
        stop = re.search(r"Stop it with: kill (\d+)", table)
        assert stop is not None
        os.kill(int(stop[1]), signal.SIGTERM)
        assert all_dead(pids_of(now))
        assert (data / "ledger.db").is_file()
    finally:
        if is_alive(told["pid"]):
            os.kill(told["pid"], signal.SIGTERM)


def test_the_demo_in_chinese_for_scripts_ends_with_nothing_running_and_nothing_left(tmp_path: Path) -> None:
    home = tmp_path / "home"
    process = start(home, "--json", DEMO_LANG="zh")
    told = wait_for_pids(home / "tmp" / "*")
    out, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0, out + err
    assert all_dead(pids_of(told), limit_s=0.5)
    assert [path.name for path in home.iterdir()] == ["tmp"]
    assert list((home / "tmp").iterdir()) == []
    shown = json.loads(out)
    assert "用户改变了主意" in err
    first = err.split("== 1/5")[1].split("== 2/5")[0]
    lesson = next(line for line in first.splitlines() if "│" in line)
    assert "查询余票" in lesson and not re.search(r"[A-Za-z]{4}", lesson), "a Chinese audience's first lesson is Chinese"
    assert "本次运行的统计" in err
    assert "没有留下任何进程" in err
    assert len(shown["promises"]) == 5
    assert all(shown["promises"].values())
    figures = shown["figures"]
    assert figures["done"] == figures["runs"] == figures["episodes"] == 33
    assert figures["doubled"] == 0
    assert figures["killed_with"] > 0
    assert figures["memories"]["lesson"] > 0
    assert figures["same_task_first_5"]["share"] > figures["same_task_first_5"]["baseline"]


def test_ctrl_c_stops_everything(tmp_path: Path) -> None:
    home, data = tmp_path / "home", tmp_path / "home" / "data"
    process = start(home, "--data", str(data), "--lang", "zh")
    told = wait_for_pids(data)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, out + err
    assert "已中断" in out
    assert "Traceback" not in err
    assert all_dead(pids_of(told))


def test_a_killed_demo_takes_its_hindwise_along(tmp_path: Path) -> None:
    home, data = tmp_path / "home", tmp_path / "home" / "data"
    process = start(home, "--data", str(data))
    told = wait_for_pids(data)
    process.kill()
    process.communicate(timeout=20)
    assert all_dead(pids_of(told))


def test_a_directory_that_holds_something_is_refused(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "data").mkdir(parents=True)
    (home / "data" / "mine.txt").write_text("mine", encoding="utf-8")
    process = start(home, "--data", str(home / "data"))
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "is not empty" in err
    assert [path.name for path in (home / "data").iterdir()] == ["mine.txt"]


def test_a_hindwise_that_does_not_come_up_is_told_with_the_end_of_its_log(tmp_path: Path) -> None:
    with lock.hold(tmp_path):
        server = Server(tmp_path, keep=False)
        server.start()
        with pytest.raises(Ended, match="ended with code") as told:
            server.wait_ready()
        assert "another `hindwise up`" in told.value.next_step
        assert server.stop() == []
