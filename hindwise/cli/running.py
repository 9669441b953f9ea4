"""What runs in a data directory: `up.json`, written by `hindwise up` once everything answers, read by every other command."""

import contextlib
import json
import os
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from hindwise.settings import Settings


@dataclass(frozen=True, slots=True)
class Running:
    """Where a running Hindwise is found. Pids are None for what `up` did not start; `api_key` is empty with --no-auth."""

    api_url: str
    api_key: str
    temporal_address: str
    temporal_ui_url: str
    pid: int
    temporal_server_pid: int | None
    worker_pid: int | None
    api_pid: int | None

    def to_json(self) -> str:
        """One line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)


def write(path: Path, running: Running) -> None:
    """Put the file in place whole, readable by its owner alone: it holds a key."""
    draft = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(running.to_json() + "\n")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def read(data: Path) -> Running | None:
    """Return what `data/up.json` says, if the `up` that wrote it still lives; else None."""
    with contextlib.suppress(OSError, ValueError, TypeError):
        told = Running(**json.loads((data / "up.json").read_text(encoding="utf-8")))
        os.kill(told.pid, 0)
        return told
    return None


def with_temporal(settings: "Settings") -> "Settings":
    """Return the settings, where they name no Temporal with the address of the one that `up` runs in the data directory, if it does."""
    if settings.temporal_address or not (told := read(settings.data.expanduser())):
        return settings
    return settings.model_copy(update={"temporal_address": told.temporal_address})


def workflows_page(ui_url: str, namespace: str) -> str:
    """The page of the Temporal UI that lists our workflows; empty where no UI is known. The bare address opens another namespace."""
    base = ui_url.rstrip("/")
    if not base or "/namespaces/" in base:
        return base
    return f"{base}/namespaces/{quote(namespace, safe='')}/workflows"
