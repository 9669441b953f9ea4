"""The same events in English and in Chinese: is the same learned from them? `python -m bench.reflection.parallel`.

40 runs of our own (`parallel_runs.jsonl`) and 48 that were written later (`parallel_fresh.jsonl`), the expectations before any rule was
run on them. Rules are chosen on the dev halves. A draft that nothing expects is wrong; one that an `optional` expectation fits counts
neither way (the way of a success, the plain word that no cause is visible).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from bench.reflection.sampling import Half, half_of, told
from hindwise.model.episode import Episode, Outcome
from hindwise.model.memory import Draft, Kind
from hindwise.model.turn import Origin, ToolCall, Turn
from hindwise.reflect.rules import reflect_by_rules
from hindwise.text.language import language_of

RUNS = Path(__file__).with_name("parallel_runs.jsonl")
FRESH = Path(__file__).with_name("parallel_fresh.jsonl")
_ORIGIN = {"user": Origin.USER, "assistant": Origin.AGENT, "tool": Origin.TOOL}
_BEGIN = datetime(2026, 1, 5, 9, tzinfo=UTC)


@cache
def runs(path: Path = RUNS) -> tuple[dict[str, Any], ...]:
    """All runs of one set, by default the 40; those of one pair lie in the same half."""
    return tuple(json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())


def half(run: dict[str, Any]) -> Half:
    """The half of the run's pair."""
    return half_of(run["pair"])


def episode_of(run: dict[str, Any]) -> Episode:
    """The run as an episode."""
    turns = []
    for seq, turn in enumerate(run["turns"], 1):
        call = turn.get("call")
        turns.append(
            Turn(
                seq=seq,
                turn_id=f"t{seq}",
                role=turn["role"],
                origin=_ORIGIN[turn["role"]],
                content=turn.get("content", ""),
                name=turn.get("name", ""),
                tool_calls=(ToolCall(id="", name=call["name"], arguments=call["arguments"]),) if call else (),
                occurred_at=_BEGIN + timedelta(seconds=10 * seq),
            )
        )
    return Episode(
        id=run["id"],
        tenant_id="bench",
        user_id="bench",
        agent_id="bench",
        run_id=run["id"],
        outcome=Outcome(**run["outcome"]),
        turns=tuple(turns),
        started_at=_BEGIN,
        ended_at=turns[-1].occurred_at,
    )


def fits(draft: Draft, expected: dict[str, Any]) -> bool:
    """Kind, sort of lesson, one word of every group, and the exception where one is expected."""
    if draft.kind not in expected["kinds"] or (
        draft.kind is Kind.LESSON and draft.lesson_type not in expected.get("types", (draft.lesson_type,))
    ):
        return False
    words = " ".join((draft.conclusion, draft.applies_when, draft.value, draft.attribute, draft.retrospective.next_time)).lower()
    exception = all(word in draft.not_when for word in expected.get("not_when", ()))
    return exception and all(any(word.lower() in words for word in group) for group in expected["words"])


@dataclass(frozen=True)
class Judged:
    """One run: what was found, missed and made up."""

    run: dict[str, Any]
    drafts: tuple[Draft, ...]
    found: tuple[Draft, ...]
    missed: tuple[dict[str, Any], ...]
    wrong: tuple[Draft, ...]


def judge(run: dict[str, Any]) -> Judged:
    """Reflect by rules and compare; every draft and every expectation counts once."""
    drafts = reflect_by_rules(episode_of(run)).drafts
    rest = [draft for draft in drafts if draft.kind is not Kind.EVENT]
    found, missed = [], []
    for expected in (e for e in run["expected"] if not e.get("optional")):
        match = next((draft for draft in rest if fits(draft, expected)), None)
        if match is None:
            missed.append(expected)
        else:
            found.append(match)
            rest.remove(match)
    wrong = [draft for draft in rest if not any(e.get("optional") and fits(draft, e) for e in run["expected"])]
    return Judged(run, drafts, tuple(found), tuple(missed), tuple(wrong))


@dataclass(frozen=True)
class Figure:
    """What was found in one language and part."""

    lang: str
    part: str
    found: int
    missed: int
    wrong: int
    in_language: int
    conclusions: int

    @property
    def f1(self) -> float:
        """2 found / (2 found + missed + wrong)."""
        return 2 * self.found / max(1, 2 * self.found + self.missed + self.wrong)


def figures(judged: Sequence[Judged]) -> list[Figure]:
    """Per language: both halves, and all."""
    return [
        _figure(lang, part, [j for j in judged if j.run["lang"] == lang and part in ("all", half(j.run))])
        for part in ("dev", "report", "all")
        for lang in ("en", "zh")
    ]


def _figure(lang: str, part: str, chosen: Sequence[Judged]) -> Figure:
    told = [d for j in chosen for d in j.drafts]
    return Figure(
        lang,
        part,
        sum(len(j.found) for j in chosen),
        sum(len(j.missed) for j in chosen),
        sum(len(j.wrong) for j in chosen),
        sum(language_of(d.conclusion) == lang for d in told),
        len(told),
    )


def table(judged: Sequence[Judged]) -> list[str]:
    """The figures as lines of a Markdown table."""
    lines = [
        "| half | language | F1 | recall [95 %] | precision [95 %] | conclusions in the transcript's language |",
        "|---|---|---|---|---|---|",
    ]
    for f in figures(judged):
        recall, precision = told(f.found, f.found + f.missed), told(f.found, f.found + f.wrong)
        lines.append(f"| {f.part} | {f.lang} | {f.f1:.2f} | {recall} | {precision} | {f.in_language}/{f.conclusions} |")
    return lines


def main() -> None:
    """Print the tables, and every run of the dev halves that missed or made up something."""
    sets = [[judge(run) for run in runs(path)] for path in (RUNS, FRESH)]
    for judged in sets:
        print("\n".join([*table(judged), ""]))
    for j in (one for judged in sets for one in judged):
        if half(j.run) == "dev":
            print(f"\n{j.run['id']}: found {len(j.found)}")
            for expected in j.missed:
                print("  missed", expected["kinds"], expected.get("types", ""), expected["words"])
            for draft in j.wrong:
                print("  wrong ", draft.kind, draft.conclusion)
            for draft in j.found:
                print("  found ", draft.kind, draft.conclusion)


if __name__ == "__main__":
    main()
