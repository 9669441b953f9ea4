"""What a user wants kept now, not when the task ends: an order, a correction, a preference, "remember …" / 「请记住…」.

Read by the same rules as the look back over the whole task, and held to the same validators.
"""

from collections.abc import Iterable

from hindwise.model.episode import Episode
from hindwise.model.memory import Draft, Evidence, Kind
from hindwise.model.reflection import Answer
from hindwise.model.turn import Turn
from hindwise.reflect import cues, gate
from hindwise.reflect.rules.statements import draft_of, statements_of
from hindwise.reflect.transcript import spoken, user_turns
from hindwise.reflect.validators import ground
from hindwise.text.language import language_of
from hindwise.text.lazy_re import lazy_re

MAX_CHARS = 2_000
"""Of one turn: who writes more tells a story, which the look back reads."""
_MAX_QUOTE = 300
_WISH = lazy_re(
    r"(?i)\b(?:remember|keep in mind|prefer|favou?rite|hate|love|like|rather|always|never|can'?t stand)\b"
    r"|记住|记下|记得|喜欢|偏好|偏爱|讨厌|习惯|受不了|一律|总是|永远|从不"
)


def has_cue(turns: Iterable[Turn]) -> bool:
    """Whether any turn holds words of the user that are kept at once. Cheap: most turns cost four searches and no more."""
    return any(_asks(turn) for turn in turns if turn.role == "user" and turn.origin == "user" and len(turn.content) <= MAX_CHARS)


def _asks(turn: Turn) -> bool:
    text = turn.content
    if not any(cue.search(text) for cue in (_WISH, cues.CHANGE, cues.STANDING, cues.CORRECTION)):
        return False
    # Of unfinished work only the end of the task tells whether it stayed so.
    return any(statement.kind is not Kind.TODO for statement in statements_of(spoken(turn)))


def captured(episode: Episode) -> list[tuple[Turn, list[Draft]]]:
    """Return the drafts of each of the user's turns in order; of one slot a turn says one thing. What no validator refuses.

    episode: the turns of an open task that were told last, as an episode of their own. Pure; milliseconds.
    """
    return [(turn, kept) for turn, words in user_turns(episode) if len(words) <= MAX_CHARS and (kept := _of_turn(episode, turn, words))]


def _of_turn(episode: Episode, turn: Turn, words: str) -> list[Draft]:
    language = language_of(words)
    by_slot: dict[tuple[str, str, str], Draft] = {}
    for statement in statements_of(words):
        if statement.kind is Kind.TODO:
            continue  # whether it stays open, only the end of the task tells
        draft = draft_of(statement, language, turn.origin)
        place = Evidence(episode_id=episode.id, seq=turn.seq, turn_id=turn.turn_id, quote=statement.sentence[:_MAX_QUOTE])
        by_slot[draft.subject, draft.attribute, draft.scope] = draft.model_copy(update={"evidence": (place,)})
    grounded = ground(episode, Answer(drafts=tuple(by_slot.values())))
    return [draft for _, draft in grounded.accepted if gate.keep(episode, draft) is None]
