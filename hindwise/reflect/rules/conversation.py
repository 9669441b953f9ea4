"""Lessons from what was said and not from calls: corrections, questions asked again, requests refused or left undone, hand-overs."""

import re

from hindwise.model.memory import Draft, Evidence, LessonType
from hindwise.model.turn import Turn
from hindwise.reflect import cues
from hindwise.reflect.rules.attributes import LISTED
from hindwise.reflect.rules.calls import changed_arguments
from hindwise.reflect.rules.findings import Read, evidence, lesson, of_step
from hindwise.reflect.rules.slots import slot_of
from hindwise.reflect.rules.wording import last_of, listed, variants, when
from hindwise.reflect.transcript import call_names, user_turns, without_briefs
from hindwise.safety.personal import without_personal
from hindwise.text.lazy_re import lazy_re
from hindwise.text.tokens import tokens

MAX_TURNS = 60
"""Of the user's: what is said later than that is no part of one task."""

# --- corrections ----------------------------------------------------------------------------------------------------------------------


def corrections(run: Read) -> list[Draft]:
    """Return a pitfall for what the user had to correct: the arguments that a call was made with again, else a common attribute."""
    for turn, words in list(user_turns(run.episode))[1:MAX_TURNS]:
        if not cues.CORRECTION.search(words[:400]) or cues.is_filler(words):
            continue
        if action := _argument_to_ask(run, turn) or _attribute_to_ask(run, words):
            ways, key, importance = action
            return [
                lesson(
                    run,
                    LessonType.PITFALL,
                    when(run.language, run.asked, ways, run.say("the user had to correct it", "用户不得不更正")),
                    evidences=[evidence(run.episode, turn), *key],
                    tools=call_names(run.decisive)[-1:],
                    next_time=ways[0],
                    importance=importance,
                    confidence=0.6,
                    topics=("correction",),
                )
            ]
    return []


Action = tuple[tuple[str, ...], list[Evidence], int]
"""What to do in several wordings, where it shows, and how much it weighs."""


def _argument_to_ask(run: Read, turn: Turn) -> Action | None:
    """The arguments that changed between the last call before the correction and the same call after it."""
    before = [s for s in run.steps if s.turn.seq < turn.seq and s.worked and s.changes]
    if not before:
        return None
    again = next((s for s in run.steps if s.turn.seq > turn.seq and s.name == before[-1].name), None)
    changed = changed_arguments(before[-1].arguments, again.arguments) if again else []
    if not again or not changed:
        return None
    told = [listed(changed, run.language, at_most=n) for n in (3, 2, 1)]
    ways = variants([run.say(f"confirm {n} of {again.name} first", f"调用 {again.name} 前先确认 {n}") for n in told])
    return ways, [*of_step(run.episode, before[-1])[:1], *of_step(run.episode, again)[:1]], 6


def _attribute_to_ask(run: Read, words: str) -> Action | None:
    slot = slot_of(words[:400])
    if slot.attribute not in LISTED or not slot.value:
        return None
    return (run.say(f"ask for the {slot.attribute} first", f"先确认用户想要的取值（{slot.attribute}）"),), [], 5


# --- the same question again ----------------------------------------------------------------------------------------------------------

ALIKE = {"en": 0.75, "zh": 0.5}
"""Words (in Chinese: pairs of characters) in common among all of two questions, from which on they are the same question."""
_FILLING = lazy_re(r"(?i)\b(?:please|could you|can you|tell me)\b|[呢吗吧啊呀您你的]|请问|麻烦")
ASKED_AT = 3
MAX_QUESTION_CHARS = 400


def repeated_questions(run: Read) -> list[Draft]:
    """Return a pitfall for a question that the agent asked three times, though the user answered in between."""
    asked: list[tuple[Turn, frozenset[str]]] = []
    for turn in run.episode.turns[: 4 * MAX_TURNS]:
        words = turn.content.strip()
        if turn.role == "assistant" and not turn.tool_calls and words.endswith(("?", "？")) and 8 <= len(words) <= MAX_QUESTION_CHARS:
            asked.append((turn, frozenset(tokens(_FILLING.sub("", words)))))
    for _, words_of_one in asked:
        same = [turn for turn, other in asked if _alike(words_of_one, other) >= ALIKE[run.language]]
        if len(same) >= ASKED_AT:
            action = run.say("use what the user answered instead of asking the same again", "直接使用用户的回答，不要重复提问")
            because = run.say(f"the same question came {len(same)} times", f"同一问题问了{len(same)}次")
            return [
                lesson(
                    run,
                    LessonType.PITFALL,
                    when(run.language, run.asked, action, because),
                    evidences=[evidence(run.episode, turn) for turn in same[:3]],
                    tools=(),
                    failed=because,
                    next_time=action,
                    importance=6,
                    confidence=0.7,
                    topics=("loop", "cause") if run.failed else ("loop",),
                )
            ]
    return []


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(1, len(one | other))


# --- a detail that the user does not have ---------------------------------------------------------------------------------------------

_LACKS = lazy_re(
    r"(?i)\b(?:don'?t|do not|can'?t|cannot) (?:currently |actually )?(?:have|know|remember|recall|find) (?:my|the|our"
    r"|any) (?P<en>(?:[a-z]+ ){0,2}[a-z]+)"
    r"|(?:不知道|不记得|记不清|找不到|没带|手头没有)(?:我的|那个)?(?P<zh>[\u4e00-\u9fff]{2,8}?)(?=[，。！？,.!?]|了|$)"
)
"""The user cannot give what the agent asks for."""


def lacking_details(run: Read) -> list[Draft]:
    """Return a pitfall for a failed run in which the user lacked a detail and nothing was looked up from there on."""
    if not run.failed:
        return []
    for turn, words in list(user_turns(run.episode))[:MAX_TURNS]:
        match = _LACKS.search(words[:2_000])
        thing = re.sub(r"(?i) (?:with|on|at|right|here|in|for)\b.*$", "", (match["en"] or match["zh"]).strip()) if match else ""
        if not match or not thing or any(s.turn.seq > turn.seq and s.worked for s in run.steps):
            continue
        clean = without_personal(thing, names=run.names)
        if clean != thing:
            continue
        condition = [run.say(f"{run.asked} and the user lacks the {thing}", f"{run.asked}且用户没有{thing}"), run.asked]
        way = run.say("look it up another way instead of waiting for it", "换一种方式查询，不要只等用户提供")
        return [
            lesson(
                run,
                LessonType.PITFALL,
                when(run.language, condition, way, run.say("nothing was looked up and the run failed", "没有任何查询，任务失败了")),
                evidences=[evidence(run.episode, turn, match[0])],
                tools=(),
                condition=condition[0],
                failed=run.say(f"no {thing}, and nothing was looked up", f"缺少{thing}，也没有查询"),
                next_time=way,
                importance=7,
                confidence=0.6,
                topics=("unmet", "cause"),
            )
        ]
    return []


# --- given to a person ----------------------------------------------------------------------------------------------------------------


def hand_over(run: Read) -> Draft | None:
    """Return a pitfall for a run that did not succeed and was given to a person: visible, though not why it went wrong."""
    if not run.failed:
        return None
    calls = [s for s in run.steps if cues.HAND_OVER_CALL.match(s.name)]
    spoken = next(
        (t for t in reversed(run.episode.turns) if t.role == "assistant" and cues.HAND_OVER.search(without_briefs(t.content))), None
    )
    if not calls and not spoken:
        return None
    name = calls[-1].name if calls else ""
    before = call_names(s for s in run.steps if not calls or s is not calls[-1])
    end = (
        run.say(f"do not end with {name}", f"不要以 {name} 结束")
        if name
        else run.say("try it before handing over to a person", "先尝试办理，再转人工或同事")
    )
    ways = [end + run.say(f" after only {last_of(before, n)}", f"（之前只做了 {last_of(before, n)}）") for n in (3, 2, 1) if before]
    return lesson(
        run,
        LessonType.PITFALL,
        when(run.language, run.asked, [*ways, end], run.say(f"that ended in {run.ended}", f"该次处理被判定为{run.ended}")),
        evidences=of_step(run.episode, calls[-1]) if calls else [evidence(run.episode, spoken)] if spoken else [],
        tools=(*before[-3:], *([name] if name else [])),
        failed=run.say(f"handed over by {name}" if name else "handed over to a person", f"通过 {name} 转交他人" if name else "转交给他人"),
        next_time=[*ways, end][0],
        importance=7,
        confidence=0.6,
        topics=("hand-over",),
    )
