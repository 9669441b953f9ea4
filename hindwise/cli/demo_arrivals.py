"""Acts 1 and 2: runs come in through three doors; the worker is killed while it reflects, and nothing is lost or doubled."""

import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from hindwise.cli.client import FINAL
from hindwise.cli.demo_data import AGENT, DOORS, Run, dify_envelope, episode_body, load_own_run, turn_batches
from hindwise.cli.demo_figures import count
from hindwise.cli.demo_show import Show, side_by_side

_LATE = 11
"""Runs held back for the second act, so that the kill always meets work, however fast the machine."""
_LOOK_S = 0.05


def runs_come_in(show: Show) -> None:
    """Act 1: most runs, through all doors; then the first lesson."""
    doors = {str(door): sum(run.door == door for run in show.runs) for door in DOORS}
    told = sum(run.told for run in show.runs)
    early = show.runs[:-_LATE]
    enough = len(early) // 3
    show.stage.act(1, **doors, early=len(early), late=_LATE, told=told, bare=len(show.runs) - told, enough=enough)
    _send_all(show, early)
    show.wait_final(list(show.accepted.values()), enough=enough)
    _tell_first_lesson(show)


def worker_is_killed(show: Show) -> None:
    """Act 2: the rest, a kill -9 in the midst of it, and the count."""
    late = show.runs[-_LATE:]
    show.stage.act(2, late=len(late))
    _send_all(show, late)
    left = _wait_for_work(show)
    show.stage.say("killed", pid=show.server.kill_worker(), open=left)
    show.wait_final(list(show.accepted.values()))
    counted = count(
        [run.run_id for run in show.runs],
        show.all_of("/v1/episodes", agent_id=AGENT),
        show.all_of("/v1/reflections"),
        _all_memories(show),
    )
    show.figures |= {
        "runs": counted.runs,
        "episodes": counted.episodes,
        "done": counted.done,
        "doubled": counted.doubled,
        "killed_with": left,
    }
    holds = counted.done == counted.runs == counted.episodes and counted.doubled == 0
    show.promise(
        holds,
        "act2_counted",
        done=counted.done,
        runs=counted.runs,
        doubled=counted.doubled,
        episodes=counted.episodes,
        memories=counted.memories,
    )


def _send_all(show: Show, runs: Sequence[Run]) -> None:
    sent: Counter[str] = Counter()
    with show.stage.bars({f"bar_{door}": sum(run.door == door for run in runs) for door in DOORS}) as bar:

        def done(run: Run, answer: dict[str, Any]) -> None:
            show.accepted[run.run_id] = answer
            sent[run.door] += 1
            bar(f"bar_{run.door}", sent[run.door])

        side_by_side(lambda run: _send(show, run), runs, done)


def _send(show: Show, run: Run) -> dict[str, Any]:
    """Send one run through its door and return what the door answers."""
    answer: dict[str, Any]
    if run.door == "episode":
        answer = show.api.post("/v1/episodes", episode_body(run))
    elif run.door == "dify":
        answer = show.api.post("/v1/hooks/dify", dify_envelope(run))
    else:
        for turns in turn_batches(run):
            show.api.post(f"/v1/sessions/{run.run_id}/turns", {"user_id": run.user_id, "agent_id": AGENT, "turns": turns})
        answer = show.api.post(f"/v1/sessions/{run.run_id}/complete", {"user_id": run.user_id, "outcome": run.outcome(), "close": True})
    return answer


def _wait_for_work(show: Show) -> int:
    """Wait until a reflection runs; how many are unfinished then."""
    end = time.monotonic() + 10.0
    while True:
        states = show.states(list(show.accepted.values()))
        left = sum(state not in FINAL for state in states)
        if "running" in states or left == 0 or time.monotonic() > end:
            return left
        time.sleep(_LOOK_S)


def _tell_first_lesson(show: Show) -> None:
    """Show one lesson with what stands behind it: of a failed run, where there is one already; in the audience's language."""
    if own := load_own_run(show.place, show.stage.lang):
        _tell_own_lesson(show, own)
        return
    lessons = show.all_of("/v1/memories", agent_id=AGENT, kind="lesson")
    of_reflection = {show.accepted[run.run_id]["reflection_id"]: run for run in show.runs if run.run_id in show.accepted}
    known = [(of_reflection[lesson["reflection_id"]], lesson) for lesson in reversed(lessons) if lesson["reflection_id"] in of_reflection]
    if not known:
        return
    run, lesson = next(((run, lesson) for run, lesson in known if run.failed and run.told), known[0])
    _quote_lesson(show, lesson, failed=run.failed)


def _tell_own_lesson(show: Show, own: dict[str, Any]) -> None:
    """The recorded runs are English: one more run is fed in for this audience, and its lesson is shown."""
    show.stage.say("act1_own", goal=own["goal"], note=own["outcome"]["note"])
    show.settle(show.api.post("/v1/episodes", own))
    lessons = show.all_of("/v1/memories", agent_id=own["agent_id"], kind="lesson")
    for lesson in [one for one in lessons if own["outcome"]["note"] in one["retrospective"]["what_failed_and_why"]][:1] or lessons[:1]:
        _quote_lesson(show, lesson, failed=True)


def _quote_lesson(show: Show, lesson: Mapping[str, Any], *, failed: bool) -> None:
    behind = lesson["retrospective"]
    lines = [lesson["conclusion"]]
    lines += [
        show.stage.words(key, text=behind[part])
        for key, part in (("why", "what_failed_and_why"), ("next_time", "next_time"))
        if behind[part]
    ]
    show.stage.quote("act1_first", os.linesep.join(lines), whole=True, outcome=show.stage.words("failed" if failed else "succeeded"))


def _all_memories(show: Show) -> list[dict[str, Any]]:
    """The agent's shared ones and those of every user, each once."""
    found = {memory["memory_id"]: memory for memory in show.all_of("/v1/memories", agent_id=AGENT)}
    for user in sorted({run.user_id for run in show.runs}):
        found |= {memory["memory_id"]: memory for memory in show.all_of("/v1/memories", user_id=user)}
    return list(found.values())
