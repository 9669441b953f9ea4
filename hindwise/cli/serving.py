"""Which API a command means: `hindwise up` of the data directory, a `hindwise api` started alone on it, or one at the usual address.

An API that is started alone leaves a note in `serving/`; `up` tells of itself in `up.json` (`running.py`).
"""

import contextlib
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from hindwise.cli import running
from hindwise.cli.readiness import ask_ready, first_key
from hindwise.cli.running import Running
from hindwise.cli.supervisor.ports import reachable_host
from hindwise.cli.supervisor.processes import Known, is_same, start_mark

if TYPE_CHECKING:
    from hindwise.settings import Settings

_PROBE_S = 1.0


@dataclass(frozen=True, slots=True)
class Local:
    """What serves a data directory here. `up` is None for an API that was started alone; `key` may be empty."""

    api_url: str
    key: str
    up: Running | None = None


@dataclass(frozen=True, slots=True)
class _Note:
    api_url: str
    pid: int
    mark: str


def local(data: Path) -> Local | None:
    """What runs in the data directory; None where nothing does."""
    if told := running.read(data):
        return Local(told.api_url, told.api_key, told)
    if alone := _alone(data):
        return Local(alone, _own_key(data))
    return None


def _own_key(data: Path) -> str:
    try:
        return first_key(data)
    except OSError:
        return ""


def _alone(data: Path) -> str:
    """The address of an API that was started alone on the directory, the newest of several; empty where none lives."""
    with contextlib.suppress(OSError):
        notes = sorted((data / "serving").glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in notes:
            with contextlib.suppress(ValueError, TypeError):
                note = _Note(**json.loads(path.read_text(encoding="utf-8")))
                if is_same(Known(note.pid, note.mark)):
                    return note.api_url
    return ""


@contextmanager
def told(data: Path, api_url: str) -> Iterator[None]:
    """Leave a note of this process, which serves the directory, as long as the block runs; notes of dead ones go."""
    folder, pid = data / "serving", os.getpid()
    folder.mkdir(mode=0o700, exist_ok=True)
    for path in folder.glob("*.json"):
        with contextlib.suppress(OSError, ValueError, TypeError):
            note = _Note(**json.loads(path.read_text(encoding="utf-8")))
            if not is_same(Known(note.pid, note.mark)):
                path.unlink(missing_ok=True)
    draft, place = folder / f".{pid}-{secrets.token_hex(4)}", folder / f"{pid}.json"
    draft.write_text(json.dumps(asdict(_Note(api_url, pid, start_mark(pid) or ""))) + "\n", encoding="utf-8")
    draft.replace(place)
    try:
        yield
    finally:
        place.unlink(missing_ok=True)


def usual_address(settings: "Settings") -> str:
    """Where an API listens that nobody told otherwise."""
    return f"http://{reachable_host(settings.host)}:{settings.port}"


def answers_there(settings: "Settings") -> str:
    """The usual address where a Hindwise answers at it, whoever started it; else empty. Takes a second at most."""
    url = usual_address(settings)
    if not urlsplit(url).port:
        return ""
    _, said = ask_ready(url, _PROBE_S)
    return url if {"status", "ledger", "index", "temporal"} <= said.keys() else ""
