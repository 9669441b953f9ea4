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

_RUN = re.compile(r"<!-- run -->\n```(\w+)\n(.*?)```(?:\n+<!-- output -->\n```\w*\n(.*?)```)?", re.S)
PAGES = {"README.md": 6, "README.zh-CN.md": 6, "examples/dify/README.md": 2, "examples/dify/README.zh-CN.md": 2}
"""Each page, and how many blocks it has at least."""


@pytest.fixture(scope="module")
def up(tmp_path_factory):
    """As in a clone: a folder with the data directory, the examples and the environment in it."""
    home = tmp_path_factory.mktemp("readme")
    (home / "examples").symlink_to(ROOT / "examples")
    (home / ".venv").symlink_to(Path(sys.prefix))
    with Up(home / ".hindwise", HINDWISE_EMBED="auto") as running:
        running.start()
        yield running


def blocks(name):
    return [match.groups() for match in _RUN.finditer((ROOT / name).read_text(encoding="utf-8"))]


def run(language, block, up, seconds=60):
    """Run one block with the API's place put in; `$ ` prompts are taken off. Returns what it printed."""
    script = (
        re.sub(r"^\$ ", "", block, flags=re.M).replace("localhost:8080", up.url.removeprefix("http://")).replace("curl -s ", "curl -sSf ")
    )
    shell = [sys.executable, "-c"] if language == "python" else ["bash", "-euo", "pipefail", "-c"]
    # What a reader has in the shell by then: the key of an earlier block, and no setting that says where Hindwise is.
    env = {name: value for name, value in up.env.items() if name not in {"HINDWISE_DATA", "PYTHONPATH"}}
    env |= {"KEY": first_key(up.data), "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "LANG": "C.UTF-8"}
    done = subprocess.run([*shell, script], cwd=up.data.parent, env=env, capture_output=True, text=True, timeout=seconds)
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


@pytest.mark.parametrize("name", PAGES)
def test_what_the_readme_tells_to_run_runs_and_prints_what_it_shows(name, up):
    if not shutil.which("curl"):
        pytest.skip("curl is not installed: the README's HTTP examples use it")
    found = blocks(name)
    assert len(found) >= PAGES[name], "the page lost its runnable blocks"
    assert any(shown for *_, shown in found), "the page shows no output"
    for language, block, shown in found:
        printed = run(language, block, up)
        settled(up)
        wanted = "\n".join(told_as(line) for line in (shown or "").splitlines() if line.strip())
        flat = "\n".join(line.strip() for line in printed.splitlines() if line.strip())
        assert re.search(wanted, flat), f"{block}\nprinted\n{printed}\nand the README shows\n{shown}"


def test_both_readmes_tell_the_same_commands():
    """Calls alike, words may differ: flags, paths and options must not drift apart."""
    call = re.compile(r"hindwise \w+|localhost:8080(?:/[a-z_]+)*")
    for name in ("README", "examples/dify/README"):
        calls = [[call.findall(block) for _, block, _ in blocks(page)] for page in (f"{name}.md", f"{name}.zh-CN.md")]
        assert calls[0] == calls[1], json.dumps(calls, ensure_ascii=False, indent=1)
