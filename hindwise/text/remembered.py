"""What was read from words, remembered for who asks again: forgotten together, since they may be the words of somebody who is erased."""

from collections.abc import Callable
from functools import lru_cache
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_forgetting: list[Callable[[], None]] = []


def remembered(most: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Keep the answers of a pure function about the `most` texts that were asked about last."""

    def keep(read: Callable[P, T]) -> Callable[P, T]:
        kept = lru_cache(maxsize=most)(read)
        _forgetting.append(kept.cache_clear)
        return kept  # type: ignore[return-value]

    return keep


def forget_words() -> None:
    """Forget all of them, in every room. Whoever asks next reads anew."""
    for forget in _forgetting:
        forget()
