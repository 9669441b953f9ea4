"""Making the index agree with the ledger: lease a space, re-read what is dirty, apply, take off the marks it took.

While a new generation is being built, a change goes to it and to the live one. Which there are is read with the lease, and again when
marks are taken off: a mark that did not reach a generation which began meanwhile stays.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from weakref import WeakValueDictionary

from sqlalchemy import Connection, Row

from hindwise.clock import Clock
from hindwise.embed.base import Embedder
from hindwise.embed.precision import kept_passages
from hindwise.errors import IndexUnavailable, SpaceErased
from hindwise.index.base import Index, IndexItem
from hindwise.index.copies import copies, empty_logs
from hindwise.index.document import Document, document_of
from hindwise.index.live import LiveIndex, Target
from hindwise.ledger import embeddings, generations, memories, outbox, spaces
from hindwise.ledger.engine import Ledger
from hindwise.ledger.generations import WRITTEN, Generation, State
from hindwise.ledger.outbox import Lease
from hindwise.model.memory import LIVE, Memory, Retrospective

LEASE_S = 30.0


def index_space(tenant_id: str, space: str) -> str:
    """The name of a space in an index: tenants never share one."""
    return f"{tenant_id}/{space}"


_PAGE = 200
_LONE = Generation(0, "", "", 0, 0, str(State.LIVE), holes=False)
"""Stands for an index that is given directly."""


@dataclass(frozen=True, slots=True)
class _Taken:
    """A leased space with a page of what is dirty there: (memory id, mark), and the rows as they are now.

    `stuck`: erased ones that a generation kept from before could not be told of; their marks stay.
    """

    lease: Lease
    marks: list[tuple[str, int]]
    rows: list[Row[Any]]
    stuck: frozenset[str] = frozenset()

    @property
    def space(self) -> str:
        """Its name in an index."""
        return index_space(self.lease.tenant_id, self.lease.space)

    @property
    def erased(self) -> list[str]:
        """Ids that the ledger does not know any more."""
        return sorted({memory_id for memory_id, _ in self.marks} - {row.id for row in self.rows})


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

    async def some_spaces(self, space_nos: Sequence[int], also: Callable[[Connection], object] | None = None) -> list[int | None]:
        """Bring a few spaces up to date as one: what `one_space` returns for each, in order. Raises the same.

        also: done in the transaction that leases them.
        """
        # In order of number, as every transaction locks spaces: two that bring the same ones up to date never wait for each other.
        order = sorted(set(space_nos))
        applied = dict(zip(order, await self._together(order, also), strict=True))
        return [applied[number] for number in space_nos]

    async def _together(self, wanted: Sequence[int | None], also: Callable[[Connection], object] | None = None) -> list[int | None]:
        async with AsyncExitStack() as stack:
            for number in sorted({number for number in wanted if number is not None}):
                await stack.enter_async_context(self._busy.setdefault(number, asyncio.Lock()))
            now = self._clock.now()
            # Counted from before the lease was taken: its holder must not believe in it for longer than everybody else.
            end = asyncio.get_running_loop().time() + LEASE_S - 5
            rows, taken = await self._ledger.write(lambda conn: self._take_all(conn, wanted, now, also))
            applied: Counter[int] = Counter()
            stuck = 0
            held = [one for one in taken if one]
            try:
                async with asyncio.timeout_at(end):
                    while held:
                        tried = await self._apply(held, rows)
                        stuck = max(stuck, *(len(one.stuck) for one in tried))
                        applied.update({one.lease.space_no: len(one.marks) for one in tried})
                        rows, held = await self._finish(tried, rows)
            finally:
                if held:
                    await self._ledger.write(lambda conn: self._give_back(conn, held))
        if stuck:
            raise IndexUnavailable(
                f"{stuck} erased memories wait to be taken out of an index that serves no longer and does not answer: "
                "start it again, or remove it with `hindwise reindex --drop-old` (and --gone where it will never answer)"
            )
        return [applied[one.lease.space_no] if one else None for one in taken]

    async def _finish(self, held: Sequence[_Taken], rows: Sequence[Generation]) -> tuple[Sequence[Generation], list[_Taken]]:
        try:
            return await self._ledger.write(lambda conn: self._done(conn, held, rows))
        except SpaceErased:
            # Of a space that was erased the index must keep nothing; the marks of the others bring back theirs.
            for one in held:
                await self._index.delete(one.space, [memory_id for memory_id, _ in one.marks])
            raise

    def _give_back(self, conn: Connection, held: Sequence[_Taken]) -> None:
        for one in held:
            outbox.release_space(conn, one.lease, self._holder)

    def _take_all(
        self, conn: Connection, wanted: Sequence[int | None], now: datetime, also: Callable[[Connection], object] | None
    ) -> tuple[Sequence[Generation], list[_Taken | None]]:
        if also is not None:
            also(conn)
        rows = generations.kept(conn)
        if isinstance(self._index, LiveIndex) and not self._index.may_write(rows):
            return rows, [None] * len(wanted)
        return rows, [self._take(conn, number, now) for number in wanted]

    def _take(self, conn: Connection, space_no: int | None, now: datetime) -> _Taken | None:
        lease = outbox.lease_space(conn, self._holder, now, LEASE_S, space_no=space_no)
        return self._page(conn, lease) if lease else None

    @staticmethod
    def _page(conn: Connection, lease: Lease, stuck: frozenset[str] = frozenset()) -> _Taken:
        marks = [found for found in outbox.dirty(conn, lease.space_no, _PAGE + len(stuck)) if found[0] not in stuck]
        rows = memories.rows_by_ids(conn, [lease.space_no], [memory_id for memory_id, _ in marks]) if marks else []
        return _Taken(lease, marks, rows, stuck)

    def _done(self, conn: Connection, done: Sequence[_Taken], seen: Sequence[Generation]) -> tuple[Sequence[Generation], list[_Taken]]:
        """Take off the marks that were applied; give back the spaces where no other came, and return the rest with their next page.

        Where a generation began after `seen` was read, all marks stay for one more round, which reaches it too.
        """
        for one in done:
            spaces.check_epoch(conn, one.lease.space_no, one.lease.epoch)
        rows = generations.kept(conn)
        if {one.no for one in generations.written(rows)} - {one.no for one in generations.written(seen)}:
            return rows, [self._page(conn, one.lease) for one in done]
        following = []
        for one in done:
            applied = [found for found in one.marks if found[0] not in one.stuck]
            outbox.done(conn, one.lease.space_no, applied)
            rest = self._page(conn, one.lease, one.stuck)
            now, up_to = self._clock.now(), max((mark for _, mark in applied), default=0)
            if not rest.marks and up_to:
                outbox.release_space_at(conn, one.lease, self._holder, up_to, now)
                continue
            if up_to:
                spaces.set_index_no(conn, one.lease.space_no, up_to, now)
            if rest.marks:
                following.append(rest)
            else:
                outbox.release_space(conn, one.lease, self._holder)
        return rows, following

    async def _apply(self, taken: Sequence[_Taken], rows: Sequence[Generation]) -> list[_Taken]:
        """Write to every generation that gets changes. Returns what was taken, with what could not be erased everywhere as `stuck`."""
        items: list[IndexItem] = []
        gone: dict[str, list[str]] = {}
        for one in taken:
            live = [memory for row in one.rows if (memory := memories.from_row(row)).status in LIVE]
            items += await self.items(one.lease, live) if live else []
            if dead := sorted({memory_id for memory_id, _ in one.marks} - {memory.id for memory in live}):
                gone[one.space] = dead
        for target in await self._targets(rows):
            await self._write(target, items, gone)
        told = [await self._forgotten(one, rows) for one in taken]
        if any(one.erased for one in taken):
            with suppress(IndexUnavailable):  # then the log is cut by a later erasure, or by the last process that closes
                await empty_logs(await copies(self._ledger, self._index))
        return told

    async def _targets(self, rows: Sequence[Generation]) -> list[Target]:
        if isinstance(self._index, LiveIndex):
            return await self._index.targets(rows)
        return [Target(_LONE, self._index, vectors=True, whole=True)]

    async def _write(self, target: Target, items: Sequence[IndexItem], gone: Mapping[str, Sequence[str]]) -> None:
        if items and not target.whole and not target.generation.holes:
            # Before the write: also who dies right after it leaves no doubt that something is missing there.
            await self._ledger.write(lambda conn: generations.set_holes(conn, target.generation.no))
        try:
            if items:
                await target.index.upsert(items if target.vectors else [replace(item, vector=None) for item in items])
            for space, ids in gone.items():
                await target.index.delete(space, ids)
        except IndexUnavailable:
            if target.generation.state != State.DRAINING:
                raise

    async def _forgotten(self, one: _Taken, rows: Sequence[Generation]) -> _Taken:
        """Take what was erased out of the generations that are kept from before, where they answer."""
        if not (erased := one.erased) or not isinstance(self._index, LiveIndex):
            return one
        stuck = one.stuck
        for generation in rows:
            if generation.state not in WRITTEN:
                try:
                    await (await self._index.opened(generation)).delete(one.space, erased)
                except IndexUnavailable:
                    stuck = stuck | set(erased)
        return replace(one, stuck=stuck)

    async def items(self, lease: Lease, live: Sequence[Memory]) -> list[IndexItem]:
        """Return the index items of live memories, embedding what the ledger has no vector of. Raises as `embed_documents`."""
        documents = {memory.id: document_of(memory) for memory in live}
        texts = {document.text_hash: document.text for document in documents.values()}
        vectors = await embed_documents(self._ledger, self._embedder, lease.space_no, lease.epoch, texts)
        return [item_of(memory, documents[memory.id], vectors.get(documents[memory.id].text_hash)) for memory in live]


def item_of(memory: Memory, document: Document, vector: embeddings.Vector | None) -> IndexItem:
    """What an index keeps of a memory."""
    return IndexItem(
        memory_id=memory.id,
        space=index_space(memory.tenant_id, memory.space),
        kind=str(memory.kind),
        tokens=document.tokens,
        vector=vector,
        recorded_at_ms=int(memory.recorded_at.timestamp() * 1000),
        conclusion=memory.conclusion,
        retrospective=_as_json(memory.retrospective),
    )


def _as_json(retrospective: Retrospective) -> str:
    """Return its parts; "" where nothing was told."""
    return "" if retrospective.is_empty() else retrospective.model_dump_json(exclude_defaults=True)


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
        computed = await kept_passages(embedder, [texts[text_hash] for text_hash in missing])
        fresh = {text_hash: vector for text_hash, vector in zip(missing, computed, strict=True) if vector is not None}

        def keep(conn: Connection) -> None:
            spaces.check_epoch(conn, space_no, epoch)
            embeddings.store(conn, space_no, embedder.model, fresh)

        await ledger.write(keep)
        vectors |= fresh
    return vectors
