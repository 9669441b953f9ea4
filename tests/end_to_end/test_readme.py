"""The README's commands, run as they stand, in both languages, and what it shows compared with what came out."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hindwise.cli.readiness import first_key
from tests.processes import ROOT, Up, until

_RUN = re.compile(r"<!-- run -->\n```\w+\n(.*?)```(?:\n+<!-- output -->\n```\w*\n(.*?)```)?", re.S)


@pytest.fixture(scope="module")
def up(tmp_path_factory):
    with Up(tmp_path_factory.mktemp("readme") / "data", HINDWISE_EMBED="auto") as running:
        running.start()
        yield running


def blocks(name):
    return [(match[1], match[2]) for match in _RUN.finditer((ROOT / name).read_text(encoding="utf-8"))]


def run(block, up, seconds=60):
    """Run one block in bash with the API's place put in; `$ ` prompts are taken off. Returns what it printed."""
    script = (
        re.sub(r"^\$ ", "", block, flags=re.M).replace("localhost:8080", up.url.removeprefix("http://")).replace("curl -s ", "curl -sSf ")
    )
    env = up.env | {"KEY": first_key(up.data), "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "LANG": "C.UTF-8"}
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=up.data, env=env, capture_output=True, text=True, timeout=seconds)
    assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def settled(up):
    """What the blocks before started has been reflected on: a reader, too, reads on before the next command."""
    with up.http() as http:
        until(
            lambda: all(item["status"] == "completed" for item in http.get("/v1/reflections").json()["items"]), "reflections completed", 60
        )


def told_as(line):
    """A shown line as a pattern: `…` stands for anything."""
    return ".*".join(re.escape(part) for part in line.strip().split("…"))


@pytest.mark.parametrize("name", ["README.md", "README.zh-CN.md"])
def test_what_the_readme_tells_to_run_runs_and_prints_what_it_shows(name, up):
    if not shutil.which("curl"):
        pytest.skip("curl is not installed: the README's HTTP examples use it")
    found = blocks(name)
    assert len(found) >= 5, "the README lost its runnable blocks"
    assert any(shown for _, shown in found), "the README shows no output"
    for block, shown in found:
        printed = run(block, up)
        settled(up)
        wanted = "\n".join(told_as(line) for line in (shown or "").splitlines() if line.strip())
        flat = "\n".join(line.strip() for line in printed.splitlines() if line.strip())
        assert re.search(wanted, flat), f"{block}\nprinted\n{printed}\nand the README shows\n{shown}"


def test_both_readmes_tell_the_same_commands():
    """Calls alike, words may differ: flags, paths and options must not drift apart."""
    call = re.compile(r"hindwise \w+|localhost:8080(?:/[a-z_]+)*")
    calls = [[call.findall(block) for block, _ in blocks(name)] for name in ("README.md", "README.zh-CN.md")]
    assert calls[0] == calls[1], json.dumps(calls, ensure_ascii=False, indent=1)
