"""`make servers`: gets what the tests need with ordinary package tools, once; a second call finds it. Two at once wait for each other.

PostgreSQL comes from Debian's packages (needs root), Weaviate is built by `go install` into a cache directory.
"""

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.servers import places

_MODULE = f"github.com/weaviate/weaviate/cmd/weaviate-server@v{places.WEAVIATE_VERSION}"
_TELL_EVERY_S = 15.0
_APT_S, _BUILD_S = 900.0, 3600.0


class Failed(RuntimeError):
    """What could not be had, why, and what to do."""


def say(line: str) -> None:
    """One line on the terminal, at once."""
    print(line, flush=True)


def run(what: str, command: list[str], *, env: Mapping[str, str], log: Path, seconds: float) -> None:
    """Run a command whose output goes to `log`, telling every quarter of a minute that it still runs. Raises Failed with the log's end."""
    started = time.monotonic()
    told = started
    with log.open("wb") as output, subprocess.Popen(command, env=dict(env), stdin=subprocess.DEVNULL, stdout=output, stderr=output) as job:
        try:
            while job.poll() is None:
                now = time.monotonic()
                if now - started > seconds:
                    raise Failed(f"{what}: not done after {seconds / 60:.0f} minutes; see {log}")
                if now - told >= _TELL_EVERY_S:
                    say(f"  {what} … {now - started:.0f} s")
                    told = now
                with contextlib.suppress(subprocess.TimeoutExpired):
                    job.wait(1.0)
        finally:
            if job.poll() is None:
                job.terminate()
    if job.returncode:
        tail = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-12:])
        raise Failed(f"{what}: `{' '.join(command)}` ended with {job.returncode}:\n{tail}")
    say(f"  {what}: done in {time.monotonic() - started:.0f} s")


@contextlib.contextmanager
def alone(directory: Path) -> Iterator[None]:
    """Let one at a time through, over all processes of this machine; the kernel lets go when we die."""
    with (directory / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("  another `make servers` is at work: waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def get_postgres(logs: Path) -> None:
    """Install PostgreSQL where it is missing. Raises Failed."""
    with contextlib.suppress(places.Missing):
        say(f"PostgreSQL: {places.postgres_bin()}")
        return
    by_hand = f"install it (Debian: apt-get install postgresql), or name a running server with {places.POSTGRES_URL}"
    if not shutil.which("apt-get"):
        raise Failed(f"PostgreSQL: there is no apt-get here; {by_hand}")
    if os.getuid() != 0:
        raise Failed(f"PostgreSQL: only root can install packages; {by_hand}")
    say("PostgreSQL: from Debian's packages (about 20 MB)")
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    run("apt-get update", ["apt-get", "update"], env=env, log=logs / "apt-update.log", seconds=_APT_S)
    command = ["apt-get", "install", "-y", "--no-install-recommends", "postgresql"]
    run("apt-get install", command, env=env, log=logs / "apt-install.log", seconds=_APT_S)
    try:
        say(f"PostgreSQL: {places.postgres_bin()}")
    except places.Missing as error:
        raise Failed("PostgreSQL: the package is there, but neither initdb nor postgres is where Debian puts them") from error


def _built_version(binary: Path) -> str:
    """The version that Go wrote into the program; empty where nobody can tell."""
    go = shutil.which("go")
    if not go or not binary.is_file():
        return ""
    told = subprocess.run([go, "version", "-m", str(binary)], capture_output=True, text=True, check=False, timeout=30).stdout
    lines = (line.split() for line in told.splitlines())
    return next((words[2] for words in lines if words[:2] == ["mod", "github.com/weaviate/weaviate"]), "")


def get_weaviate(cache: Path) -> None:
    """Build the Weaviate server where it is missing or has another version. Raises Failed."""
    binary = cache / places.WEAVIATE_NAME
    wanted = f"v{places.WEAVIATE_VERSION}"
    if binary.is_file() and _built_version(binary) in {wanted, ""}:
        say(f"Weaviate {places.WEAVIATE_VERSION}: {binary}")
        return
    go = shutil.which("go")
    if not go:
        raise Failed(
            f"Weaviate: Go is not installed, and {binary} is not there: install Go, or name a running server "
            f"with {places.WEAVIATE_URL}, {places.WEAVIATE_GRPC_URL} and {places.WEAVIATE_API_KEY}"
        )
    say(f"Weaviate {places.WEAVIATE_VERSION}: built by `go install` (about 4 minutes on two cores, once)")
    draft = cache / "building"
    draft.mkdir(exist_ok=True)
    env = {**os.environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOFLAGS": "", "GOBIN": str(draft)}
    run("building Weaviate", [go, "install", "-tags", "netgo", _MODULE], env=env, log=cache / "weaviate-build.log", seconds=_BUILD_S)
    (draft / places.WEAVIATE_NAME).replace(binary)  # whole or not at all
    draft.rmdir()
    say(f"Weaviate {places.WEAVIATE_VERSION}: {binary}")


def main() -> int:
    """Get both; one that cannot be had does not keep the other. 0 = everything is there."""
    cache = places.cache()
    cache.mkdir(parents=True, exist_ok=True)
    failed = False
    with alone(cache):
        for get in (get_postgres, get_weaviate):
            try:
                get(cache)
            except (Failed, OSError) as error:
                failed = True
                say(f"Not there: {error}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
