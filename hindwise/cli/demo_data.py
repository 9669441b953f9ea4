"""The runs that the demo feeds in, and how each door wants them: turns of a live session, a whole episode, a Dify run that reports itself.

Read from the clone where there is one, else from the copy in the wheel. Values only; nothing here talks to anybody.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from hindwise.cli.exits import Ended

Door = Literal["session", "episode", "dify"]
DOORS: tuple[Door, ...] = ("session", "episode", "dify")

AGENT = "airline-support"
_TURNS_PER_CALL = 6
"""A live session sends what happened since the last call, not its whole history."""


@dataclass(frozen=True, slots=True)
class Run:
    """One recorded run. `told`: the environment's verdict goes along with the reward; else the reward goes alone."""

    run_id: str
    task_id: int
    trial: int
    reward: float
    user_id: str
    verdict: str
    decisive: tuple[str, ...]
    messages: tuple[dict[str, Any], ...]
    door: Door
    told: bool

    @property
    def failed(self) -> bool:
        """The environment gave no reward."""
        return self.reward < 1.0

    @property
    def opening(self) -> str:
        """What the customer said first."""
        return str(self.messages[0]["content"])

    def outcome(self) -> dict[str, Any]:
        """The verdict as every door takes it."""
        status = "failure" if self.failed else "success"
        return {"status": status, "score": self.reward, "source": "env", "note": self.verdict if self.told else ""}


def folder() -> Path:
    """Where the examples lie: the clone, else the wheel. Raises Ended when neither has them."""
    package = Path(__file__).resolve().parents[1]
    for place in (package.parent / "examples", package / "examples_data"):
        if (place / "airline" / "runs.jsonl").is_file():
            return place
    raise Ended("the demo's runs are not installed", next_step="run it from a clone: make demo")


def load_runs(place: Path) -> tuple[Run, ...]:
    """Return all runs, spread evenly over doors, half of them with the verdict in words."""
    lines = (place / "airline" / "runs.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(_run(json.loads(line), number) for number, line in enumerate(lines))


def _run(row: dict[str, Any], number: int) -> Run:
    kept = {**row, "decisive": tuple(row["decisive"]), "messages": tuple(row["messages"])}
    return Run(**kept, door=DOORS[number % len(DOORS)], told=row["task_id"] % 2 == 0)


def load_openings(place: Path) -> dict[int, str]:
    """Return what the customer says first when a task is tried again, by task."""
    lines = (place / "airline" / "second_attempts.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["task_id"]: row["opening"] for row in map(json.loads, lines)}


def load_dify_failure(place: Path) -> dict[str, Any]:
    """Return the Chinese Dify run that failed."""
    body: dict[str, Any] = json.loads((place / "dify" / "canvas_failed_zh.json").read_text(encoding="utf-8"))
    return body


def load_own_run(place: Path, lang: str) -> dict[str, Any] | None:
    """Return a run in the audience's own language, as `POST /v1/episodes` takes it; None for English, in which the others are recorded."""
    if lang == "en":
        return None
    path = place / "desk" / f"run_{lang}.json"
    body: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return body


# --- how the doors want a run ---------------------------------------------------------------------------------------------------------


def turn_batches(run: Run) -> Iterator[list[dict[str, Any]]]:
    """Yield the turns of a live session as they would arrive, a few at a time."""
    turns = [{"turn_id": f"t{number}", **message} for number, message in enumerate(run.messages, 1)]
    yield from (turns[start : start + _TURNS_PER_CALL] for start in range(0, len(turns), _TURNS_PER_CALL))


def episode_body(run: Run) -> dict[str, Any]:
    """Return the body of `POST /v1/episodes`."""
    return {
        "user_id": run.user_id,
        "agent_id": AGENT,
        "run_id": run.run_id,
        "turns": list(run.messages),
        "outcome": run.outcome(),
    }


def dify_envelope(run: Run) -> dict[str, Any]:
    """Return the run as a Dify canvas would report it: the question, one step per tool, the last answer, how it ended."""
    steps = [
        {"title": message["name"], "type": "tool", "output": message["content"]}
        | ({"error": message["content"]} if str(message["content"]).startswith("Error") else {})
        for message in run.messages
        if message["role"] == "tool"
    ]
    answers = [message["content"] for message in run.messages if message["role"] == "assistant" and message.get("content")]
    return {
        "source": "dify",
        "event": "workflow.finished",
        "run": {
            "workflow_run_id": run.run_id,
            "workflow_id": AGENT,
            "app_id": AGENT,
            "conversation_id": "",
            "user_id": run.user_id,
        },
        "status": "failed" if run.failed else "succeeded",
        "error": None,
        "outcome": run.outcome(),
        "task": {"goal": run.opening, "inputs": {}},
        "outputs": {"answer": answers[-1] if answers else ""},
        "steps": steps,
        "metrics": {"total_steps": len(steps)},
    }
