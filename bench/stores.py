"""Recall and index lag on both set-ups, next to the servers' own calls: `python -m bench.stores --help`.

Needs PostgreSQL and Weaviate on this machine (`make servers`). A measurement, not a test: it ends with 0 also where a goal is missed,
with 1 when something did not run, and with 2 where a server is missing.
"""

import argparse
import asyncio
import os
import signal
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import uvloop

from bench import report, servers, store_lag, store_recall
from bench.report import Figure
from bench.store_recall import STEP, WHOLE, Measured, Shape
from bench.store_setups import postgres_weaviate, sqlite_embedded
from tests.servers.child import NotReady
from tests.servers.places import Missing

PARTS = ("recall", "lag")
SETUPS = {"sqlite": sqlite_embedded, "postgres": postgres_weaviate}
SHAPES = {"1k": Shape(1, 1_000), "10k": Shape(1, 10_000), "spaces": Shape(1_000, 100)}
GOAL = {"10k": 1.6}
"""Of Weaviate, against the slower bare call."""


def main() -> int:
    """Measure and print; the exit code."""
    args = _arguments()
    try:
        uvloop.run(_measure(args))
    except (KeyboardInterrupt, asyncio.CancelledError):
        print("\nstopped; the servers have ended", file=sys.stderr)
        return 130
    except Missing as error:
        print(error, file=sys.stderr)
        return 2
    except NotReady as error:
        print(f"a server did not start: {error}", file=sys.stderr)
        return 1
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.stores", description=__doc__)
    parser.add_argument("--only", action="append", choices=PARTS, help="measure this part alone; may be repeated")
    parser.add_argument("--setup", action="append", choices=SETUPS, help="recall on this set-up alone; may be repeated")
    parser.add_argument("--shape", action="append", choices=SHAPES, help="recall with so many memories alone; may be repeated")
    parser.add_argument("--blocks", type=int, default=30, help="of ten questions each way; more, narrower intervals (default 30)")
    parser.add_argument("--minutes", type=float, default=3.0, help="how long reflections are asked for, for the lag (default 3)")
    return parser.parse_args()


async def _measure(args: argparse.Namespace) -> None:
    this = asyncio.current_task()
    assert this is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, this.cancel)
    document: dict[str, Any] = {"before": report.machine(), "figures": [], "cpu_ms": [], "stages_ms": []}
    print(f"{document['before']['cores']} cores, load {os.getloadavg()[0]:.2f}; medians, all ways asked in turn")
    parts = args.only or PARTS
    if "recall" in parts:
        for shape in args.shape or SHAPES:
            for setup in args.setup or SETUPS:
                await _recall(document, setup, shape, args.blocks)
    if "lag" in parts:
        await _lag(document, args.minutes)
    document["after"] = report.machine()
    path = report.save(servers.RESULTS, document, "stores")
    print(f"\nload at the end {os.getloadavg()[0]:.2f}; written to {path.relative_to(servers.ROOT)}")


async def _recall(document: dict[str, Any], setup: str, shape: str, blocks: int) -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, SETUPS[setup](Path(folder)) as made:
        load = os.getloadavg()[0]
        for found in await store_recall.measure(made, SHAPES[shape], blocks):
            goal = GOAL.get(shape) if made.servers else None
            title = f"Recall, {found.setup}, {found.shape.words}{', first question in a space' if found.first else ''}"
            figures = _figures(found, goal)
            print(report.table(f"{title} (load {load:.1f}, filled in {found.filled_s:.0f} s)", figures))
            print(_cpu_lines(found), flush=True)
            document["figures"] += [asdict(figure) | {"part": title, "load": load} for figure in figures]
            document["cpu_ms"].append({"part": title, "ways": _cpu(found)})
            document["stages_ms"].append({"part": title, **found.stages})


def _figures(found: Measured, goal: float | None) -> list[Figure]:
    floor = f"the slower of {' and '.join(found.floors)}: {found.floor}" if len(found.floors) > 1 else found.floor
    others = [name for name in found.floors if name != found.floor]
    bare = [report.figure(name, floor, found.against_floor(name), None) for name in others]
    return bare + [report.figure(name, floor, found.against_floor(name), goal) for name in (STEP, WHOLE)]


def _cpu(found: Measured) -> dict[str, dict[str, float]]:
    return {name: {"client": way.client_ms / way.count, "weaviate": way.server_ms / way.count} for name, way in found.ways.items()}


def _cpu_lines(found: Measured) -> str:
    spent = "   ".join(f"{name} {row['client']:.2f} + {row['weaviate']:.2f}" for name, row in _cpu(found).items())
    stages = "  ".join(f"{name} {value:.2f}" for name, value in found.stages.items())
    return f"    CPU ms, here + Weaviate: {spent}\n    stages of a recall, ms: {stages}"


async def _lag(document: dict[str, Any], minutes: float) -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        found = await store_lag.measure(Path(folder), minutes)
    print("\n".join(found.lines()), flush=True)
    document["lag"] = asdict(found)


if __name__ == "__main__":
    sys.exit(main())
