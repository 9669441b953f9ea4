"""In which space a draft is kept, and in which form."""

from collections.abc import Sequence

from hindwise.ledger.resolution import Placement
from hindwise.model.episode import Episode, OutcomeSource, OutcomeStatus
from hindwise.model.memory import Draft, Kind
from hindwise.model.reflection import Rejected
from hindwise.model.space import agent_space, spaces_of, user_space
from hindwise.reflect.validators import why_quarantined
from hindwise.safety.quoting import unquoted
from hindwise.safety.sharing import shared_form

_NO_OWNER = "no user is named: facts, preferences, instructions, todos and events have no owner"


def placements_of(
    accepted: Sequence[tuple[int, Draft]], episode: Episode, *, lessons_to_agent: bool
) -> tuple[list[Placement], list[Rejected]]:
    """Lessons of an episode that names an agent go to all who use that agent; everything else stays with the user.

    Where no user is named, whoever uses the agent would read it: then lessons alone are kept, and the rest is refused.
    """
    own = user_space(episode.user_id) if episode.user_id else ""
    shared = agent_space(episode.agent_id) if episode.agent_id and (lessons_to_agent or not own) else own
    said = _said(episode)
    proven = episode.outcome.source is OutcomeSource.ENV and episode.outcome.status is OutcomeStatus.SUCCESS
    kept, ownerless = [], []
    mine = set(spaces_of(episode.user_id, episode.agent_id)) if episode.user_id or episode.agent_id else set()
    for ordinal, draft in accepted:
        doubt = why_quarantined(episode, draft)
        if draft.agrees_with and draft.known_in in mine:
            # It confirms what stands there, in its words, also where a new item like it would go elsewhere.
            kept.append(Placement(ordinal, draft, draft.known_in, doubt, proven))
        elif draft.kind is Kind.LESSON:
            words = unquoted(shared_form(draft, episode), said) if shared != own else draft
            kept.append(Placement(ordinal, words, shared, doubt, proven))
        elif own:
            kept.append(Placement(ordinal, draft, own, doubt, proven))
        else:
            ownerless.append(Rejected(draft=draft, rule="owner", reason=_NO_OWNER))
    return kept, ownerless


def _said(episode: Episode) -> list[str]:
    """The user's own words: what a lesson that others may read does not repeat."""
    note = episode.outcome.note if episode.outcome.source is OutcomeSource.USER else ""
    return [text for text in (episode.goal, note, *(turn.content for turn in episode.turns if turn.role == "user")) if text]
