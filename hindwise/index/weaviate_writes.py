"""Writing into a tenant and taking out of it: one writer of a space at a time within this process, leases see to the others."""

import asyncio
from collections.abc import Sequence
from typing import Any
from weakref import WeakValueDictionary

import structlog
from weaviate.classes.data import DataObject
from weaviate.classes.query import Filter

from hindwise.errors import IndexUnavailable
from hindwise.index.base import IndexItem
from hindwise.index.weaviate_client import Client
from hindwise.index.weaviate_connection import Connection, TenantMissing, TenantResting, Work
from hindwise.index.weaviate_names import object_id
from hindwise.index.weaviate_schema import vector_name
from hindwise.index.weaviate_tenants import Tenants, marker, next_rev

WRITE_LIMIT_S = 20.0
"""For one batch."""
_BATCH = 100
_DELETED_AT_ONCE = 1_000
"""Far below the 10,000 that the server takes out by one call."""
_ROUNDS = 20
_TRIES = 4
_PAUSE_S = 0.1

_log = structlog.get_logger(__name__)


class Writer:
    """Writes into the tenants of one collection. dim: length of the vectors, 0 = none."""

    def __init__(self, connection: Connection, tenants: Tenants, dim: int) -> None:
        self._connection, self._tenants, self._dim = connection, tenants, dim
        self._busy: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def lock(self, tenant: str) -> asyncio.Lock:
        """Held by whoever writes: `rev` must rise in the order in which writes become visible."""
        return self._busy.setdefault(tenant, asyncio.Lock())

    async def upsert(self, tenant: str, items: Sequence[IndexItem]) -> None:
        """Write the items of one space. Raises IndexUnavailable, also where the server refused but one of them."""
        async with self.lock(tenant):
            for start in range(0, len(items), _BATCH):
                await self._insistently(tenant, self._writing(tenant, items[start : start + _BATCH]))

    async def delete(self, tenant: str, memory_ids: Sequence[str]) -> None:
        """Take the ids out of one space; unknown ones, and an unknown space, are fine."""
        async with self.lock(tenant):
            try:
                for start in range(0, len(memory_ids), _DELETED_AT_ONCE):
                    await self._insistently(tenant, self._deleting(tenant, memory_ids[start : start + _DELETED_AT_ONCE]), make=False)
            except TenantMissing:
                self._tenants.forget(tenant)

    def _writing(self, tenant: str, items: Sequence[IndexItem]) -> Work[None]:
        async def write(client: Client) -> None:
            await self._tenants.make(client, tenant)
            here = self._tenants.use(client, tenant)
            rev = await next_rev(here)
            answer = await here.data.insert_many([self._object(item, rev) for item in items])
            if answer.has_errors:
                # Its text may quote what was sent.
                raise IndexUnavailable(f"Weaviate refused {len(answer.errors)} of {len(items)} memories")
            if any(item.vector is not None for item in items):
                # The server writes its log before the vectors are in it: a kill within the next two seconds would lose them, and them
                # alone. Every delete writes the log again, also one that is only tried.
                await here.data.delete_many(where=Filter.by_id().equal(object_id(items[-1].memory_id)), dry_run=True)

        return write

    def _deleting(self, tenant: str, memory_ids: Sequence[str]) -> Work[None]:
        async def delete(client: Client) -> None:
            here = self._tenants.use(client, tenant)
            these = Filter.by_id().contains_any([object_id(memory_id) for memory_id in memory_ids])
            gone = 0
            for _ in range(_ROUNDS):
                answer = await here.data.delete_many(where=these)
                gone += answer.successful
                if answer.matches == answer.successful:
                    break
            else:
                raise IndexUnavailable(f"Weaviate keeps {answer.matches} memories that shall go")
            if not gone:
                return
            left = await here.query.fetch_objects(limit=2, return_properties=["memory_id"])
            if any(one.properties["memory_id"] for one in left.objects):
                # Last: who counts anew because of it must not find them any more.
                await here.data.insert_many([marker(await next_rev(here))])
            else:
                # A tenant that holds nothing costs memory, and of an erased space not even that shall be left.
                await self._tenants.remove(client, tenant)

        return delete

    async def _insistently(self, tenant: str, work: Work[None], *, make: bool = True) -> None:
        """Run `work`; a tenant that rests is woken. make: one that is gone although it was known is made again."""
        for last in range(_TRIES):
            try:
                await self._connection.call(work, WRITE_LIMIT_S)
            except TenantMissing:
                self._tenants.forget(tenant)
                if not make:
                    raise
            except TenantResting:
                await self._connection.call(lambda client: self._tenants.wake(client, tenant), WRITE_LIMIT_S)
            else:
                return
            # In a cluster it may take a moment until every node knows of a tenant.
            await asyncio.sleep(_PAUSE_S * 2**last)
        raise IndexUnavailable("a space could not be made or woken in Weaviate")

    def _object(self, item: IndexItem, rev: int) -> "DataObject[Any, Any]":
        properties = {
            "memory_id": item.memory_id,
            "kind": item.kind,
            "lex": " ".join(item.tokens),
            "conclusion": item.conclusion,
            "retrospective": item.retrospective,
            "is_memory": True,
            "rev": rev,
            "recorded_at_ms": item.recorded_at_ms,
        }
        vector = {vector_name(self._dim): item.vector.tolist()} if item.vector is not None else None
        return DataObject(uuid=object_id(item.memory_id), properties=properties, vector=vector)
