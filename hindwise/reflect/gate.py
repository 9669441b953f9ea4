"""What is worth looking back at, and what is worth keeping. Free of any model call (DESIGN section 6)."""

from hindwise.model.episode import Episode, OutcomeStatus
from hindwise.model.memory import MAX_SNIPPET_CHARS, SLOTTED, Draft, Kind
from hindwise.model.once import once_per_episode
from hindwise.reflect import cues
from hindwise.reflect.rules.worth import why_not_kept
from hindwise.reflect.steps import language_in, steps_in
from hindwise.reflect.transcript import user_turns, without_briefs
from hindwise.safety.masking import tells_only_a_mask
from hindwise.text.language import say
from hindwise.text.lazy_re import lazy_re

MIN_IMPORTANCE = 6
"""From here on an item is kept whatever its kind."""


@once_per_episode
def worth_reflecting(episode: Episode) -> str | None:
    """Return None when there may be something to learn, else why not, in the transcript's language.

    Nothing to learn: no turns, or only fillers, one-off questions and our own briefs, without calls and without a known outcome.
    """
    language = language_in(episode)
    said = [words for turn in episode.turns if (words := without_briefs(turn.content))]
    calls = steps_in(episode)
    # The goal of a task that ended by idleness was read from its turns: it says nothing that they do not.
    goal = episode.goal if episode.closed_by != "idle" else ""
    if not said and not calls:
        return say(language, "the episode holds no words and no calls", "该任务没有任何内容或调用")
    if calls or (episode.outcome.status is not OutcomeStatus.UNKNOWN and (goal or episode.outcome.note)):
        return None
    if all(cues.is_filler(words) for _, words in user_turns(episode)) and not goal and _reports_nothing(episode):
        return say(language, "only greetings and fillers: there is nothing to learn", "只有寒暄和语气词，没有可总结的内容")
    if not goal and _only_questions(episode):
        return say(language, "only one-off questions: nothing outlives them", "只有一次性的问题，没有需要留下的内容")
    return None


_ASKS = lazy_re(r"[?？]\s*$|(?:吗|呢)[。\s]*$")
MAX_QUESTION_CHARS = 200


def _only_questions(episode: Episode) -> bool:
    """Questions and fillers of the user, and answers that report nothing: no statement, no trouble, nothing refused."""
    for turn in episode.turns:
        words = without_briefs(turn.content)
        if turn.origin == "user" and turn.role == "user":
            asks = (
                len(words) <= MAX_QUESTION_CHARS
                and _ASKS.search(words)
                and not (cues.COMPLAINT.search(words) or cues.CORRECTION.search(words))
            )
            if not asks and not cues.is_filler(words):
                return False
        elif cues.REFUSED.search(words[:1_500]) or cues.HAND_OVER.search(words[:1_500]):
            return False
    return _reports_nothing(episode)


def _reports_nothing(episode: Episode) -> bool:
    """No turn tells, by itself, anything that outlives the task: of an agent how something ended and why, of a tool an error."""
    return all(why_not_kept(turn) is not None for turn in episode.turns)


ONLY_A_MASK = "all that it tells was masked"


def keep_words(draft: Draft) -> bool:
    """Whether a draft tells more than a mask."""
    return draft.kind not in SLOTTED or not tells_only_a_mask(draft.conclusion)


def keep(episode: Episode, draft: Draft) -> str | None:
    """Return None when a draft is kept, else why not.

    Kept: explicit statements, unfinished work, what has a known outcome, an importance of 6 and more; never fillers, never raw text.
    """
    if cues.is_filler(draft.conclusion):
        return "a filler: it says nothing"
    if draft.kind is Kind.SNIPPET and len(draft.conclusion) > MAX_SNIPPET_CHARS:
        return f"raw text of more than {MAX_SNIPPET_CHARS} characters"
    if draft.kind in SLOTTED:
        return None if keep_words(draft) else ONLY_A_MASK
    if draft.importance >= MIN_IMPORTANCE or draft.entities:
        return None
    if draft.kind in (Kind.EVENT, Kind.LESSON) and episode.outcome.status is not OutcomeStatus.UNKNOWN:
        return None
    return f"importance {draft.importance} without a known outcome, an explicit statement or unfinished work"
