"""A question to one tenant: the best by words and the best by meaning, side by side, scored alike wherever they came from.

The server ranks, we score: BM25 and coverage from the words that we know of a space, so that the figures are those of the embedded
index. How near the finds of the words are in meaning is asked as soon as they are known, while the other pool, which takes longer, is
still awaited; a lean question leaves it out. Beside these goes one more: what was written since we last looked?
"""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence, Set
from dataclasses import dataclass
from operator import itemgetter
from time import monotonic
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from weaviate.classes.query import Filter
from weaviate.collections import CollectionAsync

from hindwise.index.base import Candidate, Vector
from hindwise.index.weaviate_asking import Asking, Hit
from hindwise.index.weaviate_names import MARKER_ID
from hindwise.index.weaviate_schema import vector_name
from hindwise.index.weaviate_words import SpaceWords, Weights, WordsCache, Written

S = TypeVar("S")
T = TypeVar("T")

_SLACK = 14
_LEAST = 40
"""k and some more are asked for, at least so many: the server's figures and ours may differ at the edge, and of equal ones the lower ids
stay."""
_LEAN_SLACK = 4
_ALL_NEAR = 150
"""Of a space up to this size a lean question asks how near each is: it takes hardly longer, and then nothing is left out."""
_PAGE = 1_000
_CHANGES = 200
"""More than this since the last question, and all is counted anew."""
_FRESH_S = 0.25
"""A lean question takes the statistics as they were so long ago; what it finds is of now."""
_COUNT_AT_ONCE = 500
"""Spaces up to this size are counted anew before the answer, larger ones after it."""
_COUNT_EVERY_S = 30.0
_COUNT_WAIT_S = 0.4
"""How long a first question waits for the counts; a very large space is answered by the server's own scores meanwhile."""
_ALL = ["memory_id", "lex", "rev"]
_BY_ID = itemgetter(0)


class Asked(NamedTuple):
    """What is looked for. `vector`: of length 1; `kinds`: empty = any; `k`: per pool; `lean`: leave out what
    costs a question more and the asker can do without: cosines of what only words found, and the very last writes in the statistics."""

    tokens: Sequence[str]
    vector: Vector | None
    kinds: frozenset[str]
    k: int
    lean: bool = False


@dataclass(slots=True)
class _Pools:
    """What the server found: by words and by meaning, and the cosines of what the words found."""

    by_words: list[Hit]
    by_meaning: list[Hit]
    cosines: dict[int, float]

    def found(self) -> dict[int, None]:
        return {hit.key: None for hit in (*self.by_words, *self.by_meaning)}


class Searcher:
    """Asks, and keeps the counts of words. dim: length of the vectors, 0 = none; cache_bytes: for the counts."""

    def __init__(self, dim: int, cache_bytes: int) -> None:
        self._asking = Asking(vector_name(dim) if dim else "")
        self._cache = WordsCache(cache_bytes)
        self._counting: dict[str, asyncio.Task[SpaceWords]] = {}
        self._counted_at: dict[str, float] = {}

    def forget(self, tenant: str) -> None:
        """The space is gone."""
        self._cache.forget(tenant)
        self._counted_at.pop(tenant, None)

    def forget_all(self) -> None:
        """All spaces are gone."""
        self._cache.clear()
        self._counted_at.clear()

    async def counted(self) -> None:
        """Wait until nothing is being counted."""
        while self._counting:
            await asyncio.wait(self._counting.values())

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
            return await self._provisional(here, asked._replace(lean=False))
        # In this order they are sent: meaning takes longest, and needs no weights.
        for_meaning = self._by_meaning(here, asked, words.docs if asked.lean and words.docs <= _ALL_NEAR else 0)
        for_words = self._weighed_by_words(here, words, asked)
        changed: list[Written] = []
        if asked.lean and monotonic() - words.looked_at < _FRESH_S:
            by_meaning, (weights, by_words, cosines) = await _both(for_meaning, for_words)
        else:
            by_meaning, (weights, by_words, cosines), changed = await asyncio.gather(for_meaning, for_words, self._changes(here, words))
        if changed:
            words = await self._learnt(here, tenant, words, changed)
            searched, weights = weights.searched, Weights(words, asked.tokens)
            if set(weights.searched) != set(searched):
                weights, by_words, cosines = await self._weighed_by_words(here, words, asked)
        pools = _Pools(by_words, by_meaning, cosines)
        if unknown := await _unknown(here, words, pools):
            words.learn(unknown)
            weights = Weights(words, asked.tokens)
        return _scored(pools, words, weights, asked)

    async def _provisional(self, here: CollectionAsync[Any, Any], asked: Asked) -> list[Candidate]:
        """While a space is still being counted: the server's scores, and rarity as it is among what was found."""
        terms = tuple(dict.fromkeys(asked.tokens))
        (by_words, cosines), by_meaning = await asyncio.gather(self._by_words(here, terms, asked), self._by_meaning(here, asked))
        pools, words = _Pools(by_words, by_meaning, cosines), SpaceWords()
        words.learn(await _unknown(here, words, pools))
        return _scored(pools, words, Weights(words, asked.tokens), asked, {hit.key: hit.score for hit in by_words})

    async def _learnt(self, here: CollectionAsync[Any, Any], tenant: str, words: SpaceWords, changed: Sequence[Written]) -> SpaceWords:
        if len(changed) < _CHANGES and words.learn(changed):
            return words
        return await self._count_again(here, tenant, words)

    async def _weighed_by_words(
        self, here: CollectionAsync[Any, Any], words: SpaceWords, asked: Asked
    ) -> tuple[Weights, list[Hit], dict[int, float]]:
        """As `_by_words`, and done with what can be done while the other pool is still awaited."""
        weights = Weights(words, asked.tokens)
        hits, cosines = await self._by_words(here, weights.searched, asked)
        if asked.lean:
            for hit in hits:
                if (document := words.documents.get(hit.key)) is not None:
                    weights.bm25(hit.key, document)
        return weights, hits, cosines

    async def _by_words(self, here: CollectionAsync[Any, Any], terms: Sequence[str], asked: Asked) -> tuple[list[Hit], dict[int, float]]:
        """The best by words and some more, and the cosine of each, by key."""
        if not terms:
            return [], {}  # the server refuses an empty question
        hits = await self._asking.by_words(here, terms, asked.kinds, _limit(asked))
        if not hits or asked.vector is None or asked.lean:
            return hits, {}
        these = Filter.by_id().contains_any([hit.object_id for hit in hits])
        return hits, {hit.key: hit.score for hit in await self._asking.near(here, asked.vector, these, len(hits))}

    async def _by_meaning(self, here: CollectionAsync[Any, Any], asked: Asked, least: int = 0) -> list[Hit]:
        if asked.vector is None:
            return []
        return await self._asking.by_meaning(here, asked.vector, asked.kinds, max(least, _limit(asked)))

    async def _changes(self, here: CollectionAsync[Any, Any], words: SpaceWords) -> list[Written]:
        """What was written since, oldest first; cut at _CHANGES."""
        words.looked_at = monotonic()
        found = await here.query.fetch_objects(
            filters=Filter.by_property("rev").greater_than(words.since), limit=_CHANGES, return_properties=_ALL
        )
        return sorted((_written(one) for one in found.objects), key=lambda one: one.rev)

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
                words = SpaceWords.of([_written(one) async for one in pages(here, _ALL)])
                self._cache.put(tenant, words)
                if words.docs > _COUNT_AT_ONCE:
                    self._counted_at[tenant] = monotonic()
                return words
            finally:
                del self._counting[tenant]

        task = asyncio.create_task(count(), name="weaviate-count")
        # Who waits sees the error; where nobody does, the next question tries again.
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._counting[tenant] = task
        return task


async def _both(longer: Coroutine[Any, Any, S], shorter: Coroutine[Any, Any, T]) -> tuple[S, T]:
    """Await both, begun side by side. The longer one needs no task: its answer comes without a turn of the event loop.

    Raises what either raises; of the shorter one only when the longer one has ended.
    """
    task = asyncio.create_task(shorter, name="weaviate-words")
    try:
        return await longer, await task
    finally:
        if not task.done():
            task.cancel()
        elif not task.cancelled():
            task.exception()  # the longer one failed first: of this one nobody wants to know


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


async def _unknown(here: CollectionAsync[Any, Any], words: SpaceWords, pools: _Pools) -> list[Written]:
    """Read what was found and is not known yet: rarely anything, it was written between two questions that ran side by side."""
    ids = [UUID(int=key) for key in pools.found() if key not in words.documents]
    if not ids:
        return []
    found = await here.query.fetch_objects_by_ids(ids, limit=len(ids), return_properties=_ALL)
    return sorted((_written(one) for one in found.objects), key=lambda one: one.rev)


def _scored(pools: _Pools, words: SpaceWords, weights: Weights, asked: Asked, scores: Mapping[int, float] | None = None) -> list[Candidate]:
    """The union of the k best of each pool, ordered by id. scores: BM25 by key where it is not ours."""
    documents = words.documents
    lexical: dict[int, float] = {}
    for key, _ in pools.by_words:
        if (document := documents.get(key)) is not None and (score := weights.bm25(key, document)) > 0:
            lexical[key] = scores.get(key, score) if scores else score
    meaning = {key: cosine for key, cosine in pools.by_meaning if key in documents}
    by_words, by_meaning = _best(lexical, words, asked.k), _best(meaning, words, asked.k)
    cosines = {**pools.cosines, **meaning} if pools.cosines else meaning
    make = tuple.__new__  # as `Candidate._make` has it, without the call
    found = [
        make(
            Candidate,
            (
                documents[key].memory_id,
                lexical[key] if key in by_words else 0.0,
                cosines.get(key),
                0.0 if asked.lean else weights.coverage(documents[key]),
            ),
        )
        for key in by_words | by_meaning
    ]
    found.sort(key=_BY_ID)
    return found


def _best(scores: Mapping[int, float], words: SpaceWords, k: int) -> Set[int]:
    if len(scores) <= k:
        return scores.keys()
    # By score, and where it is equal at the edge by id.
    edge = sorted(scores.values(), reverse=True)[k - 1]
    above = {key for key, score in scores.items() if score > edge}
    equal = [key for key, score in scores.items() if score == edge]
    if len(above) + len(equal) > k:
        equal = sorted(equal, key=lambda key: words.documents[key].memory_id)[: k - len(above)]
    return above.union(equal)


def _limit(asked: Asked) -> int:
    return asked.k + _LEAN_SLACK if asked.lean else max(_LEAST, asked.k + _SLACK)


def _written(one: Any) -> Written:
    properties = one.properties
    is_marker = str(one.uuid) == MARKER_ID
    return Written(one.uuid.int, "" if is_marker else properties["memory_id"], properties["lex"] or "", int(properties["rev"]))
