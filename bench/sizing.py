"""The figures of docs/sizing.md: `python -m bench.sizing --write` measures them and puts them into the page.

About ten minutes on two quiet cores. Needs PostgreSQL and Weaviate on this machine (`make servers`).
"""

import argparse
import asyncio
import os
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import uvloop

from bench import report, servers, sizing_costs, sizing_growth
from bench.sizing_costs import Costs
from bench.sizing_growth import EACH, Step, Tenancy
from bench.store_setups import Setup, postgres_weaviate, sqlite_embedded
from tests.servers.child import NotReady
from tests.servers.places import Missing

PAGE = servers.ROOT / "docs" / "sizing.md"
PARTS = ("costs", "growth", "tenants")
_SHOWN = (1_000, 10_000, 100_000)


def main() -> int:
    """Measure, print, and write where asked; the exit code: 2 where a server is missing, 1 where something did not run."""
    parser = argparse.ArgumentParser(prog="python -m bench.sizing", description=__doc__)
    parser.add_argument("--only", action="append", choices=PARTS, help="this part alone; may be repeated")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/sizing.md")
    parser.add_argument("--runs", type=int, default=40, help="sessions and reflections of each set-up (default 40)")
    parser.add_argument("--users", default="250,500,1000", help="steps of the growth, with commas between")
    parser.add_argument("--tenants", type=int, default=1_000, help="tenants to fill Weaviate with (default 1000)")
    args = parser.parse_args()
    try:
        tables = uvloop.run(_measure(args))
    except (KeyboardInterrupt, asyncio.CancelledError):
        print("\nstopped; the servers have ended", file=sys.stderr)
        return 130
    except Missing as error:
        print(error, file=sys.stderr)
        return 2
    except (NotReady, servers.NotStarted) as error:
        print(f"a server did not start: {error}", file=sys.stderr)
        return 1
    if args.write:
        PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8"), tables), encoding="utf-8")
        print(f"written into {PAGE.relative_to(servers.ROOT)}")
    return 0


def with_tables(page: str, tables: dict[str, str]) -> str:
    """The page with each table between its two marks. Raises KeyError where a mark is missing."""
    for name, table in tables.items():
        marks = re.compile(rf"(<!-- figures: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not marks.search(page):
            raise KeyError(f"docs/sizing.md has no marks for {name}")
        page = marks.sub(lambda found, table=table: f"{found[1]}{table}\n{found[2]}", page)  # type: ignore[misc]
    return page


async def _measure(args: argparse.Namespace) -> dict[str, str]:
    document: dict[str, Any] = {"before": report.machine()}
    tables: dict[str, str] = {}
    parts = args.only or PARTS

    def told(name: str, measured: Sequence[Any], table: Callable[[Any], str]) -> None:
        document[name] = [asdict(one) for one in measured]
        tables[name] = f"{table(measured)}\n\n{_where()}"
        print(f"\n{tables[name]}", flush=True)

    if "costs" in parts:
        told("costs", await _costs(args.runs), costs_table)
    if "growth" in parts:
        # With less memory than the tenants take, Weaviate refuses writes: it is given what a node of its own would have.
        cluster = partial(postgres_weaviate, GOMEMLIMIT=f"{_half_of_the_memory_mib()}MiB")
        setups: dict[str, Callable[[Path], AbstractContextManager[Setup]]] = {"growth-single": sqlite_embedded, "growth-cluster": cluster}
        for name, open_setup in setups.items():
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, open_setup(Path(folder)) as setup:
                told(name, await sizing_growth.grow(setup, [int(step) for step in args.users.split(",")]), growth_table)
    if "tenants" in parts:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            told("tenants", await sizing_growth.tenancy(Path(folder), args.tenants, 10), tenants_table)
    document["after"] = report.machine()
    report.save(servers.RESULTS, document, "sizing")
    return tables


async def _costs(runs: int) -> list[Costs]:
    async with sizing_costs.single() as site:
        found = [await sizing_costs.measure(site, runs)]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        async with sizing_costs.cluster(Path(folder)) as site:
            return [*found, await sizing_costs.measure(site, runs)]


def _half_of_the_memory_mib() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2 // 2**20


def _where() -> str:
    machine = report.machine()
    return f"Measured {machine['at'][:10]} on {machine['cores']} cores, Python {machine['python']}, load {os.getloadavg()[0]:.1f}."


def costs_table(measured: Sequence[Costs]) -> str:
    """Operations of either set-up: CPU by process, bytes by store."""
    roles = ("api", "worker", "server", "postgres", "weaviate")
    lines = ["| set-up | operation | CPU ms: " + " | ".join(roles) + " | together | KB: ledger | index | Temporal |"]
    lines.append("|---|---|" + "---:|" * (len(roles) + 4))
    for costs in measured:
        for name, spent in costs.cpu_ms.items():
            cells = [f"{spent[role]:.1f}" if role in spent else "" for role in roles]
            grown = [f"{costs.grown[name][store] / 1000:.1f}" for store in ("ledger", "index", "temporal")]
            lines.append(f"| {costs.name} | {name} | {' | '.join([*cells, f'{sum(spent.values()):.1f}', *grown])} |")
        idle = [f"{costs.idle_ms[role]:.0f}" if role in costs.idle_ms else "" for role in roles]
        lines.append(f"| {costs.name} | idle, ms of CPU per second | {' | '.join(idle)} | {sum(costs.idle_ms.values()):.0f} | | | |")
        held = [f"{costs.rss_mb[role]:.0f}" if role in costs.rss_mb else "" for role in roles]
        lines.append(f"| {costs.name} | memory held at the end, MB | {' | '.join(held)} | {sum(costs.rss_mb.values()):.0f} | | | |")
    wrote = ", ".join(f"{costs.memories:.1f} on {costs.name}" for costs in measured)
    told = "A *memory* is one fact by `POST /v1/memories`, until the index has it."
    return "\n".join([*lines, "", f"A reflection wrote {wrote} memories on average. {told}"])


def growth_table(steps: Sequence[Step]) -> str:
    """Measured steps, then what follows from them in a straight line."""
    ledger, index = sizing_growth.per_user(list(steps))
    last = steps[-1]
    lines = [f"| users x {EACH} memories | | ledger MB | index MB | Weaviate RSS MB | recall ms |", "|---:|---|---:|---:|---:|---:|"]
    for step in steps:
        held = f"{step.weaviate_mb:.0f}" if step.weaviate_mb else ""
        lines.append(f"| {step.users:,} | measured | {step.ledger / 1e6:.0f} | {step.index / 1e6:.0f} | {held} | {step.recall_ms:.1f} |")
    rss = (last.weaviate_mb - steps[0].weaviate_mb) / (last.users - steps[0].users)
    for users in (number for number in _SHOWN if number > last.users):
        more = users - last.users
        held = f"{last.weaviate_mb + more * rss:,.0f}" if last.weaviate_mb else ""
        sizes = f"{(last.ledger + more * ledger) / 1e6:,.0f} | {(last.index + more * index) / 1e6:,.0f}"
        lines.append(f"| {users:,} | extrapolated | {sizes} | {held} | |")
    each = f"Each further user took {ledger / 1000:.0f} KB of ledger and {index / 1000:.0f} KB of index"
    return "\n".join([*lines, "", f"{each}, {(ledger / EACH) / 1000:.1f} and {(index / EACH) / 1000:.1f} KB per memory."])


def tenants_table(measured: Sequence[Tenancy]) -> str:
    """What a tenant costs in each state."""
    empty = measured[0]
    lines = [
        "| Weaviate | tenants x memories | RSS MB | MB above none, per 1,000 tenants | disk MB | start s |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for one in measured:
        above = f"{(one.rss_mb - empty.rss_mb) / one.tenants * 1000:.0f}" if one.tenants else ""
        started = f"{one.start_s:.1f}" if one.start_s else ""
        lines.append(f"| {one.state} | {one.tenants:,} x {one.each} | {one.rss_mb:.0f} | {above} | {one.disk / 1e6:.0f} | {started} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
