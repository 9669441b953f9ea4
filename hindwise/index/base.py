"""The interface of an index. An index is a projection: it may lag or hold what is stale, and can be rebuilt from the ledger."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from hindwise.errors import DimensionMismatch, InvalidInput

Vector = npt.NDArray[np.float32]
"""float32 [dim]. A question's has length 1; an item's is in the numbers in which vectors are kept (`embed.precision`), near it."""


def check_vector(vector: Vector | None, dim: int) -> None:
    """Pass None and float32 [dim]. Raises DimensionMismatch for another length, InvalidInput for numbers that are not finite."""
    if vector is None:
        return
    if vector.shape != (dim,):
        raise DimensionMismatch(
            f"a vector of shape {vector.shape} for an index of {dim} numbers: restart, and a new index is built from the ledger"
        )
    if not np.isfinite(vector).all():
        raise InvalidInput("a vector holds numbers that are not finite: the embedder is broken")


@dataclass(frozen=True, slots=True)
class IndexItem:
    """What an index keeps of a memory. `tokens`: our own, repeated by frequency; `vector`: None where the embedder is `none`.

    `conclusion` and `retrospective` (JSON) are for people who look into a server; nothing is searched in them.
    """

    memory_id: str
    space: str
    kind: str
    tokens: tuple[str, ...]
    vector: Vector | None
    recorded_at_ms: int
    conclusion: str = ""
    retrospective: str = ""


@dataclass(frozen=True, slots=True)
class Filters:
    """What a candidate must satisfy; empty means any."""

    kinds: frozenset[str] = field(default_factory=frozenset)


class Candidate(NamedTuple):
    """One find. `lexical`: BM25, 0.0 if not in the lexical pool; `cosine`: in [-1, 1], exact, None without vectors or left out.

    `coverage`: share of the query's idf weight that the document's tokens cover, 0..1.
    """

    memory_id: str
    lexical: float
    cosine: float | None
    coverage: float


class Index(Protocol):
    """Finds memories of one space at a time. All calls raise IndexUnavailable when no answer came within their limit."""

    async def upsert(self, items: Sequence[IndexItem]) -> None:
        """Write the items, replacing earlier ones of the same id; visible to the next `candidates` of any process.

        Raises DimensionMismatch when a vector's length differs from the generation's.
        """
        ...

    async def candidates(
        self, space: str, tokens: Sequence[str], vector: Vector | None, filters: Filters, *, k: int = 50
    ) -> list[Candidate]:
        """Return the union of the k best by words and the k best by meaning, ordered by id; k: 1..200 per pool.

        Query terms found in over 25 % of the space's memories are dropped unless nothing else remains. Both scores are given for
        each member of the union, whichever pool it came from, except that `lexical` is 0.0 outside the lexical pool. An unknown
        space gives []. Status is not checked here: the ledger has the last word.
        """
        ...

    async def delete(self, space: str, memory_ids: Sequence[str]) -> None:
        """Remove the ids; unknown ones are fine. Gone for the next `candidates` of any process."""
        ...

    async def drop(self, space: str) -> None:
        """Remove all of one space, and of no other."""
        ...

    async def ids(self, space: str) -> set[str]:
        """All ids of a space."""
        ...

    async def health(self) -> None:
        """Return when the index answers. Raises IndexUnavailable."""
        ...

    async def close(self) -> None:
        """Free what is held. Idempotent."""
        ...


@runtime_checkable
class WholeIndex(Protocol):
    """What an index offers besides when it is lost as a whole or not at all: one file."""

    async def is_empty(self) -> bool:
        """Whether no space holds anything: a new index, to be filled from the ledger. At the same cost however much it holds."""
        ...


@runtime_checkable
class FileIndex(Protocol):
    """What an index offers besides when it is a file, which may be damaged or deleted under those who have it open."""

    async def damage(self) -> str:
        """What is wrong with it for good, in one sentence; "" for nothing that is known. Cheap: asked every second."""
        ...


@runtime_checkable
class LoggedIndex(Protocol):
    """What an index offers besides when it keeps a log beside its file, where deleted bytes stay for a while."""

    async def empty_log(self) -> bool:
        """Cut the log, so that it keeps nothing that was deleted; False where a reader at work prevents it: ask again."""
        ...


@runtime_checkable
class InProcessIndex(Protocol):
    """What an index offers besides when it lies in memory: a question that is answered on the caller's own thread."""

    def candidates_here(
        self, space: str, tokens: Sequence[str], vector: Vector | None, filters: Filters, *, k: int = 50
    ) -> list[Candidate]:
        """As `Index.candidates` within a fraction of a second, but `coverage` is 0.0.

        Raises IndexUnavailable where it would take longer: ask the other one.
        """
        ...


@runtime_checkable
class LeanIndex(Protocol):
    """What an index offers besides when each question costs a round trip: the same finds for about the price of the bare search."""

    async def candidates_lean(
        self, space: str, tokens: Sequence[str], vector: Vector | None, filters: Filters, *, k: int = 50
    ) -> list[Candidate]:
        """As `Index.candidates`, but `cosine` is None for what only the words found, and `coverage` is 0.0: who needs them computes them.

        Scores may count the words of a space as they were a quarter of a second ago.
        """
        ...


@runtime_checkable
class RememberingIndex(Protocol):
    """What an index offers besides when it keeps in this process's memory what it read of spaces."""

    async def forget(self, names: Sequence[str]) -> None:
        """Let go what is remembered of spaces that were erased, by whatever process. names: theirs on a server (`weaviate_names`).

        What is still there is read anew when it is asked for. Raises IndexUnavailable.
        """
        ...


@runtime_checkable
class RestingIndex(Protocol):
    """What an index offers besides when a space that nobody uses costs memory on its server."""

    async def rest(self, spaces: Sequence[str]) -> set[str]:
        """Put spaces to rest; return those that are at rest now. They keep what they hold.

        The next question there raises IndexUnavailable and wakes the space; a write wakes it and goes on. Raises IndexUnavailable.
        """
        ...


@runtime_checkable
class SpaceServer(Protocol):
    """What an index offers besides when it keeps each space apart on a server, where one may be lost and the others not."""

    async def without_anything(self, spaces: Sequence[str]) -> set[str]:
        """Return those that hold nothing; one at rest is taken at its word. Raises IndexUnavailable."""
        ...
