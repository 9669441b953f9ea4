"""The whole judgement over a model's answer: what the validators refuse goes back to it, what the gate refuses is only recorded.

Two things never hang on a model. What happened is told by rules alone: a model's sentence about it could not be proved, since no quote of
one turn shows how a task went. And what the user stated outright, which live capture keeps within seconds, is kept by the look back too,
unless the model says it itself: a poor model must not be worse than none.
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
_STATED = frozenset({Kind.FACT, Kind.PREFERENCE, Kind.INSTRUCTION})


def judge(episode: Episode, answer: Answer) -> Grounded:
    """Return what may be kept, and all that may not with its rule and reason. Complaints are the validators' alone.

    Accepted are also the event and the user's own statements by rules, with ordinals from BESIDE on.
    """
    grounded = ground(episode, answer)
    kept: list[tuple[int, Draft]] = []
    refused: list[tuple[int, Rejected]] = []
    for ordinal, draft in grounded.accepted:
        if reason := keep(episode, draft):
            refused.append((ordinal, Rejected(draft=draft, rule=GATE, reason=reason)))
        else:
            kept.append((ordinal, draft))
    beside = enumerate(_beside(episode, [draft for _, draft in kept]), start=BESIDE)
    return grounded.model_copy(update={"accepted": (*kept, *beside), "rejected": (*grounded.rejected, *refused)})


def own_share(ordinals: Sequence[int]) -> int:
    """How many of the accepted drafts are the answer's own; what code puts beside it is no success of a model's."""
    return sum(ordinal < BESIDE for ordinal in ordinals)


def _beside(episode: Episode, said: Sequence[Draft]) -> Iterator[Draft]:
    """Events, and the user's statements that `said` does not hold yet. Unfinished work is the model's to tell: it read the end."""
    for draft in reflect_by_rules(episode).drafts:
        if (draft.kind is Kind.EVENT or draft.kind in _STATED) and not any(_says(other, draft) for other in said):
            yield draft


def _says(other: Draft, draft: Draft) -> bool:
    """Whether both say the same thing of the same, or stand on the same words of the same turn. Of events: in the same words."""
    if draft.kind is Kind.EVENT:
        return other.kind is Kind.EVENT and other.conclusion == draft.conclusion
    slots = [(one.subject.lower(), one.attribute.lower(), one.scope.lower()) for one in (other, draft)]
    if other.kind is draft.kind and slots[0] == slots[1]:
        return True
    places = [{(place.seq, fold(place.quote)) for place in one.evidence if place.quote} for one in (other, draft)]
    return other.kind is not Kind.LESSON and any(
        seq == its_seq and (quote in its_quote or its_quote in quote) for seq, quote in places[0] for its_seq, its_quote in places[1]
    )
