"""Lessons from the course of the calls: what failed and then worked, what never worked, what went in circles, what led to success."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from hindwise.model.memory import Draft, LessonType
from hindwise.reflect.rules.findings import Read, lesson, of_step
from hindwise.reflect.rules.wording import chain, clause_variants, general_error, last_of, listed, variants, when
from hindwise.reflect.transcript import Step, call_names, is_nothing, is_thought
from hindwise.safety.origin import is_order_in_error
from hindwise.text.lazy_re import lazy_re

LOOP_AT = 3
"""The same call with the same arguments this often goes in circles; with the same error twice is enough."""

LOOK_AHEAD = 60
"""Calls after a failure among which the one that overcame it is looked for: what comes later belongs to something else."""


def never_overcome(steps: Sequence[Step]) -> list[Step]:
    """The failed calls after which the same tool never worked, in order."""
    worked: set[str] = set()
    failing: list[Step] = []
    for step in reversed(steps):
        if step.worked:
            worked.add(step.name)
        elif step.error and step.name not in worked:
            failing.append(step)
    return failing[::-1]


def recoveries(run: Read) -> list[Draft]:
    """Return a lesson for each tool and kind of error that failed first and then worked, with what was changed in between."""
    found: dict[tuple[str, str], Draft] = {}
    done: set[tuple[str, str]] = set()
    for position, step in enumerate(run.steps):
        if not step.error:
            continue
        told = general_error(step.error, run.names, run.language)
        if (step.name, told) in done or (end := _fixed_by(run.steps, position)) is None:
            continue
        fixed = run.steps[end]
        # The last failure before it worked shows the change that helped; the ones before it were tries.
        last = max(i for i in range(position, end) if run.steps[i].name == step.name and run.steps[i].error)
        changes = _change(run, run.steps[last], fixed, between=run.steps[last + 1 : end])
        change = changes[0]
        done.add((step.name, told))
        # An error that gives orders is told without its words.
        bare = run.say(f"{step.name} fails", f"{step.name} 失败")
        conditions = [run.say(f'{step.name} fails with "{t}"', f"{step.name} 报“{t}”") for t in clause_variants(told)] if told else [bare]
        condition = conditions[0]
        because = (run.say("the call then worked", "之后调用成功"), run.say("that worked", "之后成功"))
        # The same change after two errors of one tool is one lesson; the last error is the one that the change overcame.
        found[step.name, change] = lesson(
            run,
            LessonType.RECOVERY,
            when(run.language, conditions, changes, because),
            evidences=(*of_step(run.episode, step), *of_step(run.episode, fixed)),
            tools=(step.name, fixed.name),
            condition=condition,
            failed=run.say(f"{step.name}: {told}", f"{step.name}：{told}") if told else run.say(f"{step.name} failed", bare),
            worked=run.say(f"to {change}", change),
            next_time=change,
            importance=7,
            confidence=0.75,
            topics=("recovery",),
        )
    return list(found.values())


def _fixed_by(steps: Sequence[Step], position: int) -> int | None:
    """Position of the call that did what the failed one should: the same tool later, else one of its sort with a shared argument value."""
    failed = steps[position]
    for place in range(position + 1, min(len(steps), position + LOOK_AHEAD)):
        if steps[place].worked and steps[place].name == failed.name:
            return place
    for place in range(position + 1, min(len(steps), position + 7)):
        later = steps[place]
        same_kind = later.changes == failed.changes and later.name != failed.name
        if later.worked and same_kind and not is_thought(later) and _shared_values(failed, later):
            return place
    return None


def _shared_values(one: Step, other: Step) -> bool:
    values = {json.dumps(v, sort_keys=True, default=str) for v in one.arguments.values()}
    return any(json.dumps(v, sort_keys=True, default=str) in values for v in other.arguments.values())


def _change(run: Read, failed: Step, fixed: Step, *, between: Sequence[Step]) -> tuple[str, ...]:
    """What was done differently, in words, the fullest wording first."""
    if fixed.name != failed.name:
        return (run.say(f"use {fixed.name} instead", f"改用 {fixed.name}"),)
    changed = changed_arguments(failed.arguments, fixed.arguments)
    told = [_argument(run, name, failed.arguments.get(name), fixed.arguments.get(name)) for name in changed]
    first = [name for name in call_names(between) if name != failed.name]
    if told:
        short = [_argument(run, name, None, fixed.arguments.get(name), brief=True) for name in changed]
        named = [listed(names, run.language, at_most=n) for names in (told, short) for n in (3, 2, 1)] + [listed(changed[:1], run.language)]
        return variants([run.say(f"change {names}", f"修改 {names}") for names in named])
    if first:
        named = [listed(first, run.language, at_most=n) for n in (3, 2, 1)]
        return variants([run.say(f"call {names} first and try again", f"先调用 {names} 再重试") for names in named])
    return (run.say("try the same call again", "用相同参数重试"),)


def changed_arguments(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Names of the arguments whose values differ, in the order of the later call."""
    return [name for name in (*after, *(n for n in before if n not in after)) if before.get(name) != after.get(name)]


_OF_PEOPLE = lazy_re(
    r"(?i)(?:user|customer|employee|patient|member|contact|person|passenger|owner)s?(?:_id)?$|.*name$|.*mail.*|.*phone.*|.*address.*"
)


def kind_of_value(name: str, value: Any) -> str:
    """What sort of value an argument has, where its id tells it: `credit_card` of `credit_card_4421486`.

    Empty for all else: a plain word such as `vegetarian` is what one user wanted, and lessons are shared.
    """
    if _OF_PEOPLE.match(name):
        return ""
    if isinstance(value, str):
        prefix = re.fullmatch(r"([a-z]+(?:_[a-z]+)*)_\d+", value)
        if prefix:
            return prefix[1]
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        kinds = [kind for item in value for kind in (kind_of_value(k, item.get(k)) for k in item if k.endswith(("_id", "type"))) if kind]
        return "+".join(dict.fromkeys(kinds))
    return ""


def _argument(run: Read, name: str, before: Any, after: Any, *, brief: bool = False) -> str:
    old, new = kind_of_value(name, before), kind_of_value(name, after)
    if brief:
        return run.say(f"{name} to {new}", f"{name}（{new}）") if new else name
    if old and new and old != new:
        return run.say(f"{name} from {old} to {new}", f"{name}（{old} → {new}）")
    if before is None:
        return run.say(f"{name} (was missing)", f"{name}（原先缺少）")
    return name


def dead_ends(run: Read) -> list[Draft]:
    """Return a pitfall for each tool whose error was never overcome. Only in runs that did not succeed: there it is the visible cause."""
    found: dict[tuple[str, str], Draft] = {}
    for position, step in enumerate(run.steps):
        if not step.error or _fixed_by(run.steps, position) is not None or run.succeeded:
            continue
        told = general_error(step.error, run.names, run.language)
        ordered = is_order_in_error(step.error)
        tries = [s for s in run.steps if s.name == step.name and s.error]
        if (step.name, told) in found or not (told or ordered):
            continue
        bare = run.say(f"{step.name} failed", f"{step.name} 失败")
        actions = (
            [run.say(f"check the arguments of {step.name} before calling it", f"先核对 {step.name} 的参数")]
            if ordered
            else [
                run.say(f'make sure before {step.name} that "{t}" cannot happen', f"在“{step.name}”之前先确认不会出现“{t}”")
                for t in clause_variants(told)
            ]
        )
        if run.language == "zh":
            because = (
                f"该步骤{len(tries)}次都报此错误，任务以{run.ended}结束" if len(tries) > 1 else f"该步骤报此错误后任务以{run.ended}结束"
            )
        else:
            because = f"{len(tries)} tries ended in {run.ended}" if len(tries) > 1 else f"that error ended in {run.ended}"
        found[step.name, told] = lesson(
            run,
            LessonType.PITFALL,
            when(run.language, run.asked, actions, because),
            evidences=of_step(run.episode, step),
            tools=(step.name,),
            failed=bare if ordered else run.say(f"{step.name}: {told}", f"{step.name}：{told}"),
            next_time=actions[0],
            importance=8,
            confidence=0.7,
            topics=("error-end",),
        )
    return list(found.values())


def loops(run: Read) -> Iterator[Draft]:
    """Yield a pitfall for a call that was repeated unchanged: three times, or twice with the same error."""
    groups: dict[tuple[str, str], list[Step]] = {}
    for step in run.steps:
        if step.arguments and not is_thought(step):
            groups.setdefault((step.name, json.dumps(step.arguments, sort_keys=True, default=str)), []).append(step)
    seen: set[str] = set()
    for same in groups.values():
        step = next((s for s in same if s.error), same[0])
        same_error = [s for s in same if s.error and s.error == step.error]
        count = len(same_error) if len(same_error) >= 2 else len(same) if len(same) >= LOOP_AT else 0
        if not count or step.name in seen:
            continue
        seen.add(step.name)
        named = [listed(list(step.arguments), run.language, at_most=n) for n in (3, 2)] + [run.say("arguments", "参数")]
        told = general_error(step.error, run.names, run.language) if same_error else ""
        nothing = not told and all(s.result is not None and is_nothing(s.result.content) for s in same)
        if nothing:
            conditions = [run.say(f"{step.name} finds nothing", f"{step.name} 没有结果")]
            actions = [run.say(f"change {n} or ask instead of repeating it", f"改变 {n} 或询问用户，不要原样重复") for n in named]
        elif told:
            conditions = [run.say(f'{step.name} answers "{t}"', f"{step.name} 返回“{t}”") for t in clause_variants(told)]
            actions = [run.say(f"do not call it again with the same {n}", f"不要用相同的 {n} 再次调用") for n in named]
        else:
            conditions = [run.say(f"{run.asked} and {step.name} has answered", f"{run.asked}且 {step.name} 已有结果")]
            actions = [
                run.say(f"keep its answer instead of repeating it with the same {n}", f"直接使用结果，不要用相同的 {n} 重复调用")
                for n in named
            ]
        yield lesson(
            run,
            LessonType.PITFALL if told or nothing else LessonType.OPTIMISATION,
            when(
                run.language,
                conditions,
                actions,
                (
                    run.say(f"it gave the same answer {count} times", f"相同调用重复了{count}次，结果不变"),
                    run.say(f"{count} times changed nothing", f"重复{count}次无变化"),
                ),
            ),
            evidences=[e for s in same[:3] for e in of_step(run.episode, s)],
            tools=(step.name,),
            condition=conditions[0],
            failed=run.say(f"{step.name} was repeated {count} times", f"{step.name} 重复了{count}次"),
            next_time=actions[0],
            importance=7 if nothing else 6 if told else 5,
            topics=("loop", "cause") if nothing and run.failed else ("loop",),
        )


def strategy(run: Read) -> Draft | None:
    """Return what led to success: the calls that changed something, in order, after what was read; or that nothing was changed."""
    if not run.succeeded or not run.steps:
        return None
    decisive, names = call_names(run.decisive), call_names(s for s in run.steps if s.worked)
    if not names:
        return None
    if decisive:
        before = [n for n in names[: names.index(decisive[0])] if n not in decisive]
        full = [*before[-2:], *decisive]
        actions = _ways(run, full, _told_arguments(run))
        because = run.say("that ended in success", "按此顺序任务成功")
        key = run.decisive
    else:
        actions = [run.say(f"change nothing after {last_of(names, n)}", f"查询 {last_of(names, n)} 后不做任何修改") for n in (2, 1)]
        because = run.say("that ended in success", "这样处理结果正确")
        key = tuple(s for s in run.steps if s.worked)[-1:]
    return lesson(
        run,
        LessonType.STRATEGY,
        when(run.language, run.asked, actions, because),
        evidences=[e for s in key[:4] for e in of_step(run.episode, s)],
        tools=names,
        worked=chain(decisive or names, at_most=8),
        next_time=actions[0],
        importance=6 if run.episode.outcome.source == "env" else 5,
        confidence=0.7,
        topics=("strategy",),
    )


def _ways(run: Read, names: list[str], chosen: list[str]) -> list[str]:
    """The way in words: all of it with the telling choices, then with fewer, then its last calls alone."""
    ways: list[str] = []
    for length in (5, 4, 3, 2, 1):
        verb = run.say("do", "依次执行") if length >= len(names) else run.say("finish with", "最后执行")
        for count in (3, 2, 1, 0):
            told = f" ({', '.join(chosen[:count])})" if chosen[:count] else ""
            ways.append(f"{verb} {last_of(names, length)}{told}")
    return ways


def _told_arguments(run: Read) -> list[str]:
    """The telling choices of the decisive calls: `payment_id gift_card`."""
    told = {
        f"{name} {kind}": None for step in run.decisive for name, value in step.arguments.items() if (kind := kind_of_value(name, value))
    }
    return list(told)[:3]
