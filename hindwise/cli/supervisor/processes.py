"""Who is that process? A pid alone does not say, because numbers are used again: a mark of its start goes with it."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class Known:
    """A process that we started: pid, and the mark of its start."""

    pid: int
    mark: str


def start_mark(pid: int) -> str | None:
    """What tells this process from a later one with the same pid; None when there is none, or only its zombie."""
    if not sys.platform.startswith("linux"):
        return _start_mark_by_ps(pid)
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
        boot = _BOOT_ID.read_text().strip()
    except OSError:
        return None
    # The command's name may hold spaces and brackets: fields are counted from behind its closing bracket.
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in {"Z", "X"} else f"{boot}:{fields[19]}"


def _start_mark_by_ps(pid: int) -> str | None:
    try:
        told = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, timeout=5, check=False)  # noqa: S603,S607
    except (OSError, subprocess.TimeoutExpired):
        return None
    return told.stdout.strip() or None


def is_same(known: Known) -> bool:
    """Whether that very process still runs."""
    return start_mark(known.pid) == known.mark


def write_record(directory: Path, name: str, pid: int) -> None:
    """Note a child of ours, for a successor that must end what a killed parent left behind."""
    mark = start_mark(pid)
    if mark is None:
        return
    directory.mkdir(mode=0o700, exist_ok=True)
    draft = directory / f"{name}.draft"
    draft.write_text(json.dumps(asdict(Known(pid, mark))))
    draft.replace(directory / f"{name}.json")


def read_records(directory: Path) -> dict[str, Known]:
    """Return the noted children by name; an unreadable note counts as none."""
    found: dict[str, Known] = {}
    for path in sorted(directory.glob("*.json")):
        with contextlib.suppress(OSError, ValueError, TypeError):
            found[path.stem] = Known(**json.loads(path.read_text()))
    return found


def signal_group(pid: int, number: signal.Signals) -> None:
    """Send a signal to a child's whole process group (each child leads its own); gone already is fine."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def end_leftovers(directory: Path, limit_s: float = 5.0) -> list[str]:
    """End what an earlier run of this data directory left behind; return the names. Foreign processes are never touched. Blocks."""
    left = {name: known for name, known in read_records(directory).items() if is_same(known)}
    for known in left.values():
        signal_group(known.pid, signal.SIGTERM)
    for number in (None, signal.SIGKILL):
        if number is not None:
            for known in left.values():
                if is_same(known):
                    signal_group(known.pid, number)
        end = time.monotonic() + limit_s
        while any(map(is_same, left.values())) and time.monotonic() < end:
            time.sleep(0.05)
    for path in directory.glob("*"):
        path.unlink(missing_ok=True)
    return sorted(left)
