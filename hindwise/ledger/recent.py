"""Episodes as they were put together last: the steps of a reflection follow each other and look at the same one.

What an episode holds is never rewritten. Its verdict may change and its turns be purged: its row tells both, is read each time, and
what was put together from another row is not given. So nothing erased is ever given; and that it does not stay in memory either, in
whichever process, is seen to by `keep_clean`.
"""

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import structlog
from sqlalchemy import Connection, Row, select

from hindwise.errors import HindwiseError
from hindwise.ledger.engine import Ledger
from hindwise.ledger.schema import episodes
from hindwise.model.episode import Episode
from hindwise.model.once import held_beside

MAX_CHARS = 16_000_000
MAX_AGE_S = 900.0
"""As long as a model may take, so that the next step still finds it."""
CLEAN_EVERY_S = 5.0
"""How long at most something stays in memory after it was erased, by whatever process."""
_PER_TURN = 1_000
_ASKED_AT_ONCE = 500

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Kept:
    row: tuple[Any, ...]
    episode: Episode
    own: int
    """Characters of the episode itself."""
    chars: int
    """With what was read from it and is remembered beside it, as it was weighed last."""
    at: float


class RecentEpisodes:
    """The newest episodes of this process, bounded by characters and by age. Threads may use it at once.

    What is read from one later (`once_per_episode`) counts too: it is weighed again when it is asked for, and every few seconds.
    """

    def __init__(self, max_chars: int = MAX_CHARS, max_age_s: float = MAX_AGE_S, now: Callable[[], float] = time.monotonic) -> None:
        self._max_chars, self._max_age_s, self._now = max_chars, max_age_s, now
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._chars = 0
        self._lock = threading.Lock()

    def get(self, row: Row[Any]) -> Episode | None:
        """Return the episode that was put together from exactly this row, or None."""
        with self._lock:
            self._drop_old()
            if (kept := self._kept.get(row.id)) is None or kept.row != tuple(row):
                return None
            self._weigh([kept])
            return kept.episode

    def put(self, row: Row[Any], episode: Episode) -> None:
        """Remember an episode; the oldest ones go where there is no room. One that is larger than all the room is not remembered."""
        chars = sum(_PER_TURN + len(turn.content) + sum(len(str(call.arguments)) for call in turn.tool_calls) for turn in episode.turns)
        with self._lock:
            self._drop(row.id)
            if chars > self._max_chars:
                return
            self._kept[row.id] = kept = _Kept(tuple(row), episode, chars, 0, self._now())
            self._drop_old()
            self._weigh([kept])

    def forget(self, episode_id: str) -> None:
        """Nobody will ask for it any more."""
        with self._lock:
            self._drop(episode_id)

    async def keep_clean(self, ledger: Ledger) -> None:
        """Forget what grew old, and what the ledger does not hold as it was any more; for ever."""
        while True:
            await asyncio.sleep(CLEAN_EVERY_S)
            try:
                await self.clean(ledger)
            except HindwiseError:
                continue  # the ledger does not answer: then nobody gets anything from here either
            except Exception as error:  # whoever stops looking would keep what is erased
                _log.error("recent_not_cleaned", error=type(error).__name__)

    async def clean(self, ledger: Ledger) -> None:
        """Do so once. Raises LedgerUnavailable."""
        with self._lock:
            self._drop_old()
            self._weigh(list(self._kept.values()))
            known = {name: kept.row for name, kept in self._kept.items()}
        names = list(known)
        for start in range(0, len(names), _ASKED_AT_ONCE):
            asked = names[start : start + _ASKED_AT_ONCE]
            there = await ledger.read(lambda conn, asked=asked: _rows(conn, asked))  # type: ignore[misc]
            with self._lock:
                for name in asked:
                    if there.get(name) != known[name] and (kept := self._kept.get(name)) and kept.row == known[name]:
                        self._drop(name)

    def _weigh(self, changed: Sequence[_Kept]) -> None:
        """Count what some hold now; the oldest go where there is no room."""
        for kept in changed:
            self._chars -= kept.chars
            kept.chars = kept.own + held_beside(kept.episode)
            self._chars += kept.chars
        while self._chars > self._max_chars and self._kept:
            self._drop(next(iter(self._kept)))

    def _drop(self, episode_id: str) -> None:
        if kept := self._kept.pop(episode_id, None):
            self._chars -= kept.chars

    def _drop_old(self) -> None:
        before = self._now() - self._max_age_s
        while self._kept and next(iter(self._kept.values())).at < before:
            self._drop(next(iter(self._kept)))


def _rows(conn: Connection, names: Sequence[str]) -> dict[str, tuple[Any, ...]]:
    return {row.id: tuple(row) for row in conn.execute(select(episodes).where(episodes.c.id.in_(names)))}
