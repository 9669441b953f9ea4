"""Making the index agree with the ledger: lease a space, re-read what is dirty, apply, take off the marks it took."""

import asyncio
from collections.abc import Sequence

from sqlalchemy import Connection

from hindwise.clock import Clock
from hindwise.embed.base import Embedder
from hindwise.index.base import Index, IndexItem
from hindwise.index.document import document_of
from hindwise.ledger import embeddings, memories, outbox, spaces
from hindwise.ledger.engine import Ledger
from hindwise.ledger.outbox import Lease
from hindwise.model.memory import LIVE, Memory

LEASE_S = 30.0


def index_space(tenant_id: str, space: str) -> str:
    """The name of a space in an index: tenants never share one."""
    return f"{tenant_id}/{space}"


_PAGE = 200


class Projection:
    """Brings spaces up to date, one lease at a time. `holder` names this process; any number may run side by side."""

    def __init__(self, ledger: Ledger, index: Index, embedder: Embedder, clock: Clock, holder: str) -> None:
        self._ledger, self._index, self._embedder, self._clock, self._holder = ledger, index, embedder, clock, holder

    async def one_space(self, space_no: int | None = None) -> int | None:
        """Bring the space with the oldest mark (or the named one) up to date.

        Returns how many memories were applied; None when there was nothing to lease. Raises IndexUnavailable,
        ModelUnavailable, LedgerUnavailable; the marks stay, so a later call does the rest.
        """
        now = self._clock.now()
        lease = await self._ledger.write(lambda conn: outbox.lease_space(conn, self._holder, now, LEASE_S, space_no=space_no))
        if lease is None:
            return None
        try:
            async with asyncio.timeout(LEASE_S - 5):
                return await self._bring_up_to_date(lease)
        finally:
            await self._ledger.write(lambda conn: outbox.release_space(conn, lease, self._holder))

    async def _bring_up_to_date(self, lease: Lease) -> int:
        applied = 0
        while True:
            taken = await self._ledger.read(lambda conn: outbox.dirty(conn, lease.space_no, _PAGE))
            if not taken:
                break
            await self._apply(lease, [memory_id for memory_id, _ in taken])
            await self._ledger.write(lambda conn, taken=taken: self._taken(conn, lease, taken))  # type: ignore[misc]
            applied += len(taken)
        return applied

    @staticmethod
    def _taken(conn: Connection, lease: Lease, taken: Sequence[tuple[str, int]]) -> None:
        outbox.done(conn, lease.space_no, taken)
        spaces.set_index_no(conn, lease.space_no, max(mark for _, mark in taken))

    async def _apply(self, lease: Lease, ids: Sequence[str]) -> None:
        found = await self._ledger.read(lambda conn: [memories.from_row(row) for row in memories.rows_by_ids(conn, [lease.space_no], ids)])
        live = [memory for memory in found if memory.status in LIVE]
        gone = sorted(set(ids) - {memory.id for memory in live})
        if live:
            await self._index.upsert(await self.items(lease.space_no, live))
        if gone:
            await self._index.delete(index_space(lease.tenant_id, lease.space), gone)

    async def items(self, space_no: int, live: Sequence[Memory]) -> list[IndexItem]:
        """Return the index items of live memories, embedding what the ledger has no vector of."""
        documents = {memory.id: document_of(memory) for memory in live}
        vectors = await embed_documents(
            self._ledger, self._embedder, space_no, {document.text_hash: document.text for document in documents.values()}
        )
        return [
            IndexItem(
                memory_id=memory.id,
                space=index_space(memory.tenant_id, memory.space),
                kind=str(memory.kind),
                tokens=documents[memory.id].tokens,
                vector=vectors.get(documents[memory.id].text_hash),
                recorded_at_ms=int(memory.recorded_at.timestamp() * 1000),
            )
            for memory in live
        ]


async def embed_documents(ledger: Ledger, embedder: Embedder, space_no: int, texts: dict[str, str]) -> dict[str, embeddings.Vector]:
    """Return vectors by text hash from the ledger, computing and keeping the missing ones; {} with embedder `none`.

    Raises ModelUnavailable, ModelRefused.
    """
    if not embedder.dim:
        return {}
    known = await ledger.read(lambda conn: embeddings.load(conn, [space_no], embedder.model, list(texts)))
    vectors = {text_hash: vector for (_, text_hash), vector in known.items()}
    missing = [text_hash for text_hash in texts if text_hash not in vectors]
    if missing:
        computed = await embedder.passages([texts[text_hash] for text_hash in missing])
        fresh = {text_hash: vector for text_hash, vector in zip(missing, computed, strict=True) if vector is not None}
        await ledger.write(lambda conn: embeddings.store(conn, space_no, embedder.model, fresh))
        vectors |= fresh
    return vectors
