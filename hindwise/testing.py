"""Fakes that tests and users' own tests share: real implementations of our interfaces, scripted instead of clever."""

from collections import deque
from collections.abc import Sequence

from hindwise.errors import HindwiseError
from hindwise.model.episode import Episode
from hindwise.model.reflection import Answer, Complaint
from hindwise.reflect.base import Known


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
