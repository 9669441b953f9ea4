"""What the rooms of the rule reflector have in common: the episode read once, and drafts made from it."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from hindwise.model.episode import Episode, OutcomeSource, OutcomeStatus
from hindwise.model.memory import MAX_CONCLUSION_CHARS, Draft, Evidence, Kind, LessonType, Retrospective
from hindwise.model.turn import Origin, Turn
from hindwise.reflect.rules.task import Task, task_of
from hindwise.reflect.rules.wording import chain, ended_word, status_word, whole
from hindwise.reflect.steps import language_in, steps_in
from hindwise.reflect.transcript import Language, Step, holds_brief, is_thought, without_briefs
from hindwise.safety.identities import identities
from hindwise.safety.origin import trust_of
from hindwise.safety.personal import scrub, without_personal
from hindwise.text.clean import truncate
from hindwise.text.generalise import generalise
from hindwise.text.language import say
from hindwise.text.task_key import task_key as key_of_task
from hindwise.text.tokens import tokens

MAX_QUOTE_CHARS = 200


@dataclass(frozen=True)
class Read:
    """An episode read once: its calls, its task, its language, and who may not be named in a lesson."""

    episode: Episode
    steps: tuple[Step, ...]
    names: frozenset[str]
    language: Language
    task: Task

    @property
    def failed(self) -> bool:
        """It ended in failure, in part or by an abort."""
        return self.episode.outcome.status in (OutcomeStatus.FAILURE, OutcomeStatus.PARTIAL, OutcomeStatus.ABORTED)

    @property
    def succeeded(self) -> bool:
        """It ended in success."""
        return self.episode.outcome.status is OutcomeStatus.SUCCESS

    @property
    def decisive(self) -> tuple[Step, ...]:
        """The calls that changed something and worked."""
        return tuple(step for step in self.steps if step.changes and step.worked and not is_thought(step))

    @property
    def asked(self) -> str:
        """The condition "asked to …" in the episode's language."""
        return self.task.asked(self.language)

    def say(self, en: str, zh: str) -> str:
        """The sentence in the episode's language."""
        return say(self.language, en, zh)

    @cached_property
    def goal(self) -> str:
        """The task as its lessons tell it."""
        return goal_of(self)

    @cached_property
    def query(self) -> str:
        """The task's key for recall in plain words."""
        return generalized_query(self)

    @property
    def ended(self) -> str:
        """The outcome as a noun in the episode's language."""
        return status_word(self.episode.outcome.status, self.language)

    @property
    def how(self) -> str:
        """The outcome as a verb in the episode's language: `failed` / 「失败」."""
        return ended_word(self.episode.outcome.status, self.language)


def read(episode: Episode) -> Read:
    """Read an episode: everything the rooms need, computed once."""
    names = identities(episode)
    language = language_in(episode)
    steps = steps_in(episode)
    return Read(episode, steps, names, language, task_of(episode, names, language, steps))


def task_key(episode: Episode) -> str:
    """Return the generalised task by which episodes of the same task find each other: the goal, else the user's first words."""
    return key_of_task(episode.goal, (turn.content for turn in episode.turns if turn.role == "user"))


def quote(turn: Turn, wanted: str = "") -> str:
    """Return a piece of the turn as evidence: the line with `wanted`, else its beginning; at most 200 characters, word for word."""
    text = without_briefs(turn.content) if holds_brief(turn.content) else turn.text()
    start = max(0, text.find(wanted)) if wanted else 0
    end = text.find("\n", start)
    return text[start : end if end > start else len(text)][:MAX_QUOTE_CHARS].strip()


def evidence(episode: Episode, turn: Turn, wanted: str = "") -> Evidence:
    """Return the evidence for `turn`, with a quote."""
    return Evidence(episode_id=episode.id, seq=turn.seq, turn_id=turn.turn_id, quote=quote(turn, wanted))


def of_step(episode: Episode, step: Step) -> tuple[Evidence, ...]:
    """Evidence for a call: what was called, and what came back where that was an error."""
    called = evidence(episode, step.turn, step.name if step.turn is not step.result else "")
    if step.result is None or step.result is step.turn or not step.error:
        return (called,)
    return (called, evidence(episode, step.result))


def origin_of_lesson(episode: Episode) -> Origin:
    """Whose word a lesson about the course of an episode is: the environment's where it judged or reported the run, else the agent's."""
    hooked = episode.source not in ("api", "cli")
    return Origin.SYSTEM if hooked or episode.outcome.source is OutcomeSource.ENV else Origin.AGENT


def happened(run: Read, *, at_most: int = 14) -> str:
    """The calls in order, those that failed marked."""
    told: list[str] = []
    for step in run.steps:
        if not is_thought(step):
            mark = step.name + (run.say(" (failed)", "（失败）") if step.error else "")
            if not told or told[-1] != mark:
                told.append(mark)
    return chain(told, at_most=at_most)


def generalized_query(run: Read) -> str:
    """Return the task's key for recall in plain words: up to three requests, then the goal or first words, generalised. Names go
    first, while their capitals still show them."""
    texts = [without_personal(text, names=run.names) for text in (*run.task.requests, run.task.first)]
    return "; ".join(dict.fromkeys([*(generalise(text) for text in texts if text.strip()), *run.task.places]))


def goal_of(run: Read) -> str:
    """Return the task as its lessons tell it: the request that says most, then what else was asked for, each in its fullest words.

    Two tasks that begin alike ("change the flight") are told apart by the rest.
    """
    told = dict.fromkeys((run.task.specific or run.task.phrase, *run.task.places, *run.task.requests))
    words = {text: frozenset(tokens(text)) for text in told if text}
    return run.say("; ", "；").join(text for text, own in words.items() if not any(own < other for other in words.values()))


def lesson(
    run: Read,
    lesson_type: LessonType,
    conclusion: str,
    *,
    evidences: Iterable[Evidence],
    tools: Iterable[str],
    condition: str = "",
    not_when: str = "",
    failed: str = "",
    worked: str = "",
    next_time: str = "",
    importance: int = 6,
    confidence: float = 0.7,
    topics: tuple[str, ...] = (),
) -> Draft:
    """Return a lesson's draft. All words are scrubbed: a lesson may be read by everybody who uses the agent."""
    origin = origin_of_lesson(run.episode)

    def clean(text: str, limit: int) -> str:
        return truncate(scrub(text, names=run.names, language=run.language), limit)

    return Draft(
        kind=Kind.LESSON,
        lesson_type=lesson_type,
        conclusion=whole(scrub(conclusion, names=run.names, language=run.language), MAX_CONCLUSION_CHARS),
        retrospective=Retrospective(
            goal=clean(run.goal, 300),
            what_happened=clean(happened(run), 600),
            what_worked=clean(worked, 400),
            what_failed_and_why=clean(failed, 400),
            next_time=clean(next_time, 400),
        ),
        applies_when=clean(condition or run.asked, 500),
        not_when=clean(not_when, 500),
        task_type=generalise(run.task.phrase)[:200] if run.task.phrase else "",
        generalized_query=clean(run.query, 500),
        topics=topics,
        tools=tuple(dict.fromkeys(tools)),
        language=run.language,
        importance=importance,
        confidence=confidence,
        origin=origin,
        trust=trust_of([origin]),
        evidence=tuple(dict.fromkeys(evidences))[:8],
    )
