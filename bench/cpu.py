"""How much processor time each process took, from /proc: what carries over to other machines better than seconds."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_TICK_MS = 1000.0 / os.sysconf("SC_CLK_TCK")


def cpu_ms(pid: int) -> float:
    """User and system time of a process so far, all threads, in steps of one clock tick (10 ms). Raises OSError when it is gone."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * _TICK_MS


@dataclass(frozen=True, slots=True)
class Reading:
    """The clocks of several processes at one moment."""

    at: float
    spent: dict[str, float]


def read(pids: Mapping[str, int]) -> Reading:
    """Read the clocks now."""
    return Reading(time.perf_counter(), {name: cpu_ms(pid) for name, pid in pids.items()})


def idle_rates(first: Reading, last: Reading) -> dict[str, float]:
    """Milliseconds of CPU per second while nothing was asked."""
    return {name: (last.spent[name] - first.spent[name]) / (last.at - first.at) for name in first.spent}


def per_operation(first: Reading, last: Reading, operations: int, idle: Mapping[str, float]) -> dict[str, float]:
    """Milliseconds of CPU per operation and process, without what the process takes when idle; never below 0."""
    seconds = last.at - first.at
    return {name: max(0.0, last.spent[name] - first.spent[name] - idle.get(name, 0.0) * seconds) / operations for name in first.spent}
