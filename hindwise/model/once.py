"""What is read from an episode once, however many ask for it. An episode is frozen, so what was read holds as long as it lives."""

import weakref
from collections.abc import Callable
from functools import partial, wraps
from typing import TypeVar

from hindwise.model.episode import Episode

T = TypeVar("T")


def once_per_episode(read: Callable[[Episode], T]) -> Callable[[Episode], T]:
    """Remember what `read` gave for an episode, by the object and not by its words, until the episode is gone.

    read: pure; what it returns must not hold on to the episode, or both stay for good. Threads may ask at once.
    """
    # By address, since hashing an episode takes as long as reading it.
    remembered: dict[int, tuple[weakref.ref[Episode], T]] = {}

    def forget(address: int, gone: weakref.ref[Episode]) -> None:
        if (entry := remembered.get(address)) and entry[0] is gone:
            remembered.pop(address, None)

    @wraps(read)
    def once(episode: Episode) -> T:
        address = id(episode)
        entry = remembered.get(address)
        if entry is not None and entry[0]() is episode:
            return entry[1]
        found = read(episode)
        remembered[address] = (weakref.ref(episode, partial(forget, address)), found)
        return found

    return once
