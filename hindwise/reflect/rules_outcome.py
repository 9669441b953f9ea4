"""What the end of an episode says: the environment's note as a cause, a hand-over, and, where nothing tells why, just that."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hindwise.model.episode import Outcome, OutcomeSource, OutcomeStatus
from hindwise.model.memory import Draft, Evidence, LessonType
from hindwise.model.turn import Turn
from hindwise.reflect import cues
from hindwise.reflect.attributes import LISTED
from hindwise.reflect.findings import Read, evidence, lesson, of_step
from hindwise.reflect.rules_calls import kind_of_value
from hindwise.reflect.slots import slot_of
from hindwise.reflect.transcript import Step, call_names, error_of, steps_of, user_turns, without_briefs
from hindwise.reflect.wording import chain, general_error, listed, when
from hindwise.safety.origin import looks_injected
from hindwise.text.clean import one_line

_SECTIONS = {
    "missing": re.compile(r"(?i)(?:missing|not called|缺少|遗漏|未调用)(?: calls?|的?调用)?\s*[:：]\s*([^;；\n]+)"),
    "extra": re.compile(r"(?i)(?:extra|unexpected|unneeded|多余|不该)(?: calls?|的?调用)?\s*[:：]\s*([^;；\n]+)"),
    "other": re.compile(r"(?i)(?:other|different|wrong) arguments?\s*[:：]\s*([^;；\n]+)|参数(?:不同|有误|错误)\s*[:：]\s*([^;；\n]+)"),
}
_CALL = re.compile(r"([A-Za-z_\u4e00-\u9fff][\w.\u4e00-\u9fff-]{1,60})(?:\s*[x×](\d+))?(?:\s*[(（]([^)）]*)[)）])?")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the environment's note names: calls that were missing or extra (with how often), and arguments that were other ones, by call."""

    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    other: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def is_empty(self) -> bool:
        """True when the note names no call."""
        return not (self.missing or self.extra or self.other)


def verdict_of(note: str) -> Verdict:
    """Read a note such as `missing: a; extra: b; other arguments: c(x, y)`; Chinese headings too. Anything else gives an empty verdict."""
    found: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for section, pattern in _SECTIONS.items():
        if match := pattern.search(note):
            text = next(group for group in match.groups() if group)
            found[section] = [
                (call[1], tuple(a for a in re.split(r"[,，、\s]+", call[3] or "") if a))
                for call in _CALL.finditer(text)
                if len(call[1]) > 2
            ]
    return Verdict(
        missing=tuple(dict.fromkeys(name for name, _ in found.get("missing", ()))),
        extra=tuple(dict.fromkeys(name for name, _ in found.get("extra", ()))),
        other=tuple(found.get("other", ())),
    )


def lessons_of_note(run: Read) -> list[Draft]:
    """Return up to two lessons from the environment's or the user's note on a run that did not succeed."""
    note = one_line(run.episode.outcome.note)
    if not note or not run.failed or looks_injected(note):
        return []
    verdict = verdict_of(note)
    if verdict.is_empty():
        return _lesson_of_words(run, note)
    actions = _actions(run, verdict)
    full = run.say("; ".join(actions), "；".join(actions))
    drafts: list[Draft] = []
    for action, because in _lines(run, verdict, actions):
        drafts.append(
            lesson(
                run,
                LessonType.PITFALL,
                when(run.language, run.asked, action, because),
                evidences=_evidence_of(run, verdict),
                tools=(*verdict.missing, *verdict.extra, *(name for name, _ in verdict.other)),
                failed=run.say(f"The environment's verdict: {note}", f"环境判定：{note}"),
                next_time=full,
                importance=8,
                confidence=0.8,
                topics=("verdict",),
            )
        )
    return drafts


def _actions(run: Read, verdict: Verdict) -> list[str]:
    actions: list[str] = []
    if verdict.missing and verdict.extra:
        here, there = listed(verdict.missing, run.language), listed(verdict.extra, run.language)
        actions.append(run.say(f"call {here} instead of {there}", f"应调用 {here}，而不是 {there}"))
    elif verdict.missing:
        called = {s.name for s in run.decisive}
        again = any(name in called for name in verdict.missing)
        here = listed(verdict.missing, run.language)
        actions.append(run.say(f"also call {here}{' once more' if again else ''}", f"还要{'再次' if again else ''}调用 {here}"))
    elif verdict.extra:
        here = listed(verdict.extra, run.language)
        actions.append(run.say(f"do not call {here}", f"不要调用 {here}"))
    for name, arguments in verdict.other:
        here = listed(arguments, run.language) or run.say("arguments", "参数")
        used = _used(run, name, arguments)
        actions.append(run.say(f"first check {here} of {name}{used} with the user", f"调用 {name} 前先与用户核对 {here}{used}"))
    return actions


def _used(run: Read, name: str, arguments: Sequence[str]) -> str:
    """The refused choice, where its sort can be told without its value: ` (not gift_card)`."""
    kinds = dict.fromkeys(kind_of_value(a, s.arguments.get(a)) for s in run.decisive if s.name == name for a in arguments)
    told = [kind for kind in kinds if kind]
    return run.say(f" ({told[0]} was wrong)", f"（{told[0]} 有误）") if len(told) == 1 else ""


def _lines(run: Read, verdict: Verdict, actions: Sequence[str]) -> list[tuple[str, str]]:
    """Action and reason for one or two conclusions: calls in the first, arguments in the second."""
    calls = actions[: len(actions) - len(verdict.other)]
    arguments = actions[len(actions) - len(verdict.other) :]
    lines: list[tuple[str, str]] = []
    if calls:
        why = (
            run.say("without it the run failed", "否则任务失败")
            if verdict.missing
            else run.say("that call made the run fail", "该调用导致任务失败")
        )
        lines.append((calls[0], why))
    if arguments:
        lines.append((arguments[0], run.say("other values were right", "期望的取值不同")))
    return lines


def _evidence_of(run: Read, verdict: Verdict) -> list[Evidence]:
    wanted = {*verdict.extra, *verdict.missing, *(name for name, _ in verdict.other)}
    steps = [s for s in run.steps if s.name in wanted] or list(run.decisive[-1:]) or list(run.steps[-1:])
    found = [e for s in steps[:3] for e in of_step(run.episode, s)[:1]]
    return found or _last_words(run)


def _last_words(run: Read) -> list[Evidence]:
    said = [t for t in run.episode.turns if without_briefs(t.content)]
    return [evidence(run.episode, said[-1])] if said else []


def _lesson_of_words(run: Read, note: str) -> list[Draft]:
    """A note in free words: the cause as the one who judged put it, without the values of this case."""
    failing = [s for s in run.steps if s.error]
    # A hook's final error repeats what its failed step said, mostly in fewer words: the step's own text names more.
    cause = general_error(failing[-1].error if failing and run.episode.source not in ("api", "cli") else note, run.names, run.language)
    cause = re.sub(r"(?i)^(?:error|错误|失败)\s*[:：]\s*", "", cause)
    if not cause:
        return []
    step = failing[-1] if failing else None
    if step:
        action = run.say(f"check before {step.name} that this cannot happen", f"先确认条件再执行“{step.name}”")
    else:
        action = run.say(f'rule out "{cause}" first', f"先排除“{cause}”")
    because = run.say(f'it failed with "{cause}"', f"曾因“{cause}”而失败") if step else run.say("a run failed by it", "曾因此失败")
    evidences = of_step(run.episode, step) if step else tuple(_naming(run, note) or _last_words(run))
    return [
        lesson(
            run,
            LessonType.PITFALL,
            when(run.language, run.asked, action, because),
            evidences=evidences,
            tools=(step.name,) if step else call_names(run.decisive)[-3:],
            failed=run.say(f"{step.name}: {cause}" if step else cause, f"{step.name}：{cause}" if step else cause),
            next_time=action,
            importance=8,
            confidence=0.8,
            topics=("cause",),
        )
    ]


def _naming(run: Read, note: str) -> list[Evidence]:
    """Turns that hold the note's own words (a run's final error stands in the transcript too)."""
    return [evidence(run.episode, t, note[:60]) for t in run.episode.turns if note[:60] and note[:60] in t.content][:2]


def corrections(run: Read) -> list[Draft]:
    """Return a pitfall for what the user had to correct, where it is a common attribute: it should have been asked first."""
    for turn, words in list(user_turns(run.episode))[1:]:
        if not cues.CORRECTION.search(words[:400]) or cues.is_filler(words):
            continue
        slot = slot_of(words[:400])
        if slot.attribute not in LISTED or not slot.value:
            continue
        action = run.say(f"ask for the {slot.attribute} first", f"先确认用户想要的取值（{slot.attribute}）")
        return [
            lesson(
                run,
                LessonType.PITFALL,
                when(run.language, run.asked, action, run.say("the user had to correct it", "用户不得不更正")),
                evidences=[evidence(run.episode, turn)],
                tools=call_names(run.decisive)[-1:],
                next_time=action,
                importance=5,
                confidence=0.6,
                topics=("correction",),
            )
        ]
    return []


def hand_over(run: Read) -> Draft | None:
    """Return a pitfall for a run that did not succeed and was given to a person: visible, though not why it went wrong."""
    calls = [s for s in run.steps if cues.HAND_OVER_CALL.match(s.name)]
    if not run.failed or not calls:
        return None
    before = call_names(s for s in run.steps if s is not calls[-1])
    tried = chain(before[-3:]) if before else ""
    action = run.say(f"do not end with {calls[-1].name}", f"不要以 {calls[-1].name} 结束")
    action += run.say(f" after only {tried}", f"（之前只做了 {tried}）") if tried else ""
    return lesson(
        run,
        LessonType.PITFALL,
        when(run.language, run.asked, action, run.say(f"that ended in {run.ended}", f"该次处理被判定为{run.ended}")),
        evidences=of_step(run.episode, calls[-1]),
        tools=(*before[-3:], calls[-1].name),
        failed=run.say(f"handed over by {calls[-1].name}", f"通过 {calls[-1].name} 转交他人"),
        next_time=action,
        importance=7,
        confidence=0.6,
        topics=("hand-over",),
    )


def cause_not_visible(run: Read) -> Draft | None:
    """Return a plain statement that a run failed and the transcript does not show why, with the calls that decided it."""
    if not run.failed:
        return None
    decisive = call_names(run.decisive)
    kinds = [f"{n} {k}" for s in run.decisive for n, v in s.arguments.items() if (k := kind_of_value(n, v))]
    chosen = f" ({', '.join(dict.fromkeys(kinds[:2]))})" if kinds else ""
    if decisive:
        action = run.say(
            f"check twice before {chain(decisive, at_most=3)}{chosen}", f"执行 {chain(decisive, at_most=3)}{chosen} 前再次核对"
        )
        because = run.say(f"that once ended in {run.ended}, cause not visible", f"这样做的一次任务以{run.ended}结束，原因不可见")
    elif not run.steps:
        action = run.say("do not repeat the earlier answer unchanged", "不要照搬上一次的回答")
        because = run.say(f"it ended in {run.ended}, cause not visible", f"那次以{run.ended}结束，原因不可见")
    else:
        names = call_names(run.steps)
        seen = run.say(f" ({chain(names[-2:])})", f"（{chain(names[-2:])}）") if names else ""
        action = run.say(f"do not stop without any change{seen}", f"不要未做任何修改就结束{seen}")
        because = run.say(f"that once ended in {run.ended}, cause not visible", f"这样的一次任务以{run.ended}结束，原因不可见")
    key = run.decisive or run.steps[-1:]
    return lesson(
        run,
        LessonType.PITFALL,
        when(run.language, run.asked, action, because),
        evidences=[e for s in key[-3:] for e in of_step(run.episode, s)[:1]] or _last_words(run),
        tools=decisive or call_names(run.steps)[-2:],
        next_time=action,
        importance=5,
        confidence=0.5,
        topics=("cause-not-visible",),
    )


# --- reading an outcome where nobody told one -----------------------------------------------------------------------------------------


def read_outcome(turns: Sequence[Turn]) -> Outcome:
    """Return how a task ended, as rules read it from its last turns (source `rule`); unknown where they do not say.

    The user's last words weigh most, then the run's own end: an error that was never overcome, a hand-over, a report of success.
    """
    said = [(t, without_briefs(t.content)) for t in turns if t.role in ("user", "assistant", "system") and without_briefs(t.content)]
    status, note = _from_user(said), ""
    if status is None:
        status, note = _from_end(turns, said)
    return Outcome(status=status or OutcomeStatus.UNKNOWN, source=OutcomeSource.RULE, note=note)


def _from_user(said: Sequence[tuple[Turn, str]]) -> OutcomeStatus | None:
    last = next((words for turn, words in reversed(said) if turn.role == "user"), "")[-2_000:]
    asks = re.search(r"[?？]", last) is not None
    if cues.COMPLAINT.search(last):
        return OutcomeStatus.FAILURE
    # "Thanks, and could you also …" goes on; a thank-you answers something only where an answer stands before it.
    if cues.THANKS.search(last) and not asks and len(last) <= 200 and any(turn.role == "assistant" for turn, _ in said):
        handed = any(cues.HAND_OVER.search(words) for turn, words in said[-4:] if turn.role == "assistant")
        return OutcomeStatus.PARTIAL if handed else OutcomeStatus.SUCCESS
    return None


def _from_end(turns: Sequence[Turn], said: Sequence[tuple[Turn, str]]) -> tuple[OutcomeStatus | None, str]:
    steps: tuple[Step, ...] = steps_of(turns)
    if said and (error := error_of(said[-1][1])):
        return OutcomeStatus.FAILURE, error
    if steps and steps[-1].error and not (said and said[-1][0].seq > steps[-1].turn.seq and cues.FINISHED.search(said[-1][1])):
        return OutcomeStatus.FAILURE, steps[-1].error
    last = next((words for turn, words in reversed(said) if turn.role == "assistant"), "")
    if cues.GIVEN_UP.search(last):
        return OutcomeStatus.FAILURE, ""
    if cues.HAND_OVER.search(last) or (steps and cues.HAND_OVER_CALL.match(steps[-1].name)):
        return OutcomeStatus.PARTIAL, ""
    return None, ""
