"""What is sent: real messages and runs of the vendored airline agent, in order, without end."""

import json
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

_AIRLINE = Path(__file__).resolve().parent.parent / "examples" / "airline"


def runs() -> list[dict[str, Any]]:
    """The vendored runs, in file order."""
    return _lines("runs.jsonl")


def openings() -> list[str]:
    """What customers say first."""
    return [line["opening"] for line in _lines("second_attempts.jsonl")]


def messages() -> Iterator[dict[str, Any]]:
    """The messages of all runs, again and again."""
    return cycle([message for run in runs() for message in run["messages"]])


def episode(run: dict[str, Any], name: str, agent: str) -> bytes:
    """The body of POST /v1/episodes for a run under another name, so that it is a new task each time."""
    success = run["reward"] == 1.0
    body = {
        "user_id": f"{run['user_id']}-{agent}",
        "agent_id": agent,
        "run_id": name,
        "turns": run["messages"],
        "outcome": {
            "status": "success" if success else "failure",
            "source": "env",
            "score": run["reward"],
            "note": "" if success else run["verdict"],
        },
    }
    return json.dumps(body, ensure_ascii=False).encode()


def _lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (_AIRLINE / name).read_text(encoding="utf-8").splitlines() if line]
