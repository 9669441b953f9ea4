"""The interface of a reflector."""

from collections.abc import Sequence
from typing import Protocol

from pydantic import Field

from hindwise.model.base import Model
from hindwise.model.episode import Episode
from hindwise.model.memory import Memory
from hindwise.model.reflection import Answer, Complaint


class Known(Model):
    """What is already known where the episode happened: bounded, nearest first."""

    memories: tuple[Memory, ...] = Field(default=(), max_length=20)
    """Live memories of the episode's spaces, nearest to its goal."""
    examples: tuple[Memory, ...] = Field(default=(), max_length=3)
    """What people of this tenant confirmed, in the episode's language: examples of what is worth keeping, no knowledge of the task."""
    earlier: tuple[Episode, ...] = Field(default=(), max_length=6)
    """Earlier episodes of the same generalised task in the same spaces, the opposite outcome first: for contrast."""


class Reflector(Protocol):
    """Looks back over one episode. Deterministic or not; never writes."""

    name: str
    """rules or llm."""
    model: str
    """Model name; empty for rules."""
    prompt_version: str

    async def reflect(self, episode: Episode, known: Known, complaints: Sequence[Complaint] = ()) -> Answer:
        """Return drafts, or none with `nothing_because`.

        `complaints`: what the validators said of the previous answer to the same question.
        Raises AnswerUnusable (not in the agreed form), ModelUnavailable (try later), ModelRefused (a person must act).
        """
        ...
