"""At which step did a failed run go wrong? One turn and the sign that points to it, or None where no sign is to be seen.

The step that is looked for is the decision, not the place where its failure shows: of a call that came back as an error it is the
turn that made the call. Signs, the strongest first: a call that the verdict names, a failed call that was never put right, something
assumed instead of looked up, and last, among several agents, what everything after rests on.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hindwise.model.turn import Turn
from hindwise.reflect.rules.calls import never_overcome
from hindwise.reflect.rules.findings import Read
from hindwise.reflect.rules.wording import general_error
from hindwise.reflect.transcript import Step, is_empty_result, without_briefs
from hindwise.reflect.verdict import verdict_of
from hindwise.text.clean import truncate
from hindwise.text.lazy_re import lazy_re

MAX_READ_CHARS = 6_000
"""Of one turn: signs stand where somebody speaks, not deep in a page that was read."""

ASSUMED = lazy_re(
    r"(?i)\b(?:let'?s |i(?:'ll| will)? |we(?:'ll| will)? |to |can |must |should |have to |been |is |was )?(?:assum(?:e|ed|es|ing|ption)s?"
    r"|hypothetical(?:ly)?|simulat(?:e|ed|ing)|placeholders?|pretend)\b"
    r"|\b(?:dummy|mock|sample|made-up|fictional|synthetic) (?:data|values?|results?|output|dataset)\b"
    r"|\b(?:from|based on|using) (?:my |the )?(?:memory|(?:general|own|internal|prior|existing) knowledge)\b"
    r"|\bas far as i (?:know|recall)\b"
    r"|\bi (?:recall|believe|guess)\b|\bfor (?:the sake of|demonstration)\b|\bwithout (?:checking|verifying|looking it up)\b"
    r"|假设|假定|设想为|模拟数据|示例数据|占位|虚构|凭(?:记忆|印象|经验)|据我所知|我记得|大概是|应该是|估计是|未经(?:核实|验证)"
)
"""Something is taken for granted that could have been looked up."""

_IDLE = lazy_re(
    r"(?i)\s*(?:terminate|next speaker\b.{0,60}|request satisfied\.?|no agent selected\.?|there is no code from the last\b.{0,400}"
    r"|ok(?:ay)?|thanks?|下一位.{0,40}|收到|好的|结束)\s*[.!。！]?\s*"
)
_HEADED = lazy_re(r"(?i)\s*(?:updated ledger|initial plan|new plan|plan)\b\s*[:：]|\s*(?:更新后的?(?:台账|计划)|初始计划|计划)\s*[:：]")
"""What a coordinator notes for itself: a plan, no step of the work."""

_ENDING = lazy_re(r"(?i)terminat|结束|终止")
_ASIDE = lazy_re(r"(?i)->|→|[(（](?:thought|思考)")
"""In a speaker's name: what a coordinator thinks, or whom it sends to work."""


@dataclass(frozen=True, slots=True)
class Failing:
    """The turn at which a run probably went wrong, and the sign in the transcript's language."""

    turn: Turn
    sign: str
    sure: bool
    """True for a call that the verdict or an error names; else it is the likeliest place, and told as such."""

    def told(self, run: Read) -> str:
        """One line for the retrospective: `turn 4 (pay_invoice): its call failed and …` / 「第4步（…）：…」."""
        calls = ", ".join(dict.fromkeys(c.name for c in self.turn.tool_calls))
        who = self.turn.participant if _is_talk(run) else calls or self.turn.name or self.turn.participant
        number = _number(run, self.turn)
        if run.language == "zh":
            return f"{'' if self.sure else '最可能出错的是'}第{number}步{f'（{who}）' if who else ''}：{self.sign}"
        return f"{'' if self.sure else 'most likely '}turn {number}{f' ({who})' if who else ''}: {self.sign}"


def _number(run: Read, turn: Turn) -> int:
    """Where the turn stands in this episode, counted from 1."""
    return next(number for number, other in enumerate(run.episode.turns, 1) if other.seq == turn.seq)


def failing_step(run: Read) -> Failing | None:
    """Return the turn at which a run that did not succeed most likely went wrong, or None without any sign."""
    if not run.failed or not run.episode.turns:
        return None
    return _of_verdict(run) or _of_error(run) or _of_agents(run)


def _of_verdict(run: Read) -> Failing | None:
    verdict = verdict_of(run.episode.outcome.note)
    for step in run.decisive:
        if step.name in verdict.extra:
            return Failing(step.turn, run.say(f"{step.name} should not have been called", f"不应调用 {step.name}"), sure=True)
        for name, arguments in verdict.other:
            if step.name == name:
                told = ", ".join(arguments[:3]) or run.say("its arguments", "参数")
                return Failing(
                    step.turn, run.say(f"{name} was called with other {told} than expected", f"{name} 的 {told} 与期望不同"), sure=True
                )
    return None


def _of_error(run: Read) -> Failing | None:
    """The turn that made the first call which failed, or came back empty, and was never put right by the same tool."""
    acts = _acts(run)
    if _is_talk(run):
        return _first_of_talk(run, acts)
    failing = never_overcome(run.steps)
    if not failing:
        return None
    step = failing[0]
    # What the error said stands beside it in the retrospective.
    return Failing(_maker(step, acts) or step.turn, run.say("its call failed and was not put right", "调用失败且未得到纠正"), sure=True)


def _is_talk(run: Read) -> bool:
    """Agents that talk to each other or to a terminal: their work stands in their words, its results in those of others."""
    speakers = {_speaker(t) for t in run.episode.turns if t.role == "assistant" and t.participant}
    return len(speakers) > 1 or (bool(speakers) and any(step.turn is step.result for step in run.steps))


def _speaker(turn: Turn) -> str:
    """`Planner (thought)` and `Planner (-> Reader)` are one speaker."""
    return re.split(r"\s*[(（]", turn.participant, maxsplit=1)[0]


def _acts(run: Read) -> list[Turn]:
    """The turns in which an agent did or claimed something; the task itself, idle words and a coordinator's notes are none."""
    return [
        turn
        for turn in run.episode.turns
        if turn.role == "assistant"
        and not _IDLE.fullmatch(turn.content[:500])
        and not _HEADED.match(turn.content)
        and not _ENDING.search(turn.participant)
        and (turn.content.strip() or turn.tool_calls)
    ]


def _maker(step: Step, acts: Sequence[Turn]) -> Turn | None:
    """Who made the call: its own turn, or, where a result came without a call, the agent's act before it; None without any."""
    if step.turn is not step.result:
        return step.turn
    return next((turn for turn in reversed(acts) if turn.seq < step.turn.seq), None)


def _first_of_talk(run: Read, acts: Sequence[Turn]) -> Failing | None:
    """The earliest act that failed, came back empty, or assumed what it did not know."""
    found = [failed] if (failed := _first_result(run, acts)) else []
    assumed = next((turn for turn in acts if ASSUMED.search(_words(turn))), None)
    if assumed:
        match = ASSUMED.search(_words(assumed))
        told = truncate(match[0].strip() if match else "", 40)
        found.append(Failing(assumed, run.say(f'it assumed instead of looking up ("{told}")', f"未核实就作出假设（“{told}”）"), sure=False))
    return min(found, key=lambda one: one.turn.seq, default=None)


def _first_result(run: Read, acts: Sequence[Turn]) -> Failing | None:
    """The act whose result was the first error, or nothing at all."""
    for step in run.steps:
        empty = step.result is not None and is_empty_result(step.result.content)
        maker = _maker(step, acts) if step.error or empty else None
        if maker:
            error = run.say("it gave nothing", "没有输出") if empty else general_error(step.error, run.names, run.language)
            return Failing(
                maker, run.say("what it ran failed", "执行失败") + (run.say(f" ({error})", f"（{error}）") if error else ""), sure=True
            )
    return None


def _words(turn: Turn) -> str:
    return without_briefs(turn.content[:MAX_READ_CHARS])


def _of_agents(run: Read) -> Failing | None:
    """Among several agents without any sign: the last result that a coordinator was given, else the first act, on which the rest stands."""
    acts = _acts(run)
    if not _is_talk(run) or not acts:
        return None
    workers = [turn for turn in acts if not _ASIDE.search(turn.participant)]
    if len(workers) < len(acts) and workers:
        return Failing(workers[-1], run.say("the run ended on what this step brought", "任务以这一步的结果告终"), sure=False)
    return Failing(acts[0], run.say("all that follows rests on this step", "其后各步都以此为前提"), sure=False)
