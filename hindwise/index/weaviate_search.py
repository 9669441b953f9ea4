"""A question to one tenant: the best by words and the best by meaning, side by side, scored alike wherever they came from.

The server ranks, we score: BM25 and coverage from the tokens it sends along and our own counts, cosines from its distances and, for what
only the words found, from the vectors it sends along. So the figures are those of the embedded index, and nothing is asked a second
time. Beside the two goes a third question: what was written since these counts were made?
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from weaviate.classes.query import Filter, MetadataQuery
from weaviate.collections import CollectionAsync

from hindwise.index.base import Candidate, Vector
from hindwise.index.weaviate_names import MARKER_ID
from hindwise.index.weaviate_schema import vector_name
from hindwise.index.weaviate_words import SpaceWords, Weights, WordsCache, Written

_SLACK = 14
"""Asked for beyond k: the server's figures and ours may differ at the edge, and of equal ones the lower ids stay."""
_WIDER = 5
"""So many times more where a tie goes on beyond that."""
_MOST = 5_000
_PAGE = 1_000
_CHANGES = 200
"""More than this since the last question, and all is counted anew."""
_COUNT_AT_ONCE = 500
"""Spaces up to this size are counted anew before the answer, larger ones after it."""
_COUNT_EVERY_S = 30.0
_COUNT_WAIT_S = 0.4
"""How long a first question waits for the counts; a very large space is answered by the server's own scores meanwhile."""
_DECIMALS = 6
_LEX = ["memory_id", "lex"]
_CHANGED = ["memory_id", "lex", "rev"]
_SCORE = MetadataQuery(score=True)
_DISTANCE = MetadataQuery(distance=True)
_MEMORIES = Filter.by_property("is_memory").equal(True)
"""Given where no kind is: the server compares with every vector that a filter leaves, without one it walks a graph and may miss some."""


class Asked(NamedTuple):
    """What is looked for. `vector`: of length 1; `kinds`: empty = any; `k`: per pool."""

    tokens: Sequence[str]
    vector: Vector | None
    kinds: frozenset[str]
    k: int


class _Hit(NamedTuple):
    memory_id: str
    lex: list[str]
    score: float
    """BM25, or cosine."""
    vector: Sequence[float] | None


class Searcher:
    """Asks, and keeps the counts of words. dim: length of the vectors, 0 = none; cache_bytes: for the counts."""

    def __init__(self, dim: int, cache_bytes: int) -> None:
        self._name = vector_name(dim) if dim else ""
        self._cache = WordsCache(cache_bytes)
        self._counting: dict[str, asyncio.Task[SpaceWords]] = {}
        self._counted_at: dict[str, float] = {}

    def forget(self, tenant: str) -> None:
        """The space is gone."""
        self._cache.forget(tenant)

    async def close(self) -> None:
        """End what is being counted."""
        tasks = list(self._counting.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._cache.clear()

    async def ask(self, here: CollectionAsync[Any, Any], tenant: str, asked: Asked) -> list[Candidate]:
        """Return the union of both pools, ordered by id. Raises what the client raises."""
        words = self._cache.get(tenant) or await self._first_count(here, tenant)
        if words is None:
            return await self._provisional(here, asked)
        weights = Weights(words, asked.tokens)
        by_words, by_meaning, changed = await asyncio.gather(
            self._lexical(here, weights.searched, asked), self._near(here, asked), _changes(here, words.since)
        )
        if changed and (len(changed) >= _CHANGES or not words.learn(changed)):
            words = await self._count_again(here, tenant, words)
        if changed:
            fresh = Weights(words, asked.tokens)
            if set(fresh.searched) != set(weights.searched):
                by_words = await self._lexical(here, fresh.searched, asked)
            weights = fresh
        scored = [hit._replace(score=weights.bm25(hit.lex)) for hit in by_words]
        return _union(_best([hit for hit in scored if hit.score > 0], asked.k), by_meaning, weights, asked)

    async def _provisional(self, here: CollectionAsync[Any, Any], asked: Asked) -> list[Candidate]:
        """While a space is still being counted: the server's scores, and rarity as it is among what was found."""
        by_words, by_meaning = await asyncio.gather(self._lexical(here, tuple(dict.fromkeys(asked.tokens)), asked), self._near(here, asked))
        pool = {hit.memory_id: Written(hit.memory_id, " ".join(hit.lex), 0) for hit in (*by_words, *by_meaning)}
        return _union(_best(by_words, asked.k), by_meaning, Weights(SpaceWords.of(pool.values()), asked.tokens), asked)

    async def _lexical(self, here: CollectionAsync[Any, Any], terms: Sequence[str], asked: Asked) -> list[_Hit]:
        if not terms:
            return []  # the server refuses an empty question
        query, filters = " ".join(terms), _of_kinds(asked)
        vectors = [self._name] if asked.vector is not None else False

        async def ask(limit: int) -> list[_Hit]:
            found = await here.query.bm25(
                query=query,
                query_properties=["lex"],
                limit=limit,
                filters=filters,
                include_vector=vectors,
                return_metadata=_SCORE,
                return_properties=_LEX,
            )
            return [_hit(one, one.metadata.score or 0.0, _single(one.vector.get(self._name))) for one in found.objects]

        return await _enough(ask, asked.k)

    async def _near(self, here: CollectionAsync[Any, Any], asked: Asked) -> list[_Hit]:
        if asked.vector is None:
            return []
        vector, filters = asked.vector.tolist(), _of_kinds(asked) or _MEMORIES

        async def ask(limit: int) -> list[_Hit]:
            found = await here.query.near_vector(
                vector,
                target_vector=self._name,
                limit=limit,
                filters=filters,
                return_metadata=_DISTANCE,
                return_properties=_LEX,
            )
            return [_hit(one, _cosine(1.0 - (one.metadata.distance or 0.0)), None) for one in found.objects]

        return _best(await _enough(ask, asked.k), asked.k)

    async def _first_count(self, here: CollectionAsync[Any, Any], tenant: str) -> SpaceWords | None:
        task = self._count(here, tenant)
        await asyncio.wait({task}, timeout=_COUNT_WAIT_S)
        return task.result() if task.done() else None

    async def _count_again(self, here: CollectionAsync[Any, Any], tenant: str, words: SpaceWords) -> SpaceWords:
        """The new counts, or, of a large space, the old ones while it is counted anew: now and then, one more or less tells little."""
        if words.docs <= _COUNT_AT_ONCE:
            return await asyncio.shield(self._count(here, tenant))
        if monotonic() - self._counted_at.get(tenant, 0.0) > _COUNT_EVERY_S:
            self._count(here, tenant)
        return words

    def _count(self, here: CollectionAsync[Any, Any], tenant: str) -> "asyncio.Task[SpaceWords]":
        """Count on a task that all who ask share, and that goes on when the one who began it has no more time."""
        if (running := self._counting.get(tenant)) is not None:
            return running

        async def count() -> SpaceWords:
            try:
                words = SpaceWords.of([_written(one) async for one in pages(here, _CHANGED)])
                self._cache.put(tenant, words)
                self._counted_at[tenant] = monotonic()
                return words
            finally:
                del self._counting[tenant]

        task = asyncio.create_task(count(), name="weaviate-count")
        # Who waits sees the error; where nobody does, the next question tries again.
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._counting[tenant] = task
        return task


async def pages(here: CollectionAsync[Any, Any], properties: Sequence[str]) -> Any:
    """Yield all objects of a tenant, the marker too, by pages."""
    after = None
    while True:
        found = await here.query.fetch_objects(limit=_PAGE, after=after, return_properties=list(properties))
        for one in found.objects:
            yield one
        if len(found.objects) < _PAGE:
            return
        after = found.objects[-1].uuid


async def _changes(here: CollectionAsync[Any, Any], since: int) -> list[Written]:
    """What was written after `since` (microseconds), oldest first; cut at _CHANGES."""
    found = await here.query.fetch_objects(
        filters=Filter.by_property("rev").greater_than(since), limit=_CHANGES, return_properties=_CHANGED
    )
    return sorted((_written(one) for one in found.objects), key=lambda one: one.rev)


async def _enough(ask: Callable[[int], Awaitable[list[_Hit]]], k: int) -> list[_Hit]:
    """The k best and some more, so that none is missing that is as good as the last of them."""
    limit = k + _SLACK
    while True:
        found = await ask(limit)
        tied = len(found) >= limit and abs(found[k - 1].score - found[-1].score) < 1e-6
        if not tied or limit >= _MOST:
            return found
        limit = min(_MOST, limit * _WIDER)


def _best(hits: Sequence[_Hit], k: int) -> list[_Hit]:
    return sorted(hits, key=lambda hit: (-hit.score, hit.memory_id))[:k]


def _union(by_words: Sequence[_Hit], by_meaning: Sequence[_Hit], weights: Weights, asked: Asked) -> list[Candidate]:
    words = {hit.memory_id: hit for hit in by_words}
    meaning = {hit.memory_id: hit for hit in by_meaning}
    found = {}
    for memory_id in sorted({*words, *meaning}):
        by_word = words.get(memory_id)
        near = meaning.get(memory_id)
        hit = by_word or near
        if hit is None:
            continue
        cosine = near.score if near is not None else _dot(hit.vector, asked.vector)
        found[memory_id] = Candidate(memory_id, by_word.score if by_word else 0.0, cosine, weights.coverage(hit.lex))
    return list(found.values())


def _of_kinds(asked: Asked) -> Any:
    return Filter.by_property("kind").contains_any(sorted(asked.kinds)) if asked.kinds else None


def _hit(one: Any, score: float, vector: Sequence[float] | None) -> _Hit:
    return _Hit(one.properties["memory_id"], one.properties["lex"].split(), round(score, _DECIMALS), vector)


def _single(vector: Any) -> Sequence[float] | None:
    return vector or None


def _written(one: Any) -> Written:
    properties = one.properties
    is_marker = str(one.uuid) == MARKER_ID
    return Written("" if is_marker else properties["memory_id"], properties["lex"] or "", int(properties["rev"]))


def _cosine(value: float) -> float:
    return max(-1.0, min(1.0, value))


def _dot(vector: Sequence[float] | None, question: Vector | None) -> float | None:
    if not vector or question is None:
        return None
    own = np.asarray(vector, dtype=np.float32)
    length = float(np.linalg.norm(own)) * float(np.linalg.norm(question))
    return round(_cosine(float(own @ question) / length), _DECIMALS) if length else 0.0
