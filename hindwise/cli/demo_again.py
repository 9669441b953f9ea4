"""Act 5: second attempts of new customers, what their briefs say, and the figures at the end."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from hindwise.cli.demo_data import AGENT, Run, load_openings
from hindwise.cli.demo_figures import FIRST, Asked, Rate, names_decisive_call, same_task
from hindwise.cli.demo_show import Show, side_by_side

_BRIEF_LINES = 5
"""Guide sentence, heading, three lessons."""
_LIVE = ("active", "pending")


def second_attempts(show: Show) -> None:
    """Act 5: a brief for each opening, two of them shown, and one question that has nothing to do with it."""
    firsts = _first_attempts(show)
    openings = load_openings(show.place)
    show.stage.act(5, tasks=len(firsts))
    lessons = [memory for memory in show.all_of("/v1/memories", agent_id=AGENT, kind="lesson") if memory["status"] in _LIVE]
    behind = {lesson["memory_id"]: _episodes_of(show, lesson) for lesson in lessons}
    asked: list[Asked] = []

    def done(run: Run, answer: dict[str, Any]) -> None:
        episodes = tuple(behind.get(item["memory_id"], frozenset()) for item in answer["items"])
        first = show.accepted[run.run_id]["episode_id"]
        asked.append(Asked(run.task_id, answer["brief"], episodes, first, run.decisive, run.told))
        bar("bar_asked", len(asked))

    with show.stage.bars({"bar_asked": len(firsts)}) as bar:
        side_by_side(lambda run: _ask(show, run.task_id, openings[run.task_id]), firsts, done)
    _show_examples(show, asked, firsts, openings)
    _ask_something_else(show)
    show.figures |= {
        "same_task_first_5": _as_figure(same_task(asked, list(behind.values()))),
        "names_decisive_call_with_verdict": _as_figure(names_decisive_call(asked, told=True)),
        "names_decisive_call_reward_alone": _as_figure(names_decisive_call(asked, told=False)),
    }


def _ask(show: Show, task_id: int, opening: str) -> dict[str, Any]:
    return show.recall(opening, limit=FIRST, user_id=f"newcomer-{task_id}", agent_id=AGENT)


def _first_attempts(show: Show) -> list[Run]:
    """First attempts whose second one was not fed in: the others would be asked what they were told."""
    again = {run.task_id for run in show.runs if run.trial > 0}
    return [run for run in show.runs if run.task_id not in again]


def _episodes_of(show: Show, lesson: Mapping[str, Any]) -> frozenset[str]:
    of_reflection = {answer["reflection_id"]: answer["episode_id"] for answer in show.accepted.values()}
    own = of_reflection.get(lesson["reflection_id"])
    return frozenset(evidence["episode_id"] for evidence in lesson["evidence"]) | ({own} if own else set())


def _show_examples(show: Show, asked: list[Asked], firsts: list[Run], openings: Mapping[int, str]) -> None:
    """Of each half the first failed attempt in the order of tasks, next to the brief for the second: not the best, not the worst."""
    runs = {run.task_id: run for run in firsts}
    failed = [one for one in asked if runs[one.task_id].failed]
    for one in [next(one for one in failed if one.told == told) for told in (True, False)]:
        show.stage.quote("customer_asks", openings[one.task_id])
        show.stage.say("did_wrong" if one.told else "did_wrong_untold", verdict=runs[one.task_id].verdict)
        show.stage.quote("brief", one.brief, at_most=_BRIEF_LINES)


def _ask_something_else(show: Show) -> None:
    query = show.stage.words("unrelated_query")
    show.stage.say("unrelated", query=query)
    answer = show.recall(query, user_id="newcomer-curious", agent_id=AGENT)
    show.promise(not answer["brief"] and not answer["items"] and bool(answer["reason"]), "act5_checked", reason=answer["reason"] or "?")


def _as_figure(rate: Rate) -> dict[str, float]:
    return {"hits": rate.hits, "asked": rate.asked, "share": round(rate.share, 4), "baseline": round(rate.baseline, 4)}


# --- the table at the end -------------------------------------------------------------------------------------------------------------


def closing_table(show: Show, users: list[str], agents: list[str], seconds: float) -> None:
    """Count all that this run left in the ledger, and show it with the rates of act 5."""
    episodes = {row["episode_id"] for owner in _owners(users, agents) for row in show.all_of("/v1/episodes", **owner)}
    status = Counter(row["status"] for row in show.all_of("/v1/reflections") if row["episode_id"] in episodes)
    memories = {
        row["memory_id"]: row["kind"]
        for owner in _owners(users, agents)
        for row in show.all_of("/v1/memories", **owner)
        if row["status"] in _LIVE
    }
    kinds = Counter(memories.values())
    show.figures |= {"all_episodes": len(episodes), "reflections": dict(status), "memories": dict(kinds), "seconds": round(seconds, 1)}
    say = show.stage.words
    rows = [
        (say("row_episodes"), str(len(episodes)), ""),
        (say("row_reflections"), f"{status['completed']} / {status['skipped']} / {status['failed']}", ""),
        *((say("row_memories", kind=say(f"kind_{kind}")), str(number), "") for kind, number in sorted(kinds.items())),
        (say("row_same_task", first=FIRST), *_told(show, "same_task_first_5", "random")),
        (say("row_told"), *_told(show, "names_decisive_call_with_verdict", "other_briefs")),
        (say("row_bare"), *_told(show, "names_decisive_call_reward_alone", "other_briefs")),
        (say("row_seconds"), f"{seconds:.0f}", ""),
    ]
    show.stage.table("figures", rows)
    show.stage.say("other_briefs_mean")


def _told(show: Show, figure: str, baseline_key: str) -> tuple[str, str]:
    """A rate, and the one to hold it against."""
    rate = show.figures[figure]
    say = show.stage.words
    return say("of", hits=rate["hits"], asked=rate["asked"], rate=rate["share"]), say(baseline_key, rate=rate["baseline"])


def _owners(users: list[str], agents: list[str]) -> list[dict[str, str]]:
    return [{"user_id": user} for user in users] + [{"agent_id": agent} for agent in agents]
