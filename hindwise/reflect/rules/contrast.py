"""What did the run that worked do that the one that failed did not? Names of calls and arguments only, never values."""

from collections.abc import Sequence

from hindwise.model.episode import Episode
from hindwise.model.memory import Draft, LessonType
from hindwise.reflect.rules.calls import changed_arguments
from hindwise.reflect.rules.findings import Read, lesson, of_step, read
from hindwise.reflect.rules.wording import careful, chain, last_of, listed, variants, when
from hindwise.reflect.transcript import Step, call_names


def contrast(run: Read, earlier: Sequence[Episode]) -> Draft | None:
    """Return the decisive difference to the first earlier episode of the opposite outcome, or None where there is none to be seen.

    `earlier`: episodes of the same generalised task, as the caller found them.
    """
    for other in (read(episode) for episode in earlier if episode.id != run.episode.id):
        if (run.failed and other.succeeded) or (run.succeeded and other.failed):
            good, bad = (run, other) if run.succeeded else (other, run)
            if (found := _difference(run, good, bad)) is not None:
                return found
    return None


def _difference(run: Read, good: Read, bad: Read) -> Draft | None:
    did, failed = call_names(good.decisive), call_names(bad.decisive)
    ways = _ways(run, did, failed) or (_arguments(run, good, bad) if did and did == failed else ()) or _looked_up(run, good, bad)
    if not ways:
        return None
    key: tuple[Step, ...] = run.decisive or run.steps[-1:]
    return lesson(
        run,
        LessonType.PITFALL if run.failed else LessonType.STRATEGY,
        when(run.language, run.asked, ways, _because(run, did, failed)),
        evidences=[e for s in key[-3:] for e in of_step(run.episode, s)[:1]],
        tools=call_names(run.decisive),
        worked=chain(did, at_most=8),
        failed=chain(failed, at_most=8),
        next_time=ways[0],
        importance=7,
        confidence=0.7,
        topics=("contrast",),
    )


def _because(run: Read, did: list[str], failed: list[str]) -> str:
    if set(did) < set(failed):
        return run.say("a run without it worked, one with it failed", "没有该调用的一次成功，有的一次失败")
    return run.say("that worked, the other way failed", "这样做的一次成功，另一次失败")


def _ways(run: Read, did: list[str], failed: list[str]) -> tuple[str, ...]:
    """The difference in the calls that changed something, the fullest wording first; empty where there is none."""
    only_good = [n for n in did if n not in failed]
    only_bad = [n for n in failed if n not in did]
    good = [listed(only_good, run.language, at_most=n) for n in (3, 2, 1)]
    bad = [listed(only_bad, run.language, at_most=n) for n in (3, 2, 1)]
    if only_good and only_bad:
        both = zip(good, bad, strict=True)
        return variants([run.say(f"call {here} instead of {there}", f"应调用 {here}，而不是 {there}") for here, there in both])
    if only_good:
        return variants([run.say(f"also call {names}", f"还要调用 {names}") for names in good])
    if only_bad:
        return variants([careful(names, run.language) for names in bad])
    if did != failed and did:
        return variants([run.say(f"keep the order {last_of(did, n)}", f"按 {last_of(did, n)} 的顺序执行") for n in (5, 4, 3, 2)])
    return ()


def _arguments(run: Read, good: Read, bad: Read) -> tuple[str, ...]:
    """The first shared call whose arguments differ: by name always, by value only where both runs served the same user."""
    same_user = good.episode.user_id == bad.episode.user_id and good.episode.user_id != ""
    for step in good.decisive:
        twin = next((s for s in bad.decisive if s.name == step.name), None)
        if twin is None:
            continue
        names = changed_arguments(twin.arguments, step.arguments)
        if not same_user:
            names = [n for n in names if (n in step.arguments) != (n in twin.arguments)]
        if names:
            told = [listed(names, run.language, at_most=n) for n in (3, 2, 1)]
            return variants([run.say(f"check {n} of {step.name} twice", f"再次核对 {step.name} 的 {n}") for n in told])
    return ()


def _looked_up(run: Read, good: Read, bad: Read) -> tuple[str, ...]:
    """What the run that worked read and the other did not."""
    missed = [n for n in call_names(s for s in good.steps if s.worked and not s.changes) if n not in {s.name for s in bad.steps}]
    told = [listed(missed, run.language, at_most=n) for n in (3, 2, 1)]
    return variants([run.say(f"look up {n} first", f"先查询 {n}") for n in told]) if missed else ()
