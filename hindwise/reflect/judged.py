"""The whole judgement over a model's answer: what the validators refuse goes back to it, what the gate refuses is only recorded.

Two things never hang on a model. What happened is told by rules alone: a model's sentence about it could not be proved, since no quote of
one turn shows how a task went. And what the user stated outright, which live capture keeps within seconds, is kept by the look back too,
unless the model says it itself: a poor model must not be worse than none. Where the model was asked in the short form, for one lesson,
all that rules conclude stands beside it.
"""

from collections.abc import Iterator, Sequence

from hindwise.model.episode import Episode
from hindwise.model.memory import Draft, Kind
from hindwise.model.reflection import Answer, Rejected
from hindwise.reflect.gate import keep
from hindwise.reflect.rules import reflect_by_rules
from hindwise.reflect.validators import GATE, Grounded, fold, ground

BESIDE = 1_000
"""Ordinals from here on are of drafts that code put beside the answer; an answer has far fewer."""
SURE = 0.5
"""Confidence from which on a lesson makes rules' own one about the same needless."""
_STATED = frozenset({Kind.FACT, Kind.PREFERENCE, Kind.INSTRUCTION})


def judge(episode: Episode, answer: Answer) -> Grounded:
    """Return what may be kept, and all that may not with its rule and reason. Complaints are the validators' alone.

    Accepted are also the event and the user's own statements by rules, with ordinals from BESIDE on; beside a short answer all of rules'.
    """
    grounded = ground(episode, answer)
    kept: list[tuple[int, Draft]] = []
    refused: list[tuple[int, Rejected]] = []
    for ordinal, draft in grounded.accepted:
        if reason := keep(episode, draft):
            refused.append((ordinal, Rejected(draft=draft, rule=GATE, reason=reason)))
        else:
            kept.append((ordinal, draft))
    beside = enumerate(_beside(episode, [draft for _, draft in kept], everything=answer.short), start=BESIDE)
    return grounded.model_copy(update={"accepted": (*kept, *beside), "rejected": (*grounded.rejected, *refused)})


def own_share(ordinals: Sequence[int]) -> int:
    """How many of the accepted drafts are the answer's own; what code puts beside it is no success of a model's."""
    return sum(ordinal < BESIDE for ordinal in ordinals)


def _beside(episode: Episode, said: Sequence[Draft], *, everything: bool) -> Iterator[Draft]:
    """Events, and the user's statements that `said` does not hold yet. Unfinished work is the model's to tell: it read the end.

    everything: also lessons and unfinished work.
    """
    for draft in reflect_by_rules(episode).drafts:
        if (everything or draft.kind is Kind.EVENT or draft.kind in _STATED) and not any(_says(other, draft) for other in said):
            yield draft


def _says(other: Draft, draft: Draft) -> bool:
    """Whether both say the same thing of the same, or stand on the same words of the same turn. Of events: in the same words.

    Of lessons: of the same type, about the same tools, on a common turn, and the other one is as sure as to be told.
    """
    if draft.kind is Kind.EVENT:
        return other.kind is Kind.EVENT and other.conclusion == draft.conclusion
    if draft.kind is Kind.LESSON:
        return _teaches(other, draft)
    slots = [(one.subject.lower(), one.attribute.lower(), one.scope.lower()) for one in (other, draft)]
    if other.kind is draft.kind and slots[0] == slots[1]:
        return True
    places = [{(place.seq, fold(place.quote)) for place in one.evidence if place.quote} for one in (other, draft)]
    return other.kind is not Kind.LESSON and any(
        seq == its_seq and (quote in its_quote or its_quote in quote) for seq, quote in places[0] for its_seq, its_quote in places[1]
    )


def _teaches(other: Draft, draft: Draft) -> bool:
    turns = [{place.seq for place in one.evidence} for one in (other, draft)]
    alike = (other.kind, other.lesson_type, set(other.tools)) == (draft.kind, draft.lesson_type, set(draft.tools))
    return alike and bool(turns[0] & turns[1]) and other.confidence >= SURE
