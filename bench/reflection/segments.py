"""Where does one task end and the next begin? `python -m bench.reflection.segments` prints it for both languages.

`segments.jsonl`: 60 sessions of 1 to 4 joined runs (`segments_make.py`). A boundary is found where a part begins within one turn of it;
each counts once. Intervals by drawing whole sessions again.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bench.reflection.sampling import half_of, told
from bench.reflection.segments_make import airline_runs, material, parallel_runs
from hindwise.model.turn import Origin, ToolCall, Turn
from hindwise.reflect.segment import segment
from hindwise.text.language import language_of

_FILE = Path(__file__).with_name("segments.jsonl")
_ORIGIN = {"user": Origin.USER, "assistant": Origin.AGENT, "tool": Origin.TOOL}
_BEGIN = datetime(2026, 1, 5, 9, tzinfo=UTC)
_NEAR = 1
_CHAINS = {"dev": "orders in a row (dev)", "report": "orders in a row (report)"}
_DRAWS, _SEED = 2_000, 20_260_101


@cache
def sessions() -> tuple[dict[str, Any], ...]:
    """All 60 sessions."""
    return tuple(json.loads(line) for line in _FILE.read_text(encoding="utf-8").splitlines())


def turns_of(rows: Sequence[dict[str, Any]]) -> tuple[Turn, ...]:
    """The turns of a session; `pause` is in seconds before the turn."""
    turns: list[Turn] = []
    now = _BEGIN
    for seq, row in enumerate(rows, 1):
        now += timedelta(seconds=row.get("pause", 20))
        call = row.get("call")
        turns.append(
            Turn(
                seq=seq,
                turn_id=f"t{seq}",
                role=row["role"],
                origin=_ORIGIN[row["role"]],
                content=row.get("content") or "",
                name=row.get("name", ""),
                tool_calls=(ToolCall(name=call["name"], arguments=call["arguments"]),) if call else (),
                occurred_at=now,
            )
        )
    return tuple(turns)


@dataclass(frozen=True)
class Judged:
    """One session: how many boundaries were found, missed and made up; places are turns counted from 0."""

    session: dict[str, Any]
    found: tuple[int, ...]
    missed: tuple[int, ...]
    wrong: tuple[int, ...]


@cache
def judged() -> tuple[Judged, ...]:
    """Every session, cut and compared."""
    return tuple(_judge(session) for session in sessions())


def _judge(session: dict[str, Any]) -> Judged:
    rest = [part.first_seq - 1 for part in segment(turns_of(session["turns"]))][1:]
    found: list[int] = []
    missed: list[int] = []
    for boundary in session["boundaries"]:
        near = sorted((abs(place - boundary["at"]), place) for place in rest if abs(place - boundary["at"]) <= _NEAR)
        (found if near else missed).append(boundary["at"])
        if near:
            rest.remove(near[0][1])
    return Judged(session, tuple(found), tuple(missed), tuple(rest))


def f1(chosen: Sequence[Judged]) -> float:
    """2 found / (2 found + missed + made up)."""
    found = sum(len(j.found) for j in chosen)
    return 2 * found / max(1, 2 * found + sum(len(j.missed) + len(j.wrong) for j in chosen))


def f1_interval(chosen: Sequence[Judged]) -> tuple[float, float]:
    """The 95 % interval of F1, sessions drawn again with a fixed seed."""
    draw = np.random.default_rng(_SEED)
    counts = np.array([(len(j.found), len(j.missed) + len(j.wrong)) for j in chosen])
    picks = counts[draw.integers(0, len(counts), (_DRAWS, len(counts)))].sum(axis=1)
    values = 2 * picks[:, 0] / np.maximum(1, 2 * picks[:, 0] + picks[:, 1])
    low, high = np.quantile(values, (0.025, 0.975))
    return float(low), float(high)


def whole_runs() -> Iterator[tuple[str, str, tuple[Turn, ...]]]:
    """Language, name and turns of every run alone: nothing is to be cut. Some airline customers do want a second thing after the first."""
    for lang in ("en", "zh"):
        for run in [*material(lang), *parallel_runs(lang)]:
            yield lang, run["name"], turns_of(run["turns"])
    for run in airline_runs():
        yield "en", run["name"], turns_of(run["turns"])


def chains() -> Iterator[tuple[str, str, tuple[Turn, ...]]]:
    """Language, half and turns of orders in a row about one thing (`segments_chains.txt`), the hardest to leave in one piece."""
    for line in _FILE.with_name("segments_chains.txt").read_text(encoding="utf-8").splitlines():
        half, *said = line.split(" | ")
        if said:
            rows = [{"role": "assistant" if place % 2 else "user", "content": words} for place, words in enumerate(said)]
            yield language_of(said[0]), half, turns_of(rows)


def without_pause(kind: str) -> Iterator[dict[str, Any]]:
    """The joined runs of `segments_{kind}.txt` as sessions; `fresh` ones were looked at, `unseen` ones not."""
    for number, line in enumerate(_FILE.with_name(f"segments_{kind}.txt").read_text(encoding="utf-8").splitlines()):
        lang, *said = line.split(" | ")
        if said and not line.startswith("#"):
            rows = [
                {"role": "assistant" if place % 2 else "user", "content": words.removeprefix("## ")} for place, words in enumerate(said)
            ]
            begins = [{"at": place} for place, words in enumerate(said) if words.startswith("## ")]
            yield {"id": f"{kind}-{number}", "lang": lang, "runs": [line] * (len(begins) + 1), "boundaries": begins, "turns": rows}


def without_pause_judged(kind: str, lang: str) -> list[Judged]:
    """Those of one language, cut and compared."""
    return [_judge(session) for session in without_pause(kind) if session["lang"] == lang]


def without_pause_table() -> list[str]:
    """What is found in sessions without pauses; where one task goes on all the way, nothing is to be cut: the last column."""
    lines = ["| without pause | language | boundary F1 [95 %] | recall [95 %] | precision [95 %] | single-run sessions cut |"]
    lines.append("|---|---|---|---|---|---|")
    for kind in ("fresh", "unseen"):
        for lang in ("en", "zh"):
            lines.append(f"| {kind} | {lang} | {_row(without_pause_judged(kind, lang))} |")
    return lines


def _row(chosen: Sequence[Judged]) -> str:
    low, high = f1_interval(chosen)
    found, missed, wrong = (sum(len(getattr(j, name)) for j in chosen) for name in ("found", "missed", "wrong"))
    single = [j for j in chosen if len(j.session["runs"]) == 1]
    cut = f"{sum(bool(j.wrong) for j in single)}/{len(single)}"
    return f"{f1(chosen):.2f} [{low:.2f}, {high:.2f}] | {told(found, found + missed)} | {told(found, found + wrong)} | {cut}"


def table() -> list[str]:
    """The figures as lines of a Markdown table."""
    lines = [
        "| half | language | boundary F1 within one turn [95 %] | recall [95 %] | precision [95 %] | single-run sessions cut |",
        "|---|---|---|---|---|---|",
    ]
    for part in ("dev", "report", "all"):
        for lang in ("en", "zh"):
            chosen = [j for j in judged() if j.session["lang"] == lang and part in ("all", half_of(j.session["id"]))]
            lines.append(f"| {part} | {lang} | {_row(chosen)} |")
    return [*lines, "", "| boundary with | en | zh |", "|---|---|---|", *_by_sign()]


def _sign_of(boundary: dict[str, Any]) -> str:
    if boundary["mark"] != "none":
        return "a word that opens or closes"
    return "neither word nor pause" if boundary["pause"] == "none" else "a pause of 8 minutes and more, no word"


def _by_sign() -> list[str]:
    """What is found where which sign stands."""
    marked: defaultdict[tuple[str, str], list[bool]] = defaultdict(list)
    for j in judged():
        for boundary in j.session["boundaries"]:
            marked[_sign_of(boundary), j.session["lang"]].append(boundary["at"] in j.found)
    titles = dict.fromkeys(title for title, _ in sorted(marked))
    return [
        f"| {title} | {' | '.join(told(sum(marked[title, lang]), len(marked[title, lang])) for lang in ('en', 'zh'))} |" for title in titles
    ]


def whole_table() -> list[str]:
    """How many runs are cut though they are one."""
    counts: Counter[tuple[str, str, bool]] = Counter()
    for lang, name, turns in whole_runs():
        counts[lang, name.partition("/")[0], len(segment(turns)) > 1] += 1
    for lang, half, turns in chains():
        counts[lang, _CHAINS[half], len(segment(turns)) > 1] += 1
    lines = ["| whole runs that are cut, by origin | en | zh |", "|---|---|---|"]
    for origin in ("own", "parallel", "airline", *_CHAINS.values()):
        cells = [_cut(counts[lang, origin, True], counts[lang, origin, False]) for lang in ("en", "zh")]
        lines.append(f"| {origin} | {cells[0]} | {cells[1]} |")
    return lines


def _cut(cut: int, left: int) -> str:
    return told(cut, cut + left) if cut + left else ""


def main() -> None:
    """Print the tables, and what was missed or made up in the dev half."""
    print("\n".join([*table(), "", *whole_table(), "", *without_pause_table()]))
    print("\n" + "\n".join(f"cut: {name}" for _, name, turns in whole_runs() if len(segment(turns)) > 1))
    for j in judged():
        if half_of(j.session["id"]) == "dev" and (j.missed or j.wrong):
            print(f"\n{j.session['id']} {j.session['runs']} boundaries {j.session['boundaries']}")
            for kind, places in (("missed", j.missed), ("wrong", j.wrong)):
                for place in places:
                    before, here = (j.session["turns"][max(0, place - 1)], j.session["turns"][place])
                    print(f"  {kind} {place}: {_line(before)}  >>>  {_line(here)}")


def _line(turn: dict[str, Any]) -> str:
    return f"{turn['role']}: {str(turn.get('content') or turn.get('call'))[:110]}"


if __name__ == "__main__":
    main()
