"""What passed every rule and is still kept away from briefs, until an independent task bears it out."""

from hindwise.model.episode import Episode, OutcomeSource, OutcomeStatus
from hindwise.model.memory import Draft, Kind
from hindwise.model.turn import Origin
from hindwise.reflect.transcript import error_of
from hindwise.reflect.validators.base import turns_of
from hindwise.safety.origin import OUTSIDE
from hindwise.safety.poison import poison_in


def why_quarantined(episode: Episode, draft: Draft) -> str:
    """Why a draft that passed is kept away from briefs until an independent task bears it out; "" where it is not.

    A lesson or fact whose words are a tool's or a page's, whoever is named beside them. Not so a plain error that met a turn of the agent,
    and not a fact of a task whose success the environment saw; but anything out of an output with planted words in it. And a lesson of a
    small model that stands on no failed call: such models take the one for the other in what people said.
    """
    if draft.kind is Kind.LESSON and draft.unproven:
        return "a small model concluded it, and no failed call bears it out"
    if draft.kind not in (Kind.LESSON, Kind.FACT) or draft.origin is Origin.SYSTEM:
        return ""
    places = [(place, turn) for place in draft.evidence for turn in turns_of(episode, place)]
    grounds = [turn for place, turn in places if place.quote] or [turn for _, turn in places]
    if draft.origin not in OUTSIDE and not all(turn.origin in OUTSIDE for turn in grounds):
        return ""
    outside = [turn for turn in grounds if turn.origin in OUTSIDE]
    if any(poison_in(turn.content) for turn in outside):
        return "it stands in an output that gives orders to whoever reads it"
    if draft.kind is Kind.FACT:
        seen = episode.outcome.source is OutcomeSource.ENV and episode.outcome.status is OutcomeStatus.SUCCESS
        return "" if seen else "it is the word of a tool alone"
    met = any(turn.origin is Origin.AGENT for _, turn in places) and all(error_of(turn.content) for turn in outside)
    return "" if met else "it stands on words of a tool or a page alone"
