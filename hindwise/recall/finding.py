"""What the index finds for a question: asked on the ledger thread where it lies in this process, else from the event loop.

An index on a server leaves out how near the finds of the words are in meaning: not nearer, that is known, than the farthest that was
found by meaning, unless it has no vector yet. It counts as so near while the best are picked, in either index; of those that are read the
ledger tells it.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter

from hindwise.embed.base import Vector
from hindwise.engine import Engine
from hindwise.errors import DimensionMismatch, IndexUnavailable
from hindwise.index.base import Candidate, Filters, InProcessIndex, LeanIndex
from hindwise.index.live import LiveIndex
from hindwise.index.projection import index_space
from hindwise.model.brief import RecallQuery
from hindwise.recall.ahead import Ahead, Begun
from hindwise.recall.fusion import fuse
from hindwise.recall.question import Question
from hindwise.recall.survey import Survey

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
        self._ahead = Ahead()

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

    def knows(self, tenant_id: str, question: Question) -> bool:
        """Whether the index can be asked about all spaces of a question before any survey."""
        return self._ahead.knows(tenant_id, question.spaces)

    def begin(self, asked: Asked, survey: "asyncio.Task[tuple[Survey, float]] | None", per_pool: int) -> Begun:
        """Ask the index where the survey is under way, or still to come, and need not be waited for. `drop` what was begun in the end."""
        names = () if survey is not None and survey.done() else asked.question.spaces
        return self._ahead.begin(asked.tenant_id, names, partial(self._ask, asked, per_pool))

    def note(self, asked: Asked, survey: Survey) -> None:
        """The survey has ended: next time the index may be asked before it does."""
        self._ahead.note(asked.tenant_id, survey)

    async def find(self, asked: Asked, survey: Survey, survey_ms: float, per_pool: int, begun: Begun | None = None) -> Finds:
        """Ask the index about each space that exists, side by side. begun: what was asked already."""
        if survey.behind:
            return Finds(survey, (), True, survey_ms, 0.0)
        at = perf_counter()
        calls = [(begun and begun.answer(name, mark)) or self._ask(asked, per_pool, name) for name, mark in survey.marks.items()]
        try:
            async with asyncio.timeout(max(_INDEX_LIMIT_S, self._engine.settings.index_timeout_s + _SPARE_S)):
                # A single one needs no task of its own.
                lists = [await calls[0]] if len(calls) == 1 else await asyncio.gather(*calls)
        except (TimeoutError, IndexUnavailable, DimensionMismatch):
            # A mismatch means that another embedder is being moved to: until the index is rebuilt, the ledger answers.
            return Finds(survey, (), True, survey_ms, ms_since(at))
        return Finds(survey, lists, False, survey_ms, ms_since(at), per_pool)

    async def _ask(self, asked: Asked, per_pool: int, name: str) -> list[Candidate]:
        ask = self._engine.index.candidates if self._lean is None else self._lean.candidates_lean
        return await ask(index_space(asked.tenant_id, name), asked.question.tokens, asked.vector, asked.filters, k=per_pool)


def best_of(lists: Sequence[Sequence[Candidate]], keep: int, per_pool: int) -> dict[str, Candidate]:
    """The best of each space's finds, so many of each."""
    return {candidate.memory_id: candidate for found in lists for candidate in _best(found, keep, per_pool)}


def _best(found: Sequence[Candidate], keep: int, per_pool: int) -> Sequence[Candidate]:
    """The best of a space's union: two pools that agree have fewer, and the ends of two that do not are no answer."""
    if len(found) <= keep:
        return found
    cosines = [candidate.cosine for candidate in found]
    known = sorted([cosine for cosine in cosines if cosine is not None], reverse=True)
    farthest = known[min(per_pool, len(known)) - 1] if known else 0.0
    fused = fuse(
        [candidate.lexical for candidate in found],
        [farthest if cosine is None or cosine < farthest else cosine for cosine in cosines] if known else cosines,
    )
    # They come in order of id, which decides between equal ones.
    order = sorted(range(len(found)), key=fused.__getitem__, reverse=True)
    return [found[at] for at in order[:keep]]


def ms_since(at: float) -> float:
    """Milliseconds since an instant of `perf_counter`."""
    return round((perf_counter() - at) * 1000, 3)
