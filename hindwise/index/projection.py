"""Making the index agree with the ledger: lease a space, re-read what is dirty, apply, take off the marks it took."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from weakref import WeakValueDictionary

from sqlalchemy import Connection, Row

from hindwise.clock import Clock
from hindwise.embed.base import Embedder
from hindwise.errors import SpaceErased
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


@dataclass(frozen=True, slots=True)
class _Taken:
    """A leased space with a page of what is dirty there: (memory id, mark), and the rows as they are now."""

    lease: Lease
    marks: list[tuple[str, int]]
    rows: list[Row[Any]]


class Projection:
    """Brings spaces up to date, one lease at a time. `holder` names this process; any number may run side by side."""

    def __init__(self, ledger: Ledger, index: Index, embedder: Embedder, clock: Clock, holder: str) -> None:
        self._ledger, self._index, self._embedder, self._clock, self._holder = ledger, index, embedder, clock, holder
        # A lease keeps other processes out. Within this one, who comes second waits and mostly finds that all is done.
        self._busy: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()

    async def one_space(self, space_no: int | None = None) -> int | None:
        """Bring the space with the oldest mark (or the named one) up to date.

        Returns how many memories were applied; None when there was nothing to lease. Raises IndexUnavailable,
        ModelUnavailable, LedgerUnavailable; the marks stay, so a later call does the rest. Raises SpaceErased where the space was
        erased meanwhile: what was applied is taken out of the index again.
        """
        return (await self._together([space_no]))[0]

    async def some_spaces(self, space_nos: Sequence[int]) -> list[int | None]:
        """Bring a few spaces up to date as one: what `one_space` returns for each, in order. Raises the same."""
        return await self._together(space_nos)

    async def _together(self, wanted: Sequence[int | None]) -> list[int | None]:
        async with AsyncExitStack() as stack:
            for number in sorted({number for number in wanted if number is not None}):
                await stack.enter_async_context(self._busy.setdefault(number, asyncio.Lock()))
            now = self._clock.now()
            taken = await self._ledger.write(lambda conn: [self._take(conn, number, now) for number in wanted])
            applied: Counter[int] = Counter()
            held = [one for one in taken if one]
            try:
                async with asyncio.timeout(LEASE_S - 5):
                    while held:
                        await self._apply(held)
                        applied.update({one.lease.space_no: len(one.marks) for one in held})
                        held = await self._finish(held)
            finally:
                if held:
                    await self._ledger.write(lambda conn: self._give_back(conn, held))
        return [applied[one.lease.space_no] if one else None for one in taken]

    async def _finish(self, held: Sequence[_Taken]) -> list[_Taken]:
        try:
            return await self._ledger.write(lambda conn: self._done(conn, held))
        except SpaceErased:
            # Of a space that was erased the index must keep nothing; the marks of the others bring back theirs.
            for one in held:
                await self._index.delete(index_space(one.lease.tenant_id, one.lease.space), [memory_id for memory_id, _ in one.marks])
            raise

    def _give_back(self, conn: Connection, held: Sequence[_Taken]) -> None:
        for one in held:
            outbox.release_space(conn, one.lease, self._holder)

    def _take(self, conn: Connection, space_no: int | None, now: datetime) -> _Taken | None:
        lease = outbox.lease_space(conn, self._holder, now, LEASE_S, space_no=space_no)
        return self._page(conn, lease) if lease else None

    @staticmethod
    def _page(conn: Connection, lease: Lease) -> _Taken:
        marks = outbox.dirty(conn, lease.space_no, _PAGE)
        return _Taken(lease, marks, memories.rows_by_ids(conn, [lease.space_no], [memory_id for memory_id, _ in marks]) if marks else [])

    def _done(self, conn: Connection, done: Sequence[_Taken]) -> list[_Taken]:
        """Take off the marks that were applied; give back the spaces where no other came, and return the rest with their next page."""
        following = []
        for one in done:
            spaces.check_epoch(conn, one.lease.space_no, one.lease.epoch)
            if one.marks:
                outbox.done(conn, one.lease.space_no, one.marks)
                spaces.set_index_no(conn, one.lease.space_no, max(mark for _, mark in one.marks))
            rest = self._page(conn, one.lease)
            if rest.marks:
                following.append(rest)
            else:
                outbox.release_space(conn, one.lease, self._holder)
        return following

    async def _apply(self, taken: Sequence[_Taken]) -> None:
        items: list[IndexItem] = []
        gone: dict[str, list[str]] = {}
        for one in taken:
            live = [memory for row in one.rows if (memory := memories.from_row(row)).status in LIVE]
            items += await self.items(one.lease, live) if live else []
            if dead := sorted({memory_id for memory_id, _ in one.marks} - {memory.id for memory in live}):
                gone[index_space(one.lease.tenant_id, one.lease.space)] = dead
        if items:
            await self._index.upsert(items)
        for space, ids in gone.items():
            await self._index.delete(space, ids)

    async def items(self, lease: Lease, live: Sequence[Memory]) -> list[IndexItem]:
        """Return the index items of live memories, embedding what the ledger has no vector of. Raises as `embed_documents`."""
        documents = {memory.id: document_of(memory) for memory in live}
        texts = {document.text_hash: document.text for document in documents.values()}
        vectors = await embed_documents(self._ledger, self._embedder, lease.space_no, lease.epoch, texts)
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


async def embed_documents(
    ledger: Ledger, embedder: Embedder, space_no: int, epoch: int, texts: dict[str, str]
) -> dict[str, embeddings.Vector]:
    """Return vectors by text hash from the ledger, computing and keeping the missing ones; {} with embedder `none`.

    epoch: the space's, when the texts were read. Raises SpaceErased where it differs by the time there is something to keep;
    ModelUnavailable, ModelRefused.
    """
    if not embedder.dim:
        return {}
    known = await ledger.read(lambda conn: embeddings.load(conn, [space_no], embedder.model, list(texts)))
    vectors = {text_hash: vector for (_, text_hash), vector in known.items()}
    missing = [text_hash for text_hash in texts if text_hash not in vectors]
    if missing:
        computed = await embedder.passages([texts[text_hash] for text_hash in missing])
        fresh = {text_hash: vector for text_hash, vector in zip(missing, computed, strict=True) if vector is not None}

        def keep(conn: Connection) -> None:
            spaces.check_epoch(conn, space_no, epoch)
            embeddings.store(conn, space_no, embedder.model, fresh)

        await ledger.write(keep)
        vectors |= fresh
    return vectors
