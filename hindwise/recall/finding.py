"""What the index finds for a question: asked on the ledger thread where it lies in this process, else from the event loop.

An index on a server leaves out how near the finds of the words are in meaning, and names them as soon as it knows them: their vectors
are read from the ledger while the server still searches by meaning, and with them which items stand whatever is asked.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter

from sqlalchemy import Connection

from hindwise.embed.base import Vector
from hindwise.engine import Engine
from hindwise.errors import DimensionMismatch, IndexUnavailable
from hindwise.index.base import Candidate, Filters, InProcessIndex, LeanIndex
from hindwise.index.live import LiveIndex
from hindwise.index.projection import index_space
from hindwise.ledger import embeddings
from hindwise.model.brief import RecallQuery
from hindwise.recall import queries
from hindwise.recall.candidates import cosine_of
from hindwise.recall.fusion import fuse
from hindwise.recall.queries import Survey
from hindwise.recall.question import Question

_SPARE_FINDS = 20
"""Of each pool and space so many more than are wanted are looked for: more than are read (`choosing`), so that it is known whether there
are others. On 1,287 questions in both languages more of them found what is asked for no more often (`bench.recall_quality`)."""
_DEEP = 100
"""Finds per pool and space where something else than the question keeps memories out."""
_INDEX_LIMIT_S = 1.5
_SPARE_S = 0.5
"""An index keeps its own limit; this one is for an index that does not."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A query on its way. `vector`: None where there is no embedder, or none that answers (`embedder_down`)."""

    tenant_id: str
    query: RecallQuery
    question: Question
    vector: Vector | None
    embedder_down: bool

    @property
    def filters(self) -> Filters:
        """What the index shall leave out."""
        return Filters(frozenset(str(kind) for kind in self.query.kinds))


@dataclass(frozen=True, slots=True)
class Finds:
    """What the index says, of the spaces of a survey. `down`: it did not answer for each of them."""

    survey: Survey
    lists: Sequence[Sequence[Candidate]]
    """By space; empty where it is down."""
    down: bool
    survey_ms: float
    ms: float
    per_pool: int = 0
    """So many were asked for."""
    stands: Sequence[str] | None = None
    """Ids of the standing items, where they were read while the index was asked."""

    @property
    def are_all(self) -> bool:
        """Whether as many were asked for as ever are."""
        return self.per_pool >= _DEEP


def depths(query: RecallQuery) -> tuple[int, ...]:
    """How many finds per pool and space to ask for, at first, and where these do not do. The index knows no topics."""
    return (_DEEP,) if query.topics else (query.limit + _SPARE_FINDS, _DEEP)


class Finder:
    """Asks the index of an engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._here = engine.index if isinstance(engine.index, InProcessIndex) else None
        self._lean = engine.index if isinstance(engine.index, LeanIndex) else None
        self._live = engine.index if isinstance(engine.index, LiveIndex) else None

    @property
    def is_elsewhere(self) -> bool:
        """Whether the index lies in another process, as far as is known before it is asked."""
        return self._here is None if self._live is None else self._live.is_elsewhere

    def here(self, asked: Asked, survey: Survey, survey_ms: float, per_pool: int) -> Finds | None:
        """What an index in this process says, on the caller's thread; None where it has to be asked otherwise."""
        if survey.behind:
            return Finds(survey, (), True, survey_ms, 0.0)
        if self._here is None:
            return None
        at = perf_counter()
        ask = partial(self._here.candidates_here, k=per_pool)
        try:
            lists = [ask(index_space(asked.tenant_id, name), asked.question.tokens, asked.vector, asked.filters) for name in survey.numbers]
        except (IndexUnavailable, DimensionMismatch):
            return None
        return Finds(survey, lists, False, survey_ms, ms_since(at), per_pool)

    async def find(self, asked: Asked, survey: Survey, survey_ms: float, per_pool: int) -> Finds:
        """Ask the index about each space that exists, side by side. Raises LedgerUnavailable."""
        if survey.behind:
            return Finds(survey, (), True, survey_ms, 0.0)
        at = perf_counter()
        beside = _Beside(self._engine, list(survey.numbers.values()), asked.vector)
        ask = self._engine.index.candidates if self._lean is None else partial(self._lean.candidates_lean, early=beside.read)
        calls = [
            ask(index_space(asked.tenant_id, name), asked.question.tokens, asked.vector, asked.filters, k=per_pool)
            for name in survey.numbers
        ]
        try:
            async with asyncio.timeout(max(_INDEX_LIMIT_S, self._engine.settings.index_timeout_s + _SPARE_S)):
                # A single one needs no task of its own.
                lists = [await calls[0]] if len(calls) == 1 else await asyncio.gather(*calls)
            await beside.done()
        except (TimeoutError, IndexUnavailable, DimensionMismatch):
            # A mismatch means that another embedder is being moved to: until the index is rebuilt, the ledger answers.
            await beside.give_up()
            return Finds(survey, (), True, survey_ms, ms_since(at))
        except BaseException:
            await beside.give_up()
            raise
        return Finds(survey, beside.filled(lists), False, survey_ms, ms_since(at), per_pool, beside.stands)


class _Beside:
    """What is read from the ledger while the index is still at work: how near memories are to the question, by the ledger's vectors."""

    def __init__(self, engine: Engine, numbers: Sequence[int], vector: Vector | None) -> None:
        self._ledger, self._model = engine.ledger, engine.embedder.model
        self._numbers, self._vector = numbers, vector
        self._asked: set[str] = set()
        self._tasks: list[asyncio.Task[None]] = []
        self._over = False
        self._cosines: dict[str, float | None] = {}
        self.stands: list[str] | None = None
        """Standing items, read on the same way."""

    def read(self, memory_ids: Iterable[str]) -> None:
        """Begin with these; at once back. On the event loop."""
        new = [memory_id for memory_id in memory_ids if memory_id not in self._asked]
        if self._vector is not None and new and not self._over:
            self._asked.update(new)
            work = partial(self._read, new, not self._tasks)
            self._tasks.append(asyncio.create_task(self._ledger.read(work), name="recall-beside"))

    def _read(self, memory_ids: Sequence[str], is_first: bool, conn: Connection) -> None:
        vectors = embeddings.of_memories(conn, self._numbers, self._model, memory_ids)
        self._cosines |= {memory_id: cosine_of(vector, self._vector) for memory_id, vector in vectors.items()}
        if is_first:
            self.stands = queries.standing_ids(conn, self._numbers)

    async def done(self) -> None:
        """Wait until all is read. Raises LedgerUnavailable."""
        for task in self._tasks:
            await task

    def filled(self, lists: Sequence[Sequence[Candidate]]) -> Sequence[Sequence[Candidate]]:
        """The lists with what they left out, where the ledger knew it."""
        if not self._tasks:
            return lists
        known = self._cosines
        return [[_with_cosine(one, known) if one.cosine is None else one for one in found] for found in lists]

    async def give_up(self) -> None:
        """Nobody needs it any more."""
        self._over = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _with_cosine(one: Candidate, known: Mapping[str, float | None]) -> Candidate:
    return Candidate(one.memory_id, one.lexical, known.get(one.memory_id), one.coverage)


def best_of(lists: Sequence[Sequence[Candidate]], keep: int) -> dict[str, Candidate]:
    """The best of each space's finds, so many of each."""
    return {candidate.memory_id: candidate for found in lists for candidate in _best(found, keep)}


def _best(found: Sequence[Candidate], keep: int) -> Sequence[Candidate]:
    """The best of a space's union: two pools that agree have fewer, and the ends of two that do not are no answer."""
    if len(found) <= keep:
        return found
    fused = fuse([candidate.lexical for candidate in found], [candidate.cosine for candidate in found])
    # They come in order of id, which decides between equal ones.
    order = sorted(range(len(found)), key=fused.__getitem__, reverse=True)
    return [found[at] for at in order[:keep]]


def ms_since(at: float) -> float:
    """Milliseconds since an instant of `perf_counter`."""
    return round((perf_counter() - at) * 1000, 3)
