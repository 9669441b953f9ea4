"""The index on Weaviate: a collection per generation, a tenant per space. Open it with `open_weaviate`.

What a caller has to know: a space that nobody asked for long is INACTIVE; the question that finds it so raises IndexUnavailable, which
degrades one answer, and wakes it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import httpx2
import structlog

from hindwise.errors import HindwiseError, IndexUnavailable
from hindwise.index import weaviate_schema
from hindwise.index.base import Candidate, Filters, IndexItem, Vector, check_vector
from hindwise.index.weaviate_client import CLIENT_ERRORS, Address, Client, Trouble, trouble_of
from hindwise.index.weaviate_connection import Connection, TenantMissing, TenantResting
from hindwise.index.weaviate_names import collection_name, tenant_name
from hindwise.index.weaviate_search import Asked, Searcher, pages
from hindwise.index.weaviate_tenants import Tenants
from hindwise.index.weaviate_writes import WRITE_LIMIT_S, Writer

MAX_K = 200
_OPEN_LIMIT_S = 5.0
_LIST_LIMIT_S = 60.0
_HEALTH_LIMIT_S = 1.5
_ASK_AGAIN_S = 5.0
_NO_COLLECTION = "class not found"
_SPACES_AT_ONCE = 4

T = TypeVar("T")
BeforeMaking = Callable[[], Awaitable[None]]

_log = structlog.get_logger(__name__)


class _CollectionMissing(IndexUnavailable):
    """The server is there, and has not got what this index is."""


async def open_weaviate(
    address: Address,
    *,
    generation: int,
    dim: int,
    secret: bytes,
    question_s: float,
    cache_mb: int,
    before_making: BeforeMaking | None = None,
) -> "WeaviateIndex":
    """Open the index of one generation, making its collection where it is missing.

    dim: length of its vectors, 0 = words alone; secret: keys the names of collection and tenants; question_s: how long `candidates` may
    take; cache_mb: for words; before_making: called before the collection is made, here or later where the server comes back without it;
    what it raises keeps it from being made. Raises that; IndexUnavailable where the server is away, InvalidInput for an address that is
    none and where the key is refused, DimensionMismatch where the collection holds vectors of another length.
    """
    index = WeaviateIndex(
        address, generation=generation, dim=dim, secret=secret, question_s=question_s, cache_mb=cache_mb, before_making=before_making
    )
    try:
        await index.open()
    except BaseException:
        await index.close()
        raise
    return index


async def remove_generation(address: Address, generation: int, secret: bytes) -> None:
    """Remove the collection of one generation with all it holds; one that is gone already is fine.

    Raises IndexUnavailable where the server is away, InvalidInput as `open_weaviate`.
    """
    name = collection_name(generation, secret)

    async def nothing(_: Client) -> None:
        """No collection is wanted."""

    connection = _connection_to(address, nothing)
    try:
        await connection.open(_OPEN_LIMIT_S)
        await connection.call(lambda client: client.collections.delete(name), _LIST_LIMIT_S)
    finally:
        await connection.close()


async def check_access(address: Address, generation: int, secret: bytes) -> None:
    """Return where the server lets us ask for the collection of one generation, through both ports; nothing is made there.

    Raises as `remove_generation`.
    """
    name = collection_name(generation, secret)  # a key may be for names like this one alone

    async def ask(client: Client) -> None:
        await client.collections.exists(name)
        try:
            async with asyncio.timeout(_HEALTH_LIMIT_S):
                await client.collections.use(name).tenants.get_by_names(["s_nobody"])
        except (TimeoutError, *CLIENT_ERRORS) as error:
            if trouble_of(error) is Trouble.REFUSED:
                raise
            if _NO_COLLECTION not in str(error).lower():  # which is an answer
                raise IndexUnavailable(f"Weaviate answers at {address.url}, but not at WEAVIATE_GRPC_URL={address.grpc_url}") from None

    connection = _connection_to(address, ask)
    try:
        await connection.open(_OPEN_LIMIT_S)
    finally:
        await connection.close()


def _connection_to(address: Address, prepare: Callable[[Client], Awaitable[None]]) -> Connection:
    return Connection(address, prepare=prepare, knock=prepare, query_s=WRITE_LIMIT_S, insert_s=WRITE_LIMIT_S)


class WeaviateIndex:
    """Implements `Index` on one collection."""

    def __init__(
        self,
        address: Address,
        *,
        generation: int,
        dim: int,
        secret: bytes,
        question_s: float,
        cache_mb: int,
        before_making: BeforeMaking | None = None,
    ) -> None:
        self.collection = collection_name(generation, secret)
        self._dim, self._secret, self._question_s = dim, secret, question_s
        self._before_making = before_making
        self._may_make = before_making is None
        self._opened = False
        self._asking: asyncio.Task[None] | None = None
        # The server is told to give up a little later than we do: what it says in time is an answer.
        self._connection = Connection(
            address, prepare=self._prepare, knock=self._knock, query_s=max(WRITE_LIMIT_S, question_s), insert_s=WRITE_LIMIT_S
        )
        self._tenants = Tenants(self._connection, self.collection)
        self._searcher = Searcher(dim, cache_mb * 1024 * 1024)
        self._writer = Writer(self._connection, self._tenants, dim)

    async def open(self) -> None:
        """Try to connect; see `open_weaviate`."""
        try:
            await self._connection.open(_OPEN_LIMIT_S)
        except _CollectionMissing:
            await self._ask()
            await self._connection.open(_OPEN_LIMIT_S)
        self._opened = True

    async def upsert(self, items: Sequence[IndexItem]) -> None:
        """Write the items, replacing earlier ones of the same space and id; see `Index.upsert`."""
        for item in items:
            check_vector(item.vector, self._dim)
        by_space: dict[str, dict[str, IndexItem]] = {}
        for item in items:
            # Of an id given twice the last one counts.
            by_space.setdefault(item.space, {})[item.memory_id] = item
        turn = asyncio.Semaphore(_SPACES_AT_ONCE)

        async def write(space: str) -> None:
            async with turn:
                await self._writer.upsert(self._tenant(space), list(by_space[space].values()))

        await asyncio.gather(*(write(space) for space in by_space))

    async def candidates(
        self, space: str, tokens: Sequence[str], vector: Vector | None, filters: Filters, *, k: int = 50
    ) -> list[Candidate]:
        """Return the union of both pools of one space, ordered by id; see `Index.candidates`. k is kept within 1..200."""
        return await self._candidates(space, Asked(tokens, vector, filters.kinds, max(1, min(k, MAX_K))))

    async def candidates_lean(
        self, space: str, tokens: Sequence[str], vector: Vector | None, filters: Filters, *, k: int = 50
    ) -> list[Candidate]:
        """As `candidates`, for less; see `LeanIndex.candidates_lean`."""
        return await self._candidates(space, Asked(tokens, vector, filters.kinds, max(1, min(k, MAX_K)), lean=True))

    async def _candidates(self, space: str, asked: Asked) -> list[Candidate]:
        check_vector(asked.vector, self._dim)
        tenant = self._tenant(space)

        async def ask(client: Client) -> list[Candidate]:
            return await self._searcher.ask(self._tenants.use(client, tenant), tenant, asked)

        return await self._of_tenant(tenant, ask, self._question_s, [])

    async def delete(self, space: str, memory_ids: Sequence[str]) -> None:
        """Remove the ids from the space; unknown ones are fine."""
        if memory_ids:
            await self._writer.delete(self._tenant(space), list(dict.fromkeys(memory_ids)))

    async def drop(self, space: str) -> None:
        """Remove all of one space, its files too, and of no other."""
        tenant = self._tenant(space)
        async with self._writer.lock(tenant):
            await self._connection.call(lambda client: self._tenants.remove(client, tenant), _LIST_LIMIT_S)
        self._searcher.forget(tenant)

    async def ids(self, space: str) -> set[str]:
        """All ids of a space; one that rests is woken and read."""
        tenant = self._tenant(space)

        async def read(client: Client) -> set[str]:
            here = self._tenants.use(client, tenant)
            return {one.properties["memory_id"] async for one in pages(here, ["memory_id"])} - {""}

        try:
            return await self._of_tenant(tenant, read, _LIST_LIMIT_S, set(), wake=False)
        except TenantResting:
            await self._connection.call(lambda client: self._tenants.wake(client, tenant), WRITE_LIMIT_S)
            return await self._of_tenant(tenant, read, _LIST_LIMIT_S, set())

    async def without_anything(self, spaces: Sequence[str]) -> set[str]:
        """Those of the spaces that hold nothing; see `SpaceServer.without_anything`."""
        tenants = {self._tenant(space): space for space in spaces}

        async def look(client: Client) -> set[str]:
            states = await self._tenants.states(client, list(tenants))
            active = [name for name, active in states.items() if active]
            held = await asyncio.gather(*(self._holds(client, name) for name in active))
            return set(tenants) - set(states) | {name for name, holds in zip(active, held, strict=True) if not holds}

        try:
            return {tenants[name] for name in await self._connection.call(look, WRITE_LIMIT_S)} if tenants else set()
        except (TenantMissing, TenantResting):
            return set()  # one was erased, or put to rest, in this moment: somebody is at work there

    async def rest(self, spaces: Sequence[str]) -> set[str]:
        """Set these spaces INACTIVE; see `RestingIndex.rest`."""
        tenants = {self._tenant(space): space for space in spaces}
        resting = await self._connection.call(lambda client: self._tenants.rest(client, list(tenants)), WRITE_LIMIT_S)
        return {tenants[name] for name in resting}

    async def forget(self, names: Sequence[str]) -> None:
        """Let go the words of these tenants; see `RememberingIndex.forget`. Of one that was made again they are counted anew."""
        for tenant in names:
            self._searcher.forget(tenant)

    async def health(self) -> None:
        """Return when the server answers through gRPC. Raises IndexUnavailable."""
        await self._connection.call(self._knock, _HEALTH_LIMIT_S)

    async def close(self) -> None:
        """Close the client. Idempotent."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.gather(self._asking, return_exceptions=True)
        await self._searcher.close()
        await self._tenants.close()
        await self._connection.close()

    async def _of_tenant(self, tenant: str, work: Callable[[Client], Awaitable[T]], limit_s: float, nothing: T, *, wake: bool = True) -> T:
        """Read from a tenant; `nothing` where there is none. wake=False: raises TenantResting instead of waking it for the next one."""
        try:
            found = await self._connection.call(work, limit_s)
        except TenantMissing:
            # A server that starts again may say so of what it has not read yet.
            if self._tenants.is_known(tenant) and not await self._is_ready():
                raise IndexUnavailable("Weaviate is starting") from None
            self._tenants.forget(tenant)
            self._searcher.forget(tenant)
            return nothing
        except TenantResting:
            if not wake:
                raise
            self._tenants.wake_soon(tenant)
            raise IndexUnavailable("the space was at rest and is being woken") from None
        self._tenants.note(tenant)
        return found

    async def _is_ready(self) -> bool:
        try:
            return await self._connection.says_ready()
        except httpx2.HTTPError:
            return False

    async def _holds(self, client: Client, tenant: str) -> bool:
        # Two: one may be the marker.
        found = await self._tenants.use(client, tenant).query.fetch_objects(limit=2, return_properties=["memory_id"])
        return any(one.properties["memory_id"] for one in found.objects)

    async def _prepare(self, client: Client) -> None:
        """An empty collection would answer that nothing is known: it is made only after what that needs."""
        if await weaviate_schema.is_there(client, self.collection, self._dim):
            return
        if not self._may_make:
            if self._opened and (self._asking is None or self._asking.done()):
                self._asking = asyncio.create_task(self._ask_later(), name="weaviate-ask")
            raise _CollectionMissing("Weaviate does not have this index: it is filled again from the ledger")
        await weaviate_schema.create(client, self.collection, self._dim)
        self._may_make = self._before_making is None
        self._tenants.forget_all()
        self._searcher.forget_all()

    async def _ask(self) -> None:
        if self._before_making is not None:
            await self._before_making()
        self._may_make = True

    async def _ask_later(self) -> None:
        _log.error("index_missing", collection=self.collection)
        try:
            await self._ask()
        except HindwiseError as error:
            _log.error("index_not_made", cause=error.type, detail=error.detail)
            await asyncio.sleep(_ASK_AGAIN_S)

    async def _knock(self, client: Client) -> None:
        await client.collections.use(self.collection).tenants.get_by_names(["s_nobody"])

    def _tenant(self, space: str) -> str:
        return tenant_name(self._secret, space)
