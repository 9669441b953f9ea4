"""What the end of an episode says: the environment's note as a cause, a hand-over, and, where nothing tells why, just that."""

import re
from collections.abc import Iterator, Sequence

from hindwise.model.episode import Outcome, OutcomeSource, OutcomeStatus
from hindwise.model.memory import Draft, Evidence, LessonType
from hindwise.model.turn import Turn
from hindwise.reflect import cues
from hindwise.reflect.rules.calls import kind_of_value
from hindwise.reflect.rules.findings import Read, evidence, lesson, of_step
from hindwise.reflect.rules.wording import careful, clause_variants, fitting, general_error, last_of, listed, variants, when
from hindwise.reflect.transcript import Step, call_names, error_of, steps_of, without_briefs
from hindwise.reflect.verdict import Verdict, verdict_of
from hindwise.safety.origin import is_order_in_error, looks_injected
from hindwise.safety.sharing import without_people
from hindwise.text.clean import one_line
from hindwise.text.lazy_re import lazy_re


def lessons_of_note(run: Read) -> list[Draft]:
    """Return up to two lessons from the environment's or the user's note on a run that did not succeed."""
    note = one_line(run.episode.outcome.note)
    if not note or not run.failed or looks_injected(note) or (is_order_in_error(note) and not own_words(run, note)):
        return []
    verdict = verdict_of(note)
    if verdict.is_empty():
        return _lesson_of_words(run, note)
    actions = _actions(run, verdict)
    told = without_people(note, run.episode) or run.say("it failed", "未通过")
    full = run.say("; ", "；").join(ways[0] for ways in actions)
    drafts: list[Draft] = []
    for action, because in _lines(run, verdict, actions):
        drafts.append(
            lesson(
                run,
                LessonType.PITFALL,
                when(run.language, run.asked, action, because),
                evidences=_evidence_of(run, verdict),
                tools=(*verdict.missing, *verdict.extra, *(name for name, _ in verdict.other)),
                failed=run.say(f"The environment's verdict: {told}", f"环境判定：{told}"),
                next_time=full,
                importance=8,
                confidence=0.8,
                topics=("verdict",),
            )
        )
    return drafts


def own_words(run: Read, note: str) -> bool:
    """Whether the note is what somebody thought of the run, and no error that a tool told or a hook passed on."""
    said = (one_line(turn.content) for turn in run.episode.turns if turn.role == "tool")
    return run.episode.source in ("api", "cli") and not any(note[:60] in text or is_order_in_error(error_of(text)) for text in said)


def _actions(run: Read, verdict: Verdict) -> list[tuple[str, ...]]:
    """What to do, each in several wordings, the fullest first."""
    return [variants(ways) for ways in (*_calls(run, verdict), *_arguments(run, verdict))]


def _calls(run: Read, verdict: Verdict) -> Iterator[list[str]]:
    missing = [listed(verdict.missing, run.language, at_most=n) for n in (3, 2, 1)]
    extra = [listed(verdict.extra, run.language, at_most=n) for n in (3, 2, 1)]
    if verdict.missing and verdict.extra:
        both = zip(missing, extra, strict=True)
        yield [run.say(f"call {here} instead of {there}", f"应调用 {here}，而不是 {there}") for here, there in both]
    elif verdict.missing:
        again = any(name in {s.name for s in run.decisive} for name in verdict.missing)
        yield [run.say(f"also call {n}{' once more' if again else ''}", f"还要{'再次' if again else ''}调用 {n}") for n in missing]
    elif verdict.extra:
        yield [careful(names, run.language) for names in extra]


def _arguments(run: Read, verdict: Verdict) -> Iterator[list[str]]:
    for name, arguments in verdict.other:
        used = _used(run, name, arguments)
        ways = [(listed(arguments, run.language, at_most=n), told) for n in (3, 2, 1) for told in (used, "")]
        yield [
            run.say(
                f"first check {here or 'the arguments'} of {name}{told} with the user",
                f"调用 {name} 前先与用户核对 {here or '参数'}{told}",
            )
            for here, told in ways
        ]


def _used(run: Read, name: str, arguments: Sequence[str]) -> str:
    """The refused choice, where its sort can be told without its value: ` (not gift_card)`."""
    kinds = dict.fromkeys(kind_of_value(a, s.arguments.get(a)) for s in run.decisive if s.name == name for a in arguments)
    told = [kind for kind in kinds if kind]
    return run.say(f" ({told[0]} was wrong)", f"（{told[0]} 有误）") if len(told) == 1 else ""


def _lines(run: Read, verdict: Verdict, actions: Sequence[tuple[str, ...]]) -> list[tuple[tuple[str, ...], str]]:
    """Action and reason for one or two conclusions: calls in the first, arguments in the second."""
    calls = actions[: len(actions) - len(verdict.other)]
    arguments = actions[len(actions) - len(verdict.other) :]
    lines: list[tuple[tuple[str, ...], str]] = []
    if calls:
        why = (
            run.say("without it the run failed", "缺少该调用导致任务失败")
            if verdict.missing
            else run.say("that call made a run fail", "曾因该调用而失败")
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
    trusted = own_words(run, note)
    note = without_people(note, run.episode)
    # A hook's final error repeats what its failed step said, mostly in fewer words: the step's own text names more.
    said = failing[-1].error if failing and run.episode.source not in ("api", "cli") else note
    cause = general_error(without_people(said, run.episode), run.names, run.language, trusted=trusted)
    cause = re.sub(r"(?i)^(?:error|错误|失败)\s*[:：]\s*", "", cause)
    if not cause:
        return []
    step = failing[-1] if failing else None
    told = clause_variants(cause)
    if step and run.language == "zh":
        action: tuple[str, ...] = (f"先确认条件再执行“{step.name}”",)
        because: tuple[str, ...] = tuple(f"曾因“{t}”而失败" for t in told)
    else:
        before = f" before {step.name}" if step else ""
        action = tuple(run.say(f'rule out "{t}"{before or " first"}', f"先排除“{t}”") for t in told)
        because = (run.say("a run failed by it", "曾因此失败"),)
    evidences = of_step(run.episode, step) if step else tuple(_naming(run, note) or _last_words(run))
    return [
        lesson(
            run,
            LessonType.PITFALL,
            when(run.language, run.asked, action, because),
            evidences=evidences,
            tools=(step.name,) if step else call_names(run.decisive)[-3:],
            failed=run.say(f"{step.name}: {cause}" if step else cause, f"{step.name}：{cause}" if step else cause),
            next_time=run.say(f'rule out "{told[0]}" first', f"先排除“{told[0]}”") if not step else f"{action[0]}: {told[0]}",
            importance=8,
            confidence=0.8,
            topics=("cause",),
        )
    ]


def _naming(run: Read, note: str) -> list[Evidence]:
    """Turns that hold the note's own words (a run's final error stands in the transcript too)."""
    return [evidence(run.episode, t, note[:60]) for t in run.episode.turns if note[:60] and note[:60] in t.content][:2]


def cause_not_visible(run: Read) -> Draft | None:
    """Return a plain statement that a run failed and the transcript does not show why, with what it did and what to confirm."""
    if not run.failed:
        return None
    decisive = call_names(run.decisive)
    if decisive:
        did = [run.say(f"called {last_of(decisive, n)}", f"调用了 {last_of(decisive, n)} 的任务") for n in (3, 2, 1)]
        advice = _to_confirm(run)
    elif run.steps and (names := call_names(run.steps)):
        did = [run.say(f"only called {last_of(names, n)}", f"只调用了 {last_of(names, n)}、未做修改的任务") for n in (3, 2, 1)]
        advice = [run.say("ask first which change is wanted", "先问清需要的改动"), run.say("ask what is wanted", "先问清需求")]
    else:
        did = [run.say("only answered, without any call,", "只作回答、没有任何调用的任务"), run.say("only answered", "只作回答的任务")]
        advice = [run.say("check the facts before answering", "回答前先核实事实")]
    frame = run.say("When {}, a run that {} {}; the cause is not visible: {}.", "当{}时，{}{}了，原因不可见：{}。")
    bare = run.say(
        f"When {run.asked}, check the facts first: such a run {run.how}, and the cause is not visible.",
        f"当{run.asked}时，先核实事实：这样的一次任务{run.how}了，原因不可见。",
    )
    asked = f" {run.asked}" if run.language == "zh" and run.asked[:1].isascii() else run.asked
    how = run.how if run.language == "en" or run.how != "部分成功" else "只部分成功"
    key = run.decisive or run.steps[-1:]
    return lesson(
        run,
        LessonType.PITFALL,
        fitting([frame.format(asked, d, how, a) for d in did for a in advice]) if run.task.phrase or run.steps else bare,
        evidences=[e for s in key[-3:] for e in of_step(run.episode, s)[:1]] or _last_words(run),
        tools=decisive or call_names(run.steps)[-2:],
        next_time=advice[0],
        importance=5,
        confidence=0.5,
        topics=("cause-not-visible",),
    )


def _to_confirm(run: Read) -> list[str]:
    """What the user should have confirmed: the choices of the last call that changed something, by name and, where harmless, by value."""
    chosen: dict[str, None] = {}
    for step in reversed(run.decisive):
        for name, value in step.arguments.items():
            if kind := kind_of_value(name, value):
                chosen.setdefault(f"{name} {kind}")
    plain = [n for n in run.decisive[-1].arguments if n not in ("reservation_id", "user_id", "id") and not n.endswith("user_id")]
    names = list(chosen) or plain
    told = [listed(names[:n], run.language) for n in (2, 1) if names]
    ways = [run.say(f"confirm {n} with the user first", f"先与用户确认 {n}") for n in told]
    ways += [run.say(f"confirm {n} first", f"先确认 {n}") for n in told]
    return [*ways, run.say("confirm the change with the user first", "先与用户确认改动"), run.say("confirm the change first", "先确认改动")]


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


_HEADED = lazy_re(
    r"(?i)\W{0,4}(?:[a-z]{0,20}(?:error|exception)|fatal|failed|failure|错误|失败|异常|报错|出错|[\u4e00-\u9fff]{0,4}失败)\s*[:：]"
)
""" "Error: …" is one, also in an agent's words; 「超时是正常的」 is none."""


def _from_end(turns: Sequence[Turn], said: Sequence[tuple[Turn, str]]) -> tuple[OutcomeStatus | None, str]:
    steps: tuple[Step, ...] = steps_of(turns)
    if said and (said[-1][0].role != "assistant" or _HEADED.match(said[-1][1])) and (error := error_of(said[-1][1])):
        return OutcomeStatus.FAILURE, error
    if steps and steps[-1].error and not (said and said[-1][0].seq > steps[-1].turn.seq and cues.FINISHED.search(said[-1][1])):
        return OutcomeStatus.FAILURE, steps[-1].error
    last = next((words for turn, words in reversed(said) if turn.role == "assistant"), "")
    if cues.GIVEN_UP.search(last):
        return OutcomeStatus.FAILURE, ""
    if cues.HAND_OVER.search(last) or (steps and cues.HAND_OVER_CALL.match(steps[-1].name)):
        return OutcomeStatus.PARTIAL, ""
    return None, ""
