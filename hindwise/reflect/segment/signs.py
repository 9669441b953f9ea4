"""How strongly a user's turn looks like the beginning of another task. Each sign has a weight; what is unsure weighs against a cut."""

from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise
from statistics import median_low
from typing import NamedTuple

from hindwise.reflect import cues as common
from hindwise.reflect.segment import cues
from hindwise.reflect.segment.spoken import Spoken, telling
from hindwise.text.bilingual import concepts_in
from hindwise.text.language import language_of

ENOUGH = 2.0
"""From this sum on a turn begins a part of its own."""

BARE = 1.0
"""So much more where nobody opened, closed, thanked, greeted or paused: orders in a row about one thing look like shifts."""

LONG, MEDIUM = timedelta(minutes=60), timedelta(minutes=8)
"""Nobody spoke for so long. A pause alone never cuts: people come back to what they left."""
_HABIT, _MOSTLY = 3, 0.6
"""Who begins so many of his turns, and so great a share of them, with thanks is polite."""
_UNUSUAL = 4
"""And it tells something only where it is so many times as long as usual."""
_TELLING_GAPS = 3

THANKED = BESIDES = 0.5
"""Who thanks and asks in one breath may ask for something else; that alone cuts nothing. So much more where he says that it is."""
OTHER_LANGUAGE = 0.5
"""The person goes on in another language: mostly, but not only, because of something else."""
_FEW_CONCEPTS = 2
"""Known in both languages, so that the words of one tell whether they are new among those of the other."""

OWN = 1.0
"""It begins with what its speaker needs or has."""
ALONE = 0.5
"""A question that could stand alone, where something else says that a task may begin."""

_BEFORE, _AFTER, _TOOLS = 14, 5, 60
"""Turns that the words of a turn are compared with; and turns whose tools count."""

_FEW = 4
"""Telling tokens: short orders ("Run the tests.") have new words within the same task too."""
_MANY = 7
"""And so many of them tell what somebody wants without a "please"."""


def share(of: frozenset[str], known: frozenset[str]) -> float:
    """Which share of the tokens is known; 1.0 for none, since nothing says that they are new."""
    return len(of & known) / len(of) if of else 1.0


class Manner(NamedTuple):
    """How somebody mostly speaks: what he always does tells nothing. `pause`: how long he takes; 0 where too few turns tell."""

    pause: timedelta
    thanks: bool


def manner_of(said: Sequence[Spoken]) -> Manner:
    """How the user of a session speaks."""
    later = [one for one in said if one.says][1:]
    thanks = sum(one.thanks_first for one in later)
    return Manner(_usual_pause(said), thanks >= _HABIT and thanks >= _MOSTLY * len(later))


def weigh(said: Sequence[Spoken], start: int, place: int, manner: Manner) -> float:
    """Weigh turn `place` of `said` as the beginning of a part, where the present one began at `start`. Higher = another task."""
    now = said[place]
    before = said[max(start, place - _BEFORE) : place]
    head = now.words[:300]
    user_before = next((other for other in reversed(before) if other.by_user and other.words), None)
    agent_before = before[-1] if before and before[-1].turn.role == "assistant" and before[-1].words else None
    if cues.RETURNS.search(head) or _comes_back(said, place):
        return -3.0
    score = 3.0 if now.opens else 0.0
    if user_before is not None:
        score += 2.0 if user_before.closes else 0.75 if user_before.wraps else 0.0
    score += _pause(said, place, manner.pause)
    score += 1.0 if cues.GREETS.search(head) else 0.0
    # Behind a good-bye "also" is an afterthought of the same task.
    thanks_first = now.thanks_first and not manner.thanks
    thanked = thanks_first or (user_before is not None and user_before.wraps and not user_before.closes)
    other_language = user_before is not None and language_of(user_before.words) != language_of(now.words)
    score += OTHER_LANGUAGE if other_language else 0.0
    # Without any of these the words alone would have to tell, and one task has many words: they must tell more.
    if score == 0.0:
        score -= BARE
    score += THANKED if thanks_first and _asks_anew(now) else 0.0
    score += 1.0 if now.requests else ALONE if now.asks and score > 0 else 0.0 if now.asks else -0.5
    score += OWN if cues.OWN_NEED.search(head) else 0.0
    if agent_before is not None:
        invites = cues.INVITES.search(agent_before.words[-300:]) is not None
        asks = cues.ASKS_BACK.search(agent_before.words[-400:]) is not None
        score += 0.5 if invites else -1.5 if asks else 0.25
    shift = _shift(said, start, place)
    # Who says "next task" may go on with the same words: one more of the same sort is another task.
    if now.opens:
        return score + max(0.0, shift)
    head = now.asked[:300] if now.thanks_first else head
    if thanked and now.added:
        score, head = score + BESIDES, now.added[:300]
    return score + shift + _against(now, head)


def _asks_anew(now: Spoken) -> bool:
    """Behind thanks: a request in so many words, or at length. Behind a mere "OK": both, or one that says that it comes besides."""
    wishes, much = cues.WISHES.search(now.asked) is not None, len(telling(now.asked))
    return wishes or much >= _MANY if now.thanks else bool(now.added) or (wishes and much >= _MANY - 1)


def _pause(said: Sequence[Spoken], place: int, usual: timedelta) -> float:
    gap = said[place].turn.occurred_at - said[place - 1].turn.occurred_at
    if gap < _UNUSUAL * usual:
        return 0.0
    return 1.0 if gap >= LONG else 0.5 if gap >= MEDIUM else 0.0


def _usual_pause(said: Sequence[Spoken]) -> timedelta:
    """The lower median. Slow talk has pauses everywhere."""
    gaps = [now.turn.occurred_at - before.turn.occurred_at for before, now in pairwise(said) if now.by_user]
    return max(median_low(gaps), timedelta()) if len(gaps) >= _TELLING_GAPS else timedelta()


def _against(now: Spoken, head: str) -> float:
    """What says that the same task goes on."""
    score = 0.0
    if cues.GOES_ON.search(head) or common.CORRECTION.search(head):
        score -= 2.0
    if cues.AND.search(head):
        score -= 1.5
    clause = _first_clause(head)
    if cues.POINTS_BACK.search(clause):
        score -= 1.5
    if common.COMPLAINT.search(head) or common.WITHDRAWN.search(head):
        score -= 1.0
    if cues.ASIDE.search(head) or cues.EDITS.search(head):
        score -= 1.0
    return score


def _first_clause(text: str) -> str:
    ends = [at for mark in ".!?。！？\n" if (at := text.find(mark, 12)) > 0]
    return text[: min(ends) + 1] if ends else text


def _shift(said: Sequence[Spoken], start: int, place: int) -> float:
    """Whether other words and other tools are used from here on."""
    now = said[place]
    known = frozenset().union(*(other.content for other in said[max(start, place - _BEFORE) : place]))
    later: list[Spoken] = []
    for other in said[place + 1 : place + 1 + _AFTER]:
        if other.opens or (other.by_user and later and other.closes):
            break
        later.append(other)
    score = _newness(share(now.content, known), len(now.content))
    before = next((other for other in reversed(said[max(start, place - _BEFORE) : place]) if other.by_user and other.words), now)
    if language_of(before.words) != language_of(now.words):
        score = _newness_of_concepts(now, said[max(start, place - _BEFORE) : place])
    following = frozenset().union(*(other.content for other in later)) - now.content
    if following:
        goes_on = share(following, known)
        score += 0.5 if goes_on <= 0.1 else -0.75 if goes_on >= 0.3 else 0.0
    used = frozenset().union(*(other.tools for other in said[max(start, place - _TOOLS) : place]))
    next_used = frozenset().union(*(other.tools for other in later))
    if used and next_used:
        score += -0.5 if used & next_used else 0.5
    return score


def _newness(told: float, count: int) -> float:
    """By the share of a turn's telling tokens that were said before; few of them tell nothing, or speak against."""
    if count < _FEW:
        return -1.0 if told >= 0.34 or count < _FEW // 2 else 0.0
    return 1.0 if told == 0 else 0.5 if told <= 0.2 else -1.0 if told >= 0.34 else 0.0


def _newness_of_concepts(now: Spoken, before: Sequence[Spoken]) -> float:
    """The same across two languages, whose words are always new to each other: by what the lexicon knows of both."""
    here = concepts_in(now.words)
    known = frozenset().union(*(concepts_in(other.words) for other in before))
    told = share(here, known)
    return -1.0 if here and told >= 0.34 else 0.5 if told == 0 and len(here) >= _FEW_CONCEPTS else 0.0


def _comes_back(said: Sequence[Spoken], place: int) -> bool:
    """A question on the side: soon after it the user returns to what was left."""
    if said[place].opens:
        return False
    soon = [other for other in said[place + 1 : place + 7] if other.by_user][:2]
    return any(cues.RETURNS.search(other.words[:120]) for other in soon)
