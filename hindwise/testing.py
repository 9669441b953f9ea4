"""Fakes that tests and users' own tests share: real implementations of our interfaces, scripted instead of clever."""

from collections import deque
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache

import numpy as np

from hindwise.embed.base import Calibration, Vector
from hindwise.embed.calibration import measure
from hindwise.errors import HindwiseError
from hindwise.index.terms import term_hash
from hindwise.model.episode import Episode
from hindwise.model.reflection import Answer, Complaint
from hindwise.reflect.base import Known
from hindwise.text.clean import clean
from hindwise.text.tokens import query_tokens


class ScriptedModel:
    """A reflector that says what it was told to say. `asked`: every question so far, with its complaints.

    Gives the queued answers in order and raises the queued errors; the last one is repeated when `repeat_last`, else the end of the
    script is an AssertionError: the code under test asked more often than the test allows.
    """

    name = "llm"
    prompt_version = "scripted"

    def __init__(self, *script: Answer | HindwiseError, model: str = "scripted", repeat_last: bool = False) -> None:
        self.model = model
        self.asked: list[tuple[Episode, Known, tuple[Complaint, ...]]] = []
        self._script = deque(script)
        self._repeat_last = repeat_last

    async def reflect(self, episode: Episode, known: Known, complaints: Sequence[Complaint] = ()) -> Answer:
        """Return the next queued answer, or raise the next queued error."""
        self.asked.append((episode, known, tuple(complaints)))
        if not self._script:
            raise AssertionError(f"asked {len(self.asked)} times: the script has no answer left")
        step = self._script[0] if self._repeat_last and len(self._script) == 1 else self._script.popleft()
        if isinstance(step, HindwiseError):
            raise step
        return step

    async def close(self) -> None:
        """Nothing to close; here because reflectors that hold connections have it."""


@lru_cache(8_192)
def _direction(token: str, dim: int) -> Vector:
    """The same few hundred words are embedded again and again, and each new generator takes as long as twenty sums."""
    return np.random.default_rng(term_hash(token)).standard_normal(dim).astype(np.float32)


def hashed_vector(text: str, dim: int = 64) -> Vector:
    """Return float32 [dim] of length 1: the sum of one fixed direction per token, so that texts that share tokens point alike.

    A text without tokens points along the first axis.
    """
    total = np.zeros(dim, dtype=np.float32)
    for token in query_tokens(clean(text)):
        total += _direction(token, dim)
    length = float(np.linalg.norm(total))
    if length == 0.0:
        total[0] = length = 1.0
    return total / length


class HashedEmbedder:
    """An embedder without a model: like texts get like vectors, in English and in Chinese. Deterministic and fast."""

    def __init__(self, dim: int = 64) -> None:
        self.dim = dim
        self.model = f"hashed-{dim}"
        self.asked: list[str] = []
        """Every question that was embedded, in order."""
        self._calibration: Calibration | None = None

    @property
    def calibration(self) -> Calibration:
        """Known after `start`."""
        if self._calibration is None:
            raise RuntimeError("the embedder has not been started")
        return self._calibration

    async def start(self) -> None:
        """Measure the calibration."""
        self._calibration = await measure(self.passages)

    async def passages(self, texts: Sequence[str]) -> list[Vector | None]:
        """Return a vector per text."""
        return [hashed_vector(text, self.dim) for text in texts]

    async def query(self, text: str) -> Vector | None:
        """Return the vector of a question, the same as of a passage."""
        self.asked.append(text)
        return hashed_vector(text, self.dim)

    async def close(self) -> None:
        """Nothing to free."""


class FixedClock:
    """A clock that stands until it is moved. Starts at 2026-05-01T09:00:00Z unless told otherwise."""

    def __init__(self, now: datetime | None = None) -> None:
        self._now = (now or datetime(2026, 5, 1, 9, tzinfo=UTC)).astimezone(UTC)

    def now(self) -> datetime:
        """Return the instant at which the clock stands."""
        return self._now

    def advance(self, step: timedelta | None = None, **parts: float) -> datetime:
        """Move on by a timedelta or its parts (`advance(days=2)`), and return the new instant."""
        self._now += step if step is not None else timedelta(**parts)
        return self._now
