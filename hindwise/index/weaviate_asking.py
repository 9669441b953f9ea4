"""The two searches of a question, asked of the server with as little work as possible: ids and scores come back, nothing else.

The client library checks each argument and makes a model of each find, which costs four times as much as the call. So the message is
written and read here, and goes the client's own way to the server: same channel, key, limits and errors. That way in is not promised by
the library. Where it is missing, or proves to be another one, the question is asked as the library's users ask, for the same answer.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, NamedTuple
from uuid import UUID

import structlog
from weaviate.classes.query import Filter, MetadataQuery
from weaviate.collections import CollectionAsync
from weaviate.proto.v1 import base_pb2, base_search_pb2, search_get_pb2

from hindwise.index.base import Vector

_DECIMALS = 6
_NONE: list[str] = []
_SCORE, _DISTANCE = MetadataQuery(score=True), MetadataQuery(distance=True)
_MEMORIES = Filter.by_property("is_memory").equal(True)
"""Given where no kind is: it keeps the marker object, which is no memory, out of the answers."""

_ID_AND_SCORE = search_get_pb2.MetadataRequest(uuid=True, score=True)
_ID_AND_DISTANCE = search_get_pb2.MetadataRequest(uuid=True, distance=True)
_NO_PROPERTIES = search_get_pb2.PropertiesRequest()
_ARE_MEMORIES = base_pb2.Filters(
    operator=base_pb2.Filters.OPERATOR_EQUAL, target=base_pb2.FilterTarget(property="is_memory"), value_boolean=True
)
_FLOATS = base_pb2.Vectors.VECTOR_TYPE_SINGLE_FP32
_ANOTHER_LIBRARY = (AttributeError, TypeError, ValueError)
"""What a library whose inside changed would raise; none of them is an answer of the server."""

_log = structlog.get_logger(__name__)


class Hit(NamedTuple):
    """One find. `key`: the object's id as a number; `score`: the server's BM25, or the cosine."""

    key: int
    score: float

    @property
    def object_id(self) -> UUID:
        """The object's id."""
        return UUID(int=self.key)


Send = Callable[[search_get_pb2.SearchRequest], Awaitable[search_get_pb2.SearchReply]]


class Asking:
    """Asks one collection. vector_name: of its vectors; bare: by messages of our own where the library lets us."""

    def __init__(self, vector_name: str, *, bare: bool = True) -> None:
        self._name = vector_name
        self.bare = bare

    async def by_words(self, here: CollectionAsync[Any, Any], terms: Iterable[str], kinds: frozenset[str], limit: int) -> list[Hit]:
        """The best by words of a tenant, of these kinds (empty: any). Raises what the client raises."""
        query = " ".join(terms)
        if (send := self._way_in(here)) is not None:
            try:
                request = _request(here, limit, _ID_AND_SCORE, _kinds_bare(kinds))
                request.bm25_search.CopyFrom(base_search_pb2.BM25(query=query, properties=["lex"]))
                reply = await send(request)
                return [Hit(int.from_bytes(one.id_as_bytes), one.score) for one in _metadata(reply)]
            except _ANOTHER_LIBRARY as error:
                self._give_up(error)
        found = await here.query.bm25(
            query=query,
            query_properties=["lex"],
            limit=limit,
            filters=_of_kinds(kinds),
            return_metadata=_SCORE,
            return_properties=_NONE,
        )
        return [Hit(one.uuid.int, one.metadata.score or 0.0) for one in found.objects]

    async def by_meaning(self, here: CollectionAsync[Any, Any], vector: Vector, kinds: frozenset[str], limit: int) -> list[Hit]:
        """The best by meaning of a tenant, of these kinds (empty: any), with their cosines. Raises what the client raises."""
        if (send := self._way_in(here)) is not None:
            try:
                request = _request(here, limit, _ID_AND_DISTANCE, _kinds_bare(kinds) or _ARE_MEMORIES)
                floats = base_pb2.Vectors(vector_bytes=vector.astype("<f4", copy=False).tobytes(), type=_FLOATS)
                targets = base_search_pb2.Targets(target_vectors=[self._name])
                request.near_vector.CopyFrom(base_search_pb2.NearVector(targets=targets, vectors=[floats]))
                reply = await send(request)
                return [Hit(int.from_bytes(one.id_as_bytes), cosine_of(one.distance)) for one in _metadata(reply)]
            except _ANOTHER_LIBRARY as error:
                self._give_up(error)
        return await self.near(here, vector, _of_kinds(kinds) or _MEMORIES, limit)

    async def near(self, here: CollectionAsync[Any, Any], vector: Vector, filters: Any, limit: int) -> list[Hit]:
        """The nearest among what a filter of the client lets through, with their cosines. Raises what the client raises."""
        found = await here.query.near_vector(
            vector.tolist(),
            target_vector=self._name,
            limit=limit,
            filters=filters,
            return_metadata=_DISTANCE,
            return_properties=_NONE,
        )
        return [Hit(one.uuid.int, cosine_of(one.metadata.distance)) for one in found.objects]

    def _way_in(self, here: CollectionAsync[Any, Any]) -> Send | None:
        """What sends a message by the client's own way, and raises what the client raises."""
        if not self.bare or here.consistency_level is not None:
            return None
        send: Send | None = getattr(getattr(here, "_connection", None), "grpc_search", None)
        return send

    def _give_up(self, error: Exception) -> None:
        self.bare = False
        _log.warning("weaviate_client_unknown", cause=type(error).__name__, next="asked the way the library promises, which takes longer")


def cosine_of(distance: float | None) -> float:
    """The cosine that a distance of the server stands for."""
    cosine = round(1.0 - (distance or 0.0), _DECIMALS)
    return cosine if -1.0 <= cosine <= 1.0 else max(-1.0, min(1.0, cosine))


def _request(here: CollectionAsync[Any, Any], limit: int, metadata: Any, filters: Any) -> search_get_pb2.SearchRequest:
    return search_get_pb2.SearchRequest(
        collection=here.name,
        tenant=here.tenant or "",
        limit=limit,
        metadata=metadata,
        properties=_NO_PROPERTIES,
        filters=filters,
        # How the server shall write its answer: as it has since these versions.
        uses_123_api=True,
        uses_125_api=True,
        uses_127_api=True,
    )


def _metadata(reply: search_get_pb2.SearchReply) -> Iterable[search_get_pb2.MetadataResult]:
    return [one.metadata for one in reply.results]


def _of_kinds(kinds: frozenset[str]) -> Any:
    return Filter.by_property("kind").contains_any(sorted(kinds)) if kinds else None


def _kinds_bare(kinds: frozenset[str]) -> base_pb2.Filters | None:
    if not kinds:
        return None
    return base_pb2.Filters(
        operator=base_pb2.Filters.OPERATOR_CONTAINS_ANY,
        target=base_pb2.FilterTarget(property="kind"),
        value_text_array=base_pb2.TextArray(values=sorted(kinds)),
    )
