"""What is read from an episode once, however many ask for it. An episode is frozen, so what was read holds as long as it lives."""

import weakref
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AnySet
from functools import partial, wraps
from typing import Any, TypeVar

from pydantic import BaseModel

from hindwise.model.episode import Episode

T = TypeVar("T")

_BYTES_PER_ENTRY = 110
"""What an entry of a set takes with its word, roughly."""
_BYTES_PER_PLACE = 60
_Entry = tuple[weakref.ref[Episode], Any, int]
_remembered: list[dict[int, _Entry]] = []


def once_per_episode(read: Callable[[Episode], T]) -> Callable[[Episode], T]:
    """Remember what `read` gave for an episode, by the object and not by its words, until the episode is gone.

    read: pure; what it returns must not hold on to the episode, or both stay for good. Threads may ask at once. `held_beside` says what
    all that takes, so that whoever keeps an episode knows what it costs to keep.
    """
    # By address, since hashing an episode takes as long as reading it.
    remembered: dict[int, _Entry] = {}
    _remembered.append(remembered)

    def forget(address: int, gone: weakref.ref[Episode]) -> None:
        if (entry := remembered.get(address)) and entry[0] is gone:
            remembered.pop(address, None)

    @wraps(read)
    def once(episode: Episode) -> T:
        address = id(episode)
        entry = remembered.get(address)
        if entry is not None and entry[0]() is episode:
            found: T = entry[1]
            return found
        found = read(episode)
        own = {id(turn.content) for turn in episode.turns}
        remembered[address] = (weakref.ref(episode, partial(forget, address)), found, _weight(found, own))
        return found

    return once


def held_beside(episode: Episode) -> int:
    """Bytes that are remembered of an episode beside itself, roughly: what was read from it so far."""
    entries = (remembered.get(id(episode)) for remembered in _remembered)
    return sum(entry[2] for entry in entries if entry is not None and entry[0]() is episode)


def _weight(value: Any, own: AnySet[int], depth: int = 3) -> int:
    """own: of strings that are the episode's, which take nothing more. Sets are counted and not walked; models are the episode's too."""
    if isinstance(value, str):
        return 0 if id(value) in own else len(value)
    if isinstance(value, AnySet | Mapping):
        return _BYTES_PER_ENTRY * len(value)
    if isinstance(value, Sequence):
        inside = sum(_weight(one, own, depth - 1) for one in value) if depth else 0
        return _BYTES_PER_PLACE * len(value) + inside
    if isinstance(value, BaseModel) or not depth:
        return 0
    return sum(_weight(one, own, depth - 1) for one in getattr(value, "__dict__", {}).values())
