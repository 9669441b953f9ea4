"""What the core costs, each figure next to a floor of the same run: `make bench-core`, or `python -m bench.core --help`.

A measurement, not a test: it ends with 0 also where a goal is missed, and with 1 only when something did not run.
"""

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import asdict
from statistics import median
from typing import Any

import uvloop

from bench import floors, operations, recall, reflections, report, servers, turns
from bench.report import Figure
from bench.stats import Block

_PER_BLOCK = 10
PARTS = ("turns", "reflections", "recall", "cpu")


def main() -> int:
    """Measure and print; the exit code."""
    args = _arguments()
    try:
        uvloop.run(_measure(args.only or PARTS, args.blocks))
    except (KeyboardInterrupt, asyncio.CancelledError):
        print("\nstopped; the servers have ended", file=sys.stderr)
        return 130
    except servers.NotStarted as error:
        print(f"the servers did not start: {error}", file=sys.stderr)
        return 1
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.core", description=__doc__)
    parser.add_argument("--only", action="append", choices=PARTS, help="measure this part alone; may be repeated")
    parser.add_argument("--blocks", type=int, default=30, help="more blocks, narrower intervals (default 30: about four minutes)")
    return parser.parse_args()


async def _measure(parts: Sequence[str], blocks: int) -> None:
    this = asyncio.current_task()
    assert this is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, this.cancel)
    document: dict[str, Any] = {"before": report.machine(), "figures": []}
    print(f"{document['before']['cores']} cores, load {os.getloadavg()[0]:.2f}; medians, floors measured in turn with ours")
    if set(parts) - {"recall"}:
        async with servers.stand() as stand:
            await _served(stand, parts, blocks, document)
    if "recall" in parts:
        await _recall(document, max(20, blocks * _PER_BLOCK // 2))
    document["after"] = report.machine()
    path = report.save(servers.RESULTS, document)
    print(f"\nload at the end {os.getloadavg()[0]:.2f}; written to {path.relative_to(servers.ROOT)}")


async def _served(stand: servers.Stand, parts: Sequence[str], blocks: int, document: dict[str, Any]) -> None:
    if "turns" in parts:
        _tell(document, "1. Turns over HTTP", _turn_figures(await turns.measure(stand, blocks)))
    learned = reflections.Reflections()
    if "reflections" in parts:
        learned = await reflections.measure(stand, max(2, blocks // 5))
        _tell(document, "2. Reflections by rules, from the request to the end", _reflection_figures(learned))
        print(f"    ended: {', '.join(f'{name} {number}' for name, number in sorted(learned.ends.items()))}")
        document["ends"] = dict(learned.ends)
    if "cpu" in parts:
        found = await operations.measure(stand, learned, calls=max(50, blocks * 5))
        print(report.cpu_table(found.per_operation, found.idle))
        document["cpu_ms"] = {"per_operation": found.per_operation, "idle_per_s": found.idle}
        _tell(document, "   Recall over HTTP", [report.figure("recall", "GET /healthz of the same API", found.recall, None)])


def _turn_figures(found: turns.Turns) -> list[Figure]:
    floor = "execute_update_with_start_workflow, same id policies, an equally simple workflow"
    return [
        report.figure("a turn, 1 session", floor, found.one, 1.6),
        report.figure(f"a turn, {turns.LANES} sessions at once", floor, found.eight, 1.6),
        report.figure(f"{turns.BATCH} turns in one batch", "a call with one turn, measured in turn", found.batch, 3.0, per_second=False),
    ]


def _reflection_figures(found: reflections.Reflections) -> list[Figure]:
    floor = f"an empty workflow with {len(floors.STEP_NAMES)} activities that return at once"
    return [
        report.figure(f"a reflection, {reflections.LANES} at once", floor, found.throughput, 1.5),
        report.figure("  from its request to its end", floor, found.latency, None, per_second=False),
    ]


async def _recall(document: dict[str, Any], questions: int) -> None:
    figures = []
    for size, limit in ((1_000, None), (10_000, 2.5)):
        found = await recall.sample(size, questions)
        seconds = [
            Block([ms / 1000 for ms in found.ours[at : at + _PER_BLOCK]], [ms / 1000 for ms in found.floor[at : at + _PER_BLOCK]])
            for at in range(0, questions, _PER_BLOCK)
        ]
        figures.append(report.figure(f"recall, {size:,} memories", "numpy product with all vectors + scan of the postings", seconds, limit))
        document.setdefault("recall_stages_ms", {})[size] = {name: median(values) for name, values in found.stages.items()}
        document.setdefault("recall_cpu_ms", {})[size] = found.cpu
    _tell(document, "3. Recall in the engine, query to brief", figures)


def _tell(document: dict[str, Any], title: str, figures: Sequence[Figure]) -> None:
    print(report.table(title, figures), flush=True)
    document["figures"] += [asdict(figure) for figure in figures]


if __name__ == "__main__":
    sys.exit(main())
