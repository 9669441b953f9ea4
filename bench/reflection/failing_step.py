"""At which step did a failed run of several agents go wrong? `python -m bench.reflection.failing_step`.

80 failed runs in which people marked the decisive mistake (`who_and_when.jsonl`). Measured is `hindwise.reflect.rules.failing`, which the
retrospective uses, against "the last step", "the first error" and, because most of these mistakes come early, "always step 3".
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.reflection.sampling import eval_file, half_of, told
from hindwise.model.episode import Episode, Outcome, OutcomeSource, OutcomeStatus
from hindwise.model.turn import Origin, Turn
from hindwise.reflect.rules.failing import failing_step
from hindwise.reflect.rules.findings import read
from hindwise.reflect.transcript import error_of

WITHIN = 2
_BEGIN = datetime(2026, 1, 5, 9, tzinfo=UTC)
_TERMINALS = ("Computer_terminal",)
"""Speakers that run what others wrote."""


def runs() -> list[dict[str, Any]]:
    """All failed runs, in file order."""
    return [json.loads(line) for line in eval_file("who_and_when.jsonl").read_text(encoding="utf-8").splitlines() if line]


def episode_of(run: dict[str, Any]) -> Episode:
    """The run as an episode: the task is the user's, a terminal's words are a tool's, all else is said by agents. Step n is turn n + 1."""
    turns = tuple(_turn(step) for step in run["history"])
    return Episode(
        id=run["log_id"],
        tenant_id="bench",
        user_id="bench",
        agent_id="team",
        run_id=run["log_id"],
        outcome=Outcome(status=OutcomeStatus.FAILURE, source=OutcomeSource.ENV),
        turns=turns,
        started_at=_BEGIN,
        ended_at=turns[-1].occurred_at,
    )


def _turn(step: dict[str, Any]) -> Turn:
    number, name = int(step["step"]), str(step["name"])
    role, origin = ("user", Origin.USER) if number == 0 or name == "human" else ("assistant", Origin.AGENT)
    if name in _TERMINALS and number:
        role, origin = "tool", Origin.TOOL
    return Turn(
        seq=number + 1,
        turn_id=f"s{number}",
        role=role,
        origin=origin,
        participant="" if role == "tool" else name,
        name=name if role == "tool" else "",
        content=step["content"],
        occurred_at=_BEGIN + timedelta(seconds=10 * number),
    )


def by_rules(run: dict[str, Any]) -> int | None:
    """The step that the product names, None where it names none."""
    found = failing_step(read(episode_of(run)))
    return found.turn.seq - 1 if found else None


def last_step(run: dict[str, Any]) -> int | None:
    """The last step."""
    return len(run["history"]) - 1


def first_error(run: dict[str, Any]) -> int | None:
    """The first step whose words are an error; where there is none, none is named."""
    return next(
        (int(s["step"]) for s in run["history"][1:] if error_of(s["content"]) or "Traceback (most recent call last)" in s["content"]), None
    )


def third_step(run: dict[str, Any]) -> int | None:
    """Step 3, whatever the run: the middle of where mistakes of this set lie."""
    return 3


METHODS: dict[str, Callable[[dict[str, Any]], int | None]] = {
    "rule reflector": by_rules,
    "last step": last_step,
    "first error": first_error,
    "always step 3": third_step,
}


@dataclass(frozen=True)
class Figure:
    """How often one way named the marked step, in one part of the runs."""

    method: str
    part: str
    exact: int
    near: int
    runs: int


def figures(data: Sequence[dict[str, Any]]) -> list[Figure]:
    """Every way on both halves, on both kinds of runs, and on all."""
    parts = {
        "dev half": [r for r in data if half_of(r["log_id"]) == "dev"],
        "report half": [r for r in data if half_of(r["log_id"]) == "report"],
        "algorithm-generated": [r for r in data if r["subset"] == "algorithm_generated"],
        "hand-crafted": [r for r in data if r["subset"] == "hand_crafted"],
        "all": list(data),
    }
    named = {method: {run["log_id"]: way(run) for run in data} for method, way in METHODS.items()}
    return [
        _figure(method, name, [(named[method][r["log_id"]], int(r["mistake_step"])) for r in part])
        for name, part in parts.items()
        for method in METHODS
    ]


def _figure(method: str, name: str, named: Sequence[tuple[int | None, int]]) -> Figure:
    exact = sum(step == wanted for step, wanted in named)
    near = sum(step is not None and abs(step - wanted) <= WITHIN for step, wanted in named)
    return Figure(method, name, exact, near, len(named))


def table(data: Sequence[dict[str, Any]]) -> list[str]:
    """The figures as lines of a Markdown table."""
    lines = ["| runs | way | within ±2 steps [95 %] | exact [95 %] |", "|---|---|---|---|"]
    return lines + [f"| {f.part} | {f.method} | {told(f.near, f.runs)} | {told(f.exact, f.runs)} |" for f in figures(data)]


def main() -> None:
    """Print the table, and what is named in the dev half."""
    data = runs()
    print("\n".join(table(data)))
    for run in data:
        if half_of(run["log_id"]) == "dev":
            found = failing_step(read(episode_of(run)))
            print(f"{run['log_id']:26} marked {run['mistake_step']:>2}  {found.told(read(episode_of(run))) if found else 'none'}")


if __name__ == "__main__":
    main()
