"""What the rule reflector makes of 100 real customer-service runs: `python -m bench.reflection.airline`.

Half of the runs come with the reward alone, half with the environment's verdict in `outcome.note`. Printed, never a test of time.
Data: `tau_airline.jsonl` in the folder that HINDWISE_EVAL_DATA names.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from examples.airline.verdict import verdict_note
from hindwise.model.episode import Episode, Outcome, OutcomeSource, OutcomeStatus
from hindwise.model.memory import Draft, Kind
from hindwise.model.reflection import Answer
from hindwise.model.turn import Origin, ToolCall, Turn
from hindwise.reflect.base import Known
from hindwise.reflect.rules import reflect_by_rules
from hindwise.reflect.rules.findings import task_key
from hindwise.reflect.validators import ground
from hindwise.safety.identities import identities
from hindwise.safety.personal import personal_data

_ORIGIN = {"user": Origin.USER, "assistant": Origin.AGENT, "tool": Origin.TOOL}
_BEGIN = datetime(2026, 1, 5, 9, tzinfo=UTC)


def data_path() -> Path:
    """Where the runs lie."""
    default = Path(__file__).resolve().parents[3] / "shared" / "data"
    return Path(os.environ.get("HINDWISE_EVAL_DATA", default)) / "tau_airline.jsonl"


def runs(path: Path) -> list[dict[str, Any]]:
    """All runs, in file order."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def turns_of(run: dict[str, Any], begin: datetime) -> tuple[Turn, ...]:
    """The run's messages as turns, ten seconds apart."""
    turns = []
    for seq, message in enumerate(run["messages"], 1):
        calls = tuple(
            ToolCall(id=c["id"], name=c["function"]["name"], arguments=json.loads(c["function"]["arguments"]))
            for c in message.get("tool_calls") or ()
        )
        turns.append(
            Turn(
                seq=seq,
                turn_id=f"t{seq}",
                role=message["role"],
                origin=_ORIGIN[message["role"]],
                content=re.sub(r"\s*###STOP###\s*", "", message["content"] or ""),
                name=message.get("name") or "",
                tool_calls=calls,
                tool_call_id=message.get("tool_call_id") or "",
                occurred_at=begin + timedelta(seconds=10 * seq),
            )
        )
    return tuple(turns)


def episode_of(run: dict[str, Any], *, with_verdict: bool) -> Episode:
    """The run as an episode judged by the environment; what only the simulated customer knew stays out."""
    begin = _BEGIN + timedelta(hours=int(run["task_id"]), days=int(run["trial"]))
    turns = turns_of(run, begin)
    success = run["reward"] == 1.0
    note = "" if success or not with_verdict else verdict_note(run["messages"], run["expected_actions"])
    return Episode(
        id=run["run_id"],
        tenant_id="bench",
        user_id=run["user_id"],
        agent_id="airline",
        run_id=run["run_id"],
        outcome=Outcome(
            status=OutcomeStatus.SUCCESS if success else OutcomeStatus.FAILURE, score=run["reward"], source=OutcomeSource.ENV, note=note
        ),
        turns=turns,
        started_at=begin,
        ended_at=turns[-1].occurred_at,
    )


@dataclass(frozen=True)
class Result:
    """One run and what was made of it."""

    episode: Episode
    answer: Answer
    contrasted: bool

    @property
    def lessons(self) -> list[Draft]:
        """Its lessons."""
        return [d for d in self.answer.drafts if d.kind is Kind.LESSON]


def reflect_all(data: Sequence[dict[str, Any]]) -> Iterator[Result]:
    """Reflect over the runs in order; earlier runs of the same generalised task are given for contrast, the opposite outcome first."""
    seen: dict[str, list[Episode]] = {}
    for number, run in enumerate(data):
        episode = episode_of(run, with_verdict=number % 2 == 1)
        same = seen.setdefault(task_key(episode), [])
        earlier = sorted(same, key=lambda e: e.outcome.status == episode.outcome.status)[:6]
        yield Result(episode, reflect_by_rules(episode, Known(earlier=tuple(earlier))), bool(earlier))
        same.append(episode)


def figures(results: Sequence[Result]) -> dict[str, float]:
    """The figures by name, shares as 0..1."""
    failed = [r for r in results if r.episode.outcome.status is OutcomeStatus.FAILURE]
    lines = Counter(d.conclusion for r in results for d in r.lessons)
    lessons = [d for r in results for d in r.lessons]
    checked = [ground(r.episode, r.answer) for r in results]
    drafts = [d for r in results for d in r.answer.drafts]

    def hidden(result: Result) -> bool:
        return any("cause-not-visible" in d.topics for d in result.lessons)

    def specific(result: Result) -> bool:
        return any("cause-not-visible" not in d.topics for d in result.lessons)

    share = {
        "": failed,
        " (reward alone)": [r for r in failed if not r.episode.outcome.note],
        " (with verdict)": [r for r in failed if r.episode.outcome.note],
    }
    out: dict[str, float] = {"runs": len(results), "failed runs": len(failed), "drafts": len(drafts), "lessons": len(lessons)}
    for name, chosen in share.items():
        out[f"failed runs with a specific lesson{name}"] = sum(map(specific, chosen)) / max(1, len(chosen))
        out[f"failed runs with cause not visible{name}"] = sum(map(hidden, chosen)) / max(1, len(chosen))
    out["runs with an earlier one of the same task"] = sum(r.contrasted for r in results) / len(results)
    out["generic lines (same text in more than 3 runs)"] = sum(n for n in lines.values() if n > 3) / max(1, len(lessons))
    out["drafts that pass every validator"] = sum(len(g.accepted) for g in checked) / max(1, len(drafts))
    quoted = [c for g in checked for c in g.complaints if c.rule == "quote-occurs"]
    out["drafts whose quotes are found"] = 1 - len(quoted) / max(1, len(drafts))
    out["lessons with personal data"] = sum(_is_personal(r.episode, d) for r in results for d in r.lessons)
    return out


def _is_personal(episode: Episode, draft: Draft) -> bool:
    words = draft.model_dump(mode="json", exclude={"evidence"})
    return bool(personal_data(json.dumps(words, ensure_ascii=False), names=identities(episode)))


def main() -> None:
    """Print the figures and some lessons."""
    results = list(reflect_all(runs(data_path())))
    for name, value in figures(results).items():
        print(f"{name:60} {value:.2f}" if isinstance(value, float) else f"{name:60} {value}")
    print("\nby topic:", dict(Counter(t for r in results for d in r.lessons for t in d.topics).most_common()))
    print("by kind:", dict(Counter(str(d.kind) for r in results for d in r.answer.drafts).most_common()))
    for result in results:
        for draft in result.lessons:
            print(f"{result.episode.id} {result.episode.outcome.status:8} {','.join(draft.topics):18} {draft.conclusion}")


if __name__ == "__main__":
    main()
