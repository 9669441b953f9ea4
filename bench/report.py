"""Figures as lines for people and as JSON for scripts."""

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.stats import Block, Ratio, medians, percentile, ratio


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured median next to its floor's, in milliseconds. `limit`: the goal for the ratio; None = reported only.

    `per_second`: print rates too.
    """

    name: str
    floor_name: str
    ours_ms: float
    floor_ms: float
    ratio: Ratio
    limit: float | None
    ours_p95_ms: float
    samples: int
    per_second: bool = True

    def line(self) -> str:
        """One line of about 130 characters."""
        goal = ""
        if self.limit is not None:
            goal = f"goal <= {self.limit:g} x: {'met' if self.ratio.value <= self.limit else 'MISSED'}"
        return f"{self.name:<36} {self._side(self.ours_ms):<22} {self._side(self.floor_ms):<22} {self.ratio.words():<24} {goal}"

    def _side(self, ms: float) -> str:
        rate = f" ({1000 / ms:7.1f}/s)" if self.per_second else ""
        return f"{ms:8.2f} ms{rate}"


def figure(name: str, floor_name: str, blocks: Sequence[Block], limit: float | None, *, per_second: bool = True) -> Figure:
    """Sum up blocks that hold seconds."""
    first, second = medians(blocks)
    every = [value for block in blocks for value in block.ours]
    return Figure(
        name, floor_name, first * 1000, second * 1000, ratio(blocks), limit, percentile(every, 0.95) * 1000, len(every), per_second
    )


def table(title: str, figures: Sequence[Figure]) -> str:
    """A block of lines with a heading."""
    head = f"{'':<36} {'ours, median':<22} {'floor, median':<22} {'ratio [95 %]':<24}"
    floors = [f"    floor of {figure.name!r}: {figure.floor_name}" for figure in figures]
    return "\n".join([f"\n{title}", head, *(figure.line() for figure in figures), *dict.fromkeys(floors)])


def cpu_table(spent: Mapping[str, Mapping[str, float]], idle: Mapping[str, float]) -> str:
    """Milliseconds of CPU by operation and process, and what the processes take when nothing is asked."""
    names = list(dict.fromkeys(name for row in spent.values() for name in row))
    lines = [
        "\n4. CPU per operation, in ms (idle time taken off)",
        f"{'':<36}" + "".join(f"{name:>14}" for name in names) + f"{'together':>14}",
    ]
    for operation, row in spent.items():
        cells = "".join(f"{row[name]:14.2f}" if name in row else f"{'-':>14}" for name in names)
        lines.append(f"{operation:<36}{cells}{sum(row.values()):14.2f}")
    lines.append(f"{'idle, in ms per second':<36}" + "".join(f"{idle.get(name, 0.0):14.2f}" for name in names))
    return "\n".join(lines)


def machine() -> dict[str, Any]:
    """Where and when it was measured, and how busy the machine was."""
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "load": [round(value, 2) for value in os.getloadavg()],
    }


def save(folder: Path, document: Mapping[str, Any], name: str = "core") -> Path:
    """Write the results beside the earlier ones, named after the bench and the time."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}-{datetime.now(UTC):%Y%m%d-%H%M%S}.json"
    path.write_text(json.dumps(document, indent=1, default=asdict) + "\n", encoding="utf-8")
    return path
