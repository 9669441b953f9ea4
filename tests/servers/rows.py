"""What a run says at its end: the time of each row on each server, and the rows that were left out with the way to get them.

A row is a folder of tests and a set-up (sqlite, postgres, embedded, weaviate, or a pair of them), told by the test's parameter or its file.
"""

import re
from collections import defaultdict
from typing import Any

from tests.servers import places

_LEDGERS, _INDEXES = ("sqlite", "postgres"), ("embedded", "weaviate")
SET_UPS = (*_LEDGERS, *_INDEXES, *(f"{ledger}+{index}" for ledger in _LEDGERS for index in _INDEXES))


def row_of(nodeid: str) -> str:
    """The row that a test belongs to, as `conformance/ledger on postgres`; empty where it has none."""
    file, _, test = nodeid.partition("::")
    inside = re.search(r"\[(.*)\]$", test)
    words = [*(inside[1].split("-") if inside else []), *file.removesuffix(".py").rpartition("/")[2].split("_")]
    named = [word for word in words if word in SET_UPS]
    return f"{file.removeprefix('tests/').rpartition('/')[0]} on {named[0]}" if named else ""


def times(reports: list[Any]) -> dict[str, tuple[int, float]]:
    """For each row the number of tests that ran, and the seconds they took with their set-up."""
    found: dict[str, tuple[int, float]] = defaultdict(lambda: (0, 0.0))
    for report in reports:
        if not hasattr(report, "duration"):  # a file that cannot be imported is an error of its own, of no length
            continue
        if row := row_of(report.nodeid):
            count, seconds = found[row]
            found[row] = (count + (report.when == "call"), seconds + report.duration)
    return dict(sorted(found.items()))


def left_out(skipped: list[Any]) -> dict[str, int]:
    """For each reason that `make servers` cures, how many tests were left out."""
    found: dict[str, int] = defaultdict(int)
    for report in skipped:
        reason = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr).removeprefix("Skipped: ")
        if places.HOW in reason:
            found[reason] += 1
    return dict(found)


def tell(terminal: Any) -> None:
    """Write both to pytest's terminal."""
    reports = [report for name in ("passed", "failed", "error") for report in terminal.stats.get(name, []) if hasattr(report, "when")]
    # Set-up and tear-down that went well are kept under "".
    reports += [report for report in terminal.stats.get("", []) if hasattr(report, "when")]
    if measured := times(reports):
        terminal.section("time of each row (summed over the processes)")
        for row, (count, seconds) in measured.items():
            terminal.write_line(f"{row:48} {count:5} tests {seconds:8.1f} s")
    if missing := left_out(terminal.stats.get("skipped", [])):
        terminal.section("LEFT OUT", yellow=True)
        for reason, count in missing.items():
            terminal.write_line(f"{count} tests: {reason}", yellow=True)
