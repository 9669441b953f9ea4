"""Where one task ends and the next begins, in what a session left open until it was idle. Pure, without a model; both languages.

Unsure means no cut: two tasks in one episode cost a vaguer lesson, one task in two loses its outcome.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from hindwise.model.turn import Turn
from hindwise.reflect.segment.signs import ENOUGH, manner_of, weigh
from hindwise.reflect.segment.spoken import Spoken
from hindwise.reflect.transcript import steps_of
from hindwise.text.clean import one_line, truncate

MAX_PARTS = 12
MAX_GOAL_CHARS = 600


@dataclass(frozen=True, slots=True)
class Part:
    """One task of a range: first and last turn by the ledger's number, both inclusive. `goal`: what the user asked for, in their words."""

    first_seq: int
    last_seq: int
    goal: str


def segment(turns: Sequence[Turn]) -> tuple[Part, ...]:
    """Cut turns (in order) into at most 12 parts that cover them without gap or overlap; () for none.

    Only a turn of the user begins a part, never between a call and its result.
    """
    said = [Spoken(turn) for turn in turns]
    if not said:
        return ()
    cuts = sorted(sorted(_cuts(said), key=lambda cut: (-cut[1], cut[0]))[: MAX_PARTS - 1])
    starts = [0, *(place for place, _ in cuts)]
    ends = [*(start - 1 for start in starts[1:]), len(said) - 1]
    return tuple(
        Part(said[first].turn.seq, said[last].turn.seq, goal_of(said[first : last + 1])) for first, last in zip(starts, ends, strict=True)
    )


def _cuts(said: Sequence[Spoken]) -> list[tuple[int, float]]:
    """Where a part begins, with the weight of what says so."""
    held = _held([one.turn for one in said])
    manner = manner_of(said)
    found: list[tuple[int, float]] = []
    start, asked = 0, False
    for place, one in enumerate(said):
        if not one.says:
            continue
        if asked and place not in held and one.may_begin and (score := weigh(said, start, place, manner)) >= ENOUGH:
            # What a framework tells the agent at the beginning of a task belongs to the task.
            first = place
            while first - 1 > start and said[first - 1].turn.role == "system":
                first -= 1
            found.append((first, score))
            start = first
        asked = True
    return found


def _held(turns: Sequence[Turn]) -> frozenset[int]:
    """Places between a call and its result."""
    places = {turn.seq: place for place, turn in enumerate(turns)}
    held: set[int] = set()
    for step in steps_of(turns):
        if step.result is not None:
            held.update(range(places[step.turn.seq] + 1, places[step.result.seq] + 1))
    return frozenset(held)


def goal_of(said: Sequence[Spoken]) -> str:
    """The user's first message that asks for something, else that says something, without thanks and words that only open a task.

    The whole message: the same request completed by a caller has the same task key.
    """
    speaking = [one for one in said if one.says]
    if speaking and speaking[0].opens:
        return truncate(one_line(speaking[0].begun), MAX_GOAL_CHARS)
    chosen = next((one for one in speaking if (one.requests or one.asks) and not one.closes), speaking[0] if speaking else None)
    if chosen is None:
        return ""
    behind_thanks = (chosen.added or chosen.asked) if chosen.thanks_first else ""
    return truncate(one_line(behind_thanks or chosen.words), MAX_GOAL_CHARS)
