"""One tenant per space: made before the first write, put to rest when nobody asks, woken when somebody does, removed for good."""

import asyncio
from collections.abc import Sequence
from time import time_ns
from typing import Any

import structlog
from weaviate.classes.data import DataObject
from weaviate.classes.query import Filter, Sort
from weaviate.classes.tenants import Tenant, TenantActivityStatus
from weaviate.collections import CollectionAsync

from hindwise.errors import IndexUnavailable
from hindwise.index.weaviate_client import Client
from hindwise.index.weaviate_connection import Connection, TenantMissing, TenantResting
from hindwise.index.weaviate_names import MARKER_ID

_WAKE_LIMIT_S = 30.0
_KNOWN = 50_000
"""Names that are remembered; more, and all are forgotten."""
_VIEWS = 500
"""Of tenants, likewise."""

_log = structlog.get_logger(__name__)


def marker(rev: int) -> "DataObject[Any, Any]":
    """The object that tells everybody to count a space anew. rev: microseconds."""
    properties = {"memory_id": "", "kind": "", "lex": "", "is_memory": False, "rev": rev}
    return DataObject(uuid=MARKER_ID, properties=properties)


def now_us() -> int:
    """Microseconds since 1970, for `rev`."""
    return time_ns() // 1_000


async def next_rev(here: CollectionAsync[Any, Any]) -> int:
    """A `rev` above all of a space, by whatever clock those were written; the caller is the only one who writes there.

    Whoever reads asks for what came after the newest that it knows: a write of a machine whose clock lags would not be noticed.
    """
    now = now_us()
    later = await here.query.fetch_objects(
        filters=Filter.by_property("rev").greater_or_equal(now),
        sort=Sort.by_property("rev", ascending=False),
        limit=1,
        return_properties=["rev"],
    )
    return max([now, *(int(one.properties["rev"]) + 1 for one in later.objects)])


class Tenants:
    """The tenants of one collection, as this process knows them."""

    def __init__(self, connection: Connection, collection: str) -> None:
        self._connection, self._collection = connection, collection
        self._known: set[str] = set()
        self._waking: dict[str, asyncio.Task[None]] = {}
        self._asked_through: Client | None = None
        self._views: dict[str, CollectionAsync[Any, Any]] = {}

    def use(self, client: Client, tenant: str) -> CollectionAsync:
        """The collection as one tenant sees it."""
        if self._asked_through is not client or len(self._views) >= _VIEWS:
            self._asked_through, self._views = client, {}
        # The library makes some forty objects for one: that takes as long as to read an answer.
        if (here := self._views.get(tenant)) is None:
            here = self._views[tenant] = client.collections.use(self._collection).with_tenant(tenant)
        return here

    def is_known(self, tenant: str) -> bool:
        """Whether this process has written to it, or read from it."""
        return tenant in self._known

    def note(self, tenant: str) -> None:
        """It is there."""
        if len(self._known) >= _KNOWN:
            self._known.clear()
        self._known.add(tenant)

    def forget(self, tenant: str) -> None:
        """It may be gone."""
        self._known.discard(tenant)

    def forget_all(self) -> None:
        """The collection is a new one."""
        self._known.clear()

    async def make(self, client: Client, tenant: str) -> None:
        """Make it, unless it is known; one that exists is as good."""
        if tenant in self._known:
            return
        await client.collections.use(self._collection).tenants.create([Tenant(name=tenant)])
        here = self.use(client, tenant)
        # Asked through gRPC: a HEAD request that is refused does not say why, and this tenant may be at rest.
        if not (await here.query.fetch_objects_by_ids([MARKER_ID], limit=1, return_properties=["rev"])).objects:
            await here.data.insert_many([marker(now_us())])
        self.note(tenant)

    async def wake(self, client: Client, tenant: str) -> None:
        """Activate it now."""
        await client.collections.use(self._collection).tenants.activate([tenant])

    def wake_soon(self, tenant: str) -> None:
        """Activate it in the background, once however many ask."""
        if tenant in self._waking:
            return

        async def wake() -> None:
            try:
                await self._connection.call(lambda client: self.wake(client, tenant), _WAKE_LIMIT_S)
            except IndexUnavailable as error:
                _log.warning("space_not_woken", cause=error.type)  # who asks next tries again
            except (TenantMissing, TenantResting):
                return  # erased, or put to rest again meanwhile: who asks next sees it as it is then
            finally:
                del self._waking[tenant]

        self._waking[tenant] = asyncio.create_task(wake(), name="weaviate-wake")

    async def rest(self, client: Client, tenants: Sequence[str]) -> set[str]:
        """Set those that are ACTIVE to INACTIVE; return the names of all that are there and not ACTIVE now."""
        if not tenants:
            return set()
        all_tenants = client.collections.use(self._collection).tenants
        found = await all_tenants.get_by_names(list(tenants))
        active = [name for name, tenant in found.items() if tenant.activity_status is TenantActivityStatus.ACTIVE]
        if active:
            await all_tenants.deactivate(active)
        for name in active:
            self.forget(name)
        return set(found)

    async def remove(self, client: Client, tenant: str) -> None:
        """Remove it with all its files. One that rests is woken first: removed as it is, it might stay on the disk."""
        self.forget(tenant)
        all_tenants = client.collections.use(self._collection).tenants
        found = await all_tenants.get_by_names([tenant])
        if tenant not in found:
            return
        if found[tenant].activity_status is not TenantActivityStatus.ACTIVE:
            await all_tenants.activate([tenant])
        await all_tenants.remove([tenant])

    async def states(self, client: Client, tenants: Sequence[str]) -> dict[str, bool]:
        """Of those that exist: whether each is ACTIVE, by name."""
        found = await client.collections.use(self._collection).tenants.get_by_names(list(tenants))
        return {name: tenant.activity_status is TenantActivityStatus.ACTIVE for name, tenant in found.items()}

    async def close(self) -> None:
        """End what is being woken."""
        tasks = list(self._waking.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
