"""`make servers` on machines that lack something: what it says, what it leaves, and two of it at once. `go` is a script of the test."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.servers import places

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 60
GO = """#!/bin/sh
if [ "$1" = version ]; then echo "$3"; echo "	mod	github.com/weaviate/weaviate	v{version}	h1:x"; exit 0; fi
echo "$CGO_ENABLED $GOTOOLCHAIN $*" >> "{told}"
sleep 1
{end}
printf '#!/bin/sh\\n' > "$GOBIN/weaviate-server"; chmod +x "$GOBIN/weaviate-server"
"""


@pytest.fixture
def machine(tmp_path):
    """Makes the environment of a machine with this `go`; its programs are the test's own and a few of the system's."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "sleep", "printf", "chmod"):
        (tools / name).symlink_to(f"/bin/{name}" if Path(f"/bin/{name}").exists() else f"/usr/bin/{name}")

    def make(*, go=True, end="", version=places.WEAVIATE_VERSION):
        if go:
            (tools / "go").write_text(GO.format(told=tmp_path / "told", end=end, version=version))
            (tools / "go").chmod(0o755)
        return {**os.environ, "PATH": str(tools), "HINDWISE_SERVERS_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}

    return make


def start(env):
    return subprocess.Popen([sys.executable, "-m", "tests.servers.get"], cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True)


def told_weaviate(out):
    return "\n".join(line for line in out.splitlines() if "PostgreSQL" not in line)


def test_two_at_once_build_once_and_a_third_finds_it(machine, tmp_path):
    env = machine()
    running = [start(env), start(env)]
    outs = [process.communicate(timeout=LIMIT_S)[0] for process in running]
    built = (tmp_path / "told").read_text().splitlines()
    assert built == [f"0 local install -tags netgo github.com/weaviate/weaviate/cmd/weaviate-server@v{places.WEAVIATE_VERSION}"], outs
    assert os.access(tmp_path / "cache" / "weaviate-server", os.X_OK)
    begun = time.monotonic()
    third = start(env).communicate(timeout=LIMIT_S)[0]
    assert "weaviate-server" in third
    assert "go install" not in third
    assert time.monotonic() - begun < LIMIT_S


def test_another_version_is_built_anew(machine, tmp_path):
    start(machine()).communicate(timeout=LIMIT_S)
    env = machine(version="1.30.0")
    assert "by `go install`" in start(env).communicate(timeout=LIMIT_S)[0]
    assert len((tmp_path / "told").read_text().splitlines()) == 2


def test_without_go_it_says_what_to_do_and_ends_with_an_error(machine):
    process = start(machine(go=False))
    out = process.communicate(timeout=LIMIT_S)[0]
    assert process.returncode == 1
    assert "install Go" in told_weaviate(out)
    assert places.WEAVIATE_URL in out


def test_a_build_that_fails_shows_the_end_of_its_log_and_leaves_no_program(machine, tmp_path):
    process = start(machine(end="echo 'requires go >= 1.99' >&2; exit 1"))
    out = process.communicate(timeout=LIMIT_S)[0]
    assert process.returncode == 1
    assert "requires go >= 1.99" in out
    assert not (tmp_path / "cache" / "weaviate-server").exists()
