"""What the demo counts. Pure: rows of the API in, figures out."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from statistics import fmean
from typing import Any

FIRST = 5
"""How many items of a brief count as its beginning."""

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Count:
    """What the ledger says of the runs that went in."""

    runs: int
    episodes: int
    done: int
    """Runs with exactly one episode and exactly one reflection, and that one completed or skipped."""
    doubled: int
    """Episodes, reflections and memories beyond the one that there should be."""
    memories: int
    status: Mapping[str, int]


def count(run_ids: Collection[str], episodes: Iterable[Row], reflections: Iterable[Row], memories: Iterable[Row]) -> Count:
    """Count episodes, reflections and memories of these runs. A live session's episode is known by its session's id."""
    of_run: dict[str, list[str]] = {run_id: [] for run_id in run_ids}
    for episode in episodes:
        name = episode["run_id"] or episode["session_id"]
        if name in of_run:
            of_run[name].append(episode["episode_id"])
    ours = {episode_id for ids in of_run.values() for episode_id in ids}
    states: dict[str, list[str]] = {episode_id: [] for episode_id in ours}
    for reflection in reflections:
        if reflection["episode_id"] in ours:
            states[reflection["episode_id"]].append(str(reflection["status"]))
    kept = [memory for memory in memories if memory["status"] == "active"]
    same = Counter((m["reflection_id"], m["space"], m["kind"], m["conclusion"], m["applies_when"]) for m in kept)
    lists: list[Sequence[str]] = [*of_run.values(), *states.values()]
    return Count(
        runs=len(of_run),
        episodes=len(ours),
        done=sum(len(ids) == 1 and states[ids[0]] in (["completed"], ["skipped"]) for ids in of_run.values()),
        doubled=sum(max(0, len(found) - 1) for found in lists) + sum(n - 1 for n in same.values()),
        memories=len(kept),
        status=Counter(status for found in states.values() for status in found),
    )


@dataclass(frozen=True, slots=True)
class Asked:
    """One second attempt: the brief, the episodes behind its items in order, and what was decisive the first time."""

    task_id: int
    brief: str
    episodes: tuple[frozenset[str], ...]
    first_attempt: str
    """Episode id of the first attempt."""
    decisive: tuple[str, ...]
    """Empty where the first attempt succeeded: then there is nothing to name."""
    told: bool

    def finds_own_task(self) -> bool:
        """A lesson of the same task stands among the first five."""
        return any(self.first_attempt in episodes for episodes in self.episodes[:FIRST])

    def names_call(self, brief: str) -> bool:
        """`brief` names, in full, a call that made the difference."""
        return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", brief) for name in self.decisive)


@dataclass(frozen=True, slots=True)
class Rate:
    """So many of so many, next to what comes out without the order or the brief being right."""

    hits: int
    asked: int
    baseline: float

    @property
    def share(self) -> float:
        """0..1; 0 where nothing was asked."""
        return self.hits / self.asked if self.asked else 0.0


def same_task(asked: Sequence[Asked], lessons: Sequence[frozenset[str]]) -> Rate:
    """How often the own task's lesson is among the first five; baseline: five of all `lessons` (their episodes) drawn at random."""
    chance = [_drawn(sum(a.first_attempt in episodes for episodes in lessons), len(lessons)) for a in asked]
    return Rate(sum(a.finds_own_task() for a in asked), len(asked), fmean(chance) if chance else 0.0)


def _drawn(wanted: int, of: int) -> float:
    """Probability that five drawn without replacement hold at least one of `wanted`."""
    return 1.0 - comb(of - wanted, min(FIRST, of)) / comb(of, min(FIRST, of)) if of else 0.0


def names_decisive_call(asked: Sequence[Asked], *, told: bool) -> Rate:
    """How often a brief names the call that decided the failed first attempt; baseline: the briefs of all other tasks."""
    half = [a for a in asked if a.decisive and a.told == told]
    others = [a.names_call(other.brief) for a in half for other in asked if other.task_id != a.task_id]
    return Rate(sum(a.names_call(a.brief) for a in half), len(half), fmean(others) if others else 0.0)
