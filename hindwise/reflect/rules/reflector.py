"""The reflector without a model: deterministic, English and Chinese. Where no cause is visible it says so and invents none.

Reads in this order: how it ended, what went wrong and right in the calls, what the user stated. The rooms behind it: `calls`,
`outcome`, `contrast`, `statements`. At most 3 lessons and 8 statements, the most telling first.
"""

import re
from collections.abc import Sequence

from hindwise.model.episode import Episode, OutcomeSource, OutcomeStatus
from hindwise.model.memory import Draft, Evidence, Kind, Retrospective
from hindwise.model.reflection import Answer, Complaint
from hindwise.model.turn import Origin

# As a module: the gate reads statements by the rules next door, so that either may be imported first.
from hindwise.reflect import cues, gate
from hindwise.reflect.base import Known
from hindwise.reflect.rules.calls import dead_ends, loops, never_overcome, recoveries, strategy
from hindwise.reflect.rules.contrast import contrast
from hindwise.reflect.rules.conversation import (
    corrections,
    hand_over,
    lacking_details,
    repeated_questions,
)
from hindwise.reflect.rules.failing import failing_step
from hindwise.reflect.rules.findings import MAX_QUOTE_CHARS, Read, evidence, happened, of_step, quote, read
from hindwise.reflect.rules.outcome import cause_not_visible, lessons_of_note, own_words
from hindwise.reflect.rules.reported import reported
from hindwise.reflect.rules.statements import draft_of, sentences_of, statements_of
from hindwise.reflect.rules.unmet import Unmet, lessons_of_unmet, todos_of_unmet, unmet_requests
from hindwise.reflect.rules.wording import chain, error_variants, fitting, general_error, variants
from hindwise.reflect.transcript import call_names, user_turns
from hindwise.reflect.validators import MAX_LESSONS, MAX_SEMANTIC, ground
from hindwise.reflect.verdict import verdict_of
from hindwise.safety.origin import trust_of
from hindwise.safety.poison import poison_in
from hindwise.text.clean import one_line, truncate
from hindwise.text.language import language_of


class RuleReflector:
    """Looks back by rules alone. Keeps nothing between episodes; the same episode and knowledge give the same answer."""

    name = "rules"
    model = ""
    prompt_version = "2"

    async def reflect(self, episode: Episode, known: Known, complaints: Sequence[Complaint] = ()) -> Answer:
        """Return the drafts, or none with the reason. Complaints change nothing: what the validators refuse is never proposed."""
        return reflect_by_rules(episode, known)


def reflect_by_rules(episode: Episode, known: Known | None = None) -> Answer:
    """Return what rules conclude from one episode: an event, at most 3 lessons, at most 8 statements; grounded and gated."""
    if reason := gate.worth_reflecting(episode):
        return Answer(nothing_because=reason)
    run = read(episode)
    unmet = unmet_requests(run)
    lessons = _lessons(run, (known or Known()).earlier, unmet)
    event = [_event(run, lessons)] if episode.outcome.status is not OutcomeStatus.UNKNOWN else []
    grounded = ground(episode, Answer(drafts=(*event, *reported(run), *lessons, *statements(run, todos_of_unmet(run, unmet)))))
    kept = tuple(draft for _, draft in grounded.accepted if gate.keep(episode, draft) is None)
    if kept:
        return Answer(drafts=kept)
    nothing = run.say("no outcome, no statement of the user, no call that teaches anything", "没有结果、用户陈述或可总结的调用")
    return Answer(nothing_because=nothing)


def _lessons(run: Read, earlier: Sequence[Episode], unmet: Sequence[Unmet]) -> list[Draft]:
    """The lessons, the most telling first: verdict, contrast, what never worked, what was not done, what was overcome, circles, the way."""
    causes = lessons_of_note(run)
    told = contrast(run, earlier)
    # What the verdict said already is not said again as a contrast.
    causes += [told] if told and not any(_same_advice(told, draft) for draft in causes) else []
    if not any("cause" in draft.topics for draft in causes):
        causes += dead_ends(run)
    if not causes:
        handed = hand_over(run)
        causes += [handed] if handed else lessons_of_unmet(run, unmet) or lacking_details(run)
    others = [*recoveries(run), *loops(run), *repeated_questions(run), *corrections(run)]
    if run.succeeded:
        way = strategy(run)
        # The way of a success is in the contrast already where that names all that was done.
        others += [way] if way and not (told and _is_in(run, told)) else []
    elif not causes and not any("cause" in draft.topics for draft in others):
        # A recovery or a circle is a lesson, but not why the run failed; so it is said that this cannot be seen.
        # Of a part that was done the rest is said to be open: then it is plain why it is a part.
        partly = run.episode.outcome.status is OutcomeStatus.PARTIAL and _still_open(run)
        end = None if partly else cause_not_visible(run)
        causes += [end] if end else []
    ranked = sorted([*causes, *others], key=lambda draft: -draft.importance)
    unique = {draft.conclusion: draft for draft in reversed(ranked)}
    return [draft for draft in ranked if unique.pop(draft.conclusion, None) is not None][:MAX_LESSONS]


def _same_advice(one: Draft, other: Draft) -> bool:
    """The same calls to make or to leave out."""
    return one.retrospective.next_time in other.retrospective.next_time


def _is_in(run: Read, told: Draft) -> bool:
    return all(name in told.conclusion for name in call_names(run.decisive))


# --- the event ------------------------------------------------------------------------------------------------------------------------


def _event(run: Read, lessons: Sequence[Draft]) -> Draft:
    """What the task was and how it ended, with the seven parts as far as the transcript shows them. Stays with the user: may quote."""
    outcome = run.episode.outcome
    note = one_line(outcome.note)
    failing = never_overcome(run.steps)
    why = note or (general_error(failing[-1].error, run.names, run.language) if failing else "")
    if not verdict_of(note).is_empty():
        told = note if run.failed else ""
    else:
        told = general_error(why, frozenset(), run.language, trusted=own_words(run, why)) if why and run.failed else ""
    next_time = next((d.retrospective.next_time for d in lessons if d.retrospective.next_time), "")
    origin = {OutcomeSource.USER: Origin.USER, OutcomeSource.ENV: Origin.SYSTEM}.get(outcome.source, Origin.AGENT)
    hidden = run.failed and not why and any("cause-not-visible" in d.topics for d in lessons)
    return Draft(
        kind=Kind.EVENT,
        conclusion=_event_line(run, told),
        retrospective=Retrospective(
            goal=truncate(run.task.first, 400),
            what_happened=happened(run),
            what_worked=chain(call_names(run.decisive), at_most=10),
            what_failed_and_why=_failures(run, note, hidden, lessons),
            final_feedback=_feedback(run),
            next_time=next_time,
            still_open=_still_open(run),
        ),
        task_type=run.task.phrase[:200],
        generalized_query=truncate("; ".join(run.task.requests), 500),
        topics=("cause-not-visible",) if hidden else (),
        tools=tuple(call_names(run.steps)[:30]),
        language=run.language,
        importance=6 if run.failed else 4,
        origin=origin,
        trust=trust_of([origin]),
        evidence=_event_evidence(run),
        confidence=0.9,
    )


def _event_line(run: Read, why: str) -> str:
    """`Fix the build: failed — zlib.h is missing` / 「修复构建：失败，缺少 zlib.h」."""
    private = run.episode.user_id != ""
    titles = dict.fromkeys((run.task.title(run.language, own=private), run.task.title(run.language, own=False)))
    causes = _cause_variants(run, why)
    if run.language == "zh":
        return fitting([f"{title}：{run.how}{'，' if cause else ''}{cause}" for cause in causes for title in titles])
    return fitting([f"{title}: {run.how}{' — ' if cause else ''}{cause}" for cause in causes for title in titles])


def _cause_variants(run: Read, why: str) -> tuple[str, ...]:
    """The cause in full, then with fewer details: a verdict without its arguments, then its first part alone."""
    if not why:
        return ("",)
    if verdict_of(run.episode.outcome.note).is_empty():
        return error_variants(why)
    plain = re.sub(r"\s?[(（][^)）]{0,200}[)）]", "", why)
    return variants((why, plain, re.split(r"[;；]", plain)[0]))


def _event_evidence(run: Read) -> tuple[Evidence, ...]:
    first = next((evidence(run.episode, turn) for turn, _ in user_turns(run.episode)), None)
    steps = [e for s in run.decisive[-2:] for e in of_step(run.episode, s)[:1]]
    last = [evidence(run.episode, run.episode.turns[-1])] if run.episode.turns and quote(run.episode.turns[-1]) else []
    return tuple(dict.fromkeys([*([first] if first else []), *steps, *last]))


def _failures(run: Read, note: str, hidden: bool, lessons: Sequence[Draft]) -> str:
    told = dict.fromkeys(f"{s.name}: {truncate(_plain_error(run, s.error), 160)}" for s in run.steps if s.error)
    failing = failing_step(run)
    parts = [
        *list(told)[:4],
        *([failing.told(run)] if failing else []),
        *([run.say(f"verdict: {note}", f"判定：{note}")] if note and run.failed else []),
    ]
    said = [d.retrospective.what_failed_and_why for d in lessons if not {"unmet", "hand-over", "loop"}.isdisjoint(d.topics)]
    parts += [text for text in said if text] if run.failed else []
    if hidden:
        parts.append(run.say("The cause of the failure is not visible in the transcript.", "对话中看不出失败的原因。"))
    return truncate(run.say("; ", "；").join(parts), 800)


def _plain_error(run: Read, error: str) -> str:
    """An error's first sentence; of one with words planted in it only what it says is wrong, if that.

    What a tool says after it said what is wrong may be anybody's words, and not all that are planted are recognised.
    """
    if not poison_in(error):
        return one_line(next(iter(sentences_of(error)), ""))
    plain = general_error(error, run.names, run.language)
    return plain if plain and not poison_in(plain) else run.say("failed", "失败")


def _feedback(run: Read) -> str:
    """The user's last words, where they judge or say something."""
    last = [words for _, words in user_turns(run.episode)][1:][-1:]
    return (
        truncate(one_line(last[0]), 300)
        if last and (cues.THANKS.search(last[0]) or cues.COMPLAINT.search(last[0]) or cues.CORRECTION.search(last[0]))
        else ""
    )


def _still_open(run: Read) -> str:
    said = [s for _, words in list(user_turns(run.episode))[-3:] for s in sentences_of(words) if cues.UNFINISHED.search(s)]
    return truncate(one_line(said[-1]), 300) if said else ""


# --- what the user stated -------------------------------------------------------------------------------------------------------------


def statements(run: Read, open_requests: Sequence[Draft] = ()) -> list[Draft]:
    """Return what the user stated, one draft per slot: what was said last holds, with both places as evidence.

    `open_requests`: todos read from the course of the conversation; a statement in the same slot comes before them.
    """
    by_slot = {(draft.subject, draft.attribute, draft.scope): draft for draft in open_requests}
    for turn, words in user_turns(run.episode):
        language = language_of(words[:4_000])
        for statement in statements_of(words):
            draft = draft_of(statement, language, turn.origin)
            # The sentence itself stands in the turn; the conclusion is told about the user and does not.
            place = Evidence(episode_id=run.episode.id, seq=turn.seq, turn_id=turn.turn_id, quote=statement.sentence[:MAX_QUOTE_CHARS])
            key = (draft.subject, draft.attribute, draft.scope)
            before = by_slot.pop(key, None)
            by_slot[key] = draft.model_copy(update={"evidence": (*(before.evidence if before else ()), place)[-3:]})
    ranked = sorted(by_slot.values(), key=lambda d: -d.importance)
    return ranked[:MAX_SEMANTIC]
