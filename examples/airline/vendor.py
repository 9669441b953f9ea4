"""Makes `runs.jsonl` and `second_attempts.jsonl` from the evaluation data. Run it again and the same bytes come out.

    HINDWISE_EVAL_DATA=../shared/data python examples/airline/vendor.py [FOLDER]

What the agent never saw stays out: the simulated customer's instruction, and the reference's actions, of which only the verdict's words
and call names are kept (`verdict.py`).
"""

import json
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
FIRST_TASKS = range(30)
"""Trial 0 of these."""
CHANGED_TASKS = (1, 11, 13)
"""Both trials of these: 1 and 13 went from failure to success, 11 the other way."""


def vendored(run: dict[str, Any]) -> dict[str, Any]:
    """Return what is kept of a run: its transcript, its reward and the verdict in words."""
    from verdict import verdict_note

    succeeded = run["reward"] == 1.0
    # Two ways can lead to the same database, so a rewarded run is right whatever its calls were.
    note = "The final database is as expected." if succeeded else verdict_note(run["messages"], run["expected_actions"])
    kept = {key: run[key] for key in ("run_id", "task_id", "trial", "reward", "user_id")}
    return {**kept, "verdict": note, "decisive": [] if succeeded else calls_named(note), "messages": run["messages"]}


def calls_named(note: str) -> list[str]:
    """Return the calls of a verdict such as `missing: a, b; other arguments: c(x, y)`, each once, in order."""
    lists = (part.split(": ", 1)[1] for part in re.sub(r"\([^)]*\)", "", note).split("; ") if ": " in part)
    return list(dict.fromkeys(name for names in lists for name in names.split(", ")))


def write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write one JSON object a line."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Read the evaluation data and write both files into the named folder, or next to this one."""
    target = Path(arguments[0]) if arguments else HERE
    source = Path(os.environ.get("HINDWISE_EVAL_DATA", HERE.parents[2] / "shared" / "data")) / "tau_airline.jsonl"
    if not source.is_file():
        print("no evaluation data: set HINDWISE_EVAL_DATA to the folder that holds tau_airline.jsonl", file=sys.stderr)
        return 2
    runs = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
    first = [run for run in runs if run["trial"] == 0 and run["task_id"] in FIRST_TASKS]
    again = [run for run in runs if run["trial"] == 1 and run["task_id"] in FIRST_TASKS]
    write_lines(target / "runs.jsonl", map(vendored, [*first, *(run for run in again if run["task_id"] in CHANGED_TASKS)]))
    write_lines(target / "second_attempts.jsonl", ({"task_id": run["task_id"], "opening": run["messages"][0]["content"]} for run in again))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
