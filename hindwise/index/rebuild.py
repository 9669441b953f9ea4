"""Filling a new generation from the ledger beside the live one, and holding it against the ledger before it serves.

A space is filled under the lease that the projection takes too, so neither writes over what the other one just wrote. Whatever changes
after its page was read has an outbox mark, and marks reach a generation from the moment it is being built.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from time import perf_counter
from typing import Final

from sqlalchemy import Connection

from hindwise.clock import Clock
from hindwise.embed.base import Embedder
from hindwise.embed.precision import kept_passages
from hindwise.errors import IndexUnavailable, ModelUnavailable, NotFound, SpaceErased
from hindwise.index.base import Index
from hindwise.index.document import Document, document_of
from hindwise.index.live import LiveIndex
from hindwise.index.projection import LEASE_S, index_space, item_of
from hindwise.ledger import embeddings, generations, outbox, rebuild, upkeep, whole_index
from hindwise.ledger.engine import Ledger
from hindwise.ledger.generations import Build, Generation, Spec, State
from hindwise.ledger.outbox import Lease
from hindwise.ledger.rebuild import Page, Portion

PAGE: Final = 64
"""Memories of one page: the lease must outlast embedding all of them."""
_WAIT_S: Final = 40.0
"""For a space that somebody else holds: longer than a lease whose holder died."""
_AGAIN_S: Final = 0.1
_ANSWER_S: Final = 15.0


@dataclass(frozen=True, slots=True)
class Filled:
    """What one page did. `end`: everything is filled; `gone`: it is no longer being built."""

    written: int
    end: bool = False
    gone: bool = False


@dataclass(frozen=True, slots=True)
class Checked:
    """Spaces held against the ledger. `missing`: memories that the new index lacks; `removed`: what it held too much, taken out."""

    spaces: int
    memories: int
    missing: int
    removed: int
    cursor: int
    end: bool


class Rebuild:
    """Works on one generation at a time. Any number of processes may; the leases keep them apart."""

    def __init__(self, ledger: Ledger, index: LiveIndex, embedder: Embedder, spec: Spec, clock: Clock, holder: str) -> None:
        """spec: what this process makes vectors and words with; holder: names this process in leases."""
        self._ledger, self._index, self._embedder, self._spec, self._clock = ledger, index, embedder, spec, clock
        self._holder = f"{holder}-fill"

    async def begin(self, number: int) -> Build:
        """Begin a wanted generation with this process's embedder, or go on with one.

        Raises NotFound, ModelUnavailable, IndexUnavailable.
        """
        build = await self._ledger.read(lambda conn: generations.build_of(conn, number))
        if build.generation.model:
            self._must_fit(build.generation)
        build = await self._ledger.write(lambda conn: generations.begin(conn, number, self._spec))
        if build.generation.state == State.BUILDING:
            self._must_fit(build.generation)
            await self._index.opened(build.generation)
        return build

    def _must_fit(self, generation: Generation) -> None:
        """Another worker may fit, so this is tried again."""
        if generation.spec != self._spec:
            raise ModelUnavailable(
                f"generation {generation.no} is made with {generation.spec}; this worker has {self._spec}: "
                "give all workers the same settings and release"
            )

    async def fill(self, number: int) -> Filled:
        """Write the next page into a generation that is being built.

        Raises IndexUnavailable, ModelUnavailable, ModelRefused, LedgerUnavailable; the page is then done again by the next call.
        """
        generation = (await self._ledger.read(lambda conn: generations.build_of(conn, number))).generation
        if generation.state != State.BUILDING:
            return Filled(0, gone=True)
        self._must_fit(generation)
        index = await self._index.opened(generation)
        page, end = await self._next(number)
        if page is None:
            return Filled(0, gone=True)
        held = list(page.portions)
        try:
            async with asyncio.timeout_at(end):
                documents = {memory.id: document_of(memory) for one in held for memory in one.memories}
                await self._write(index, held, documents)
                erased = await self._ledger.write(lambda conn: self._done(conn, number, page, documents))
                # Under the lease still: who erases a space waits for it, and looks for what is left afterwards.
                for one in held:
                    if one.lease.space_no in erased:
                        await index.delete(_space(one.lease), [memory.id for memory in one.memories])
        except TimeoutError as error:
            raise IndexUnavailable("a page was not written before its lease ended: the index or the embedder is slow") from error
        finally:
            if held:
                await self._ledger.write(lambda conn: self._release(conn, [one.lease for one in held]))
        return Filled(sum(len(one.memories) for one in held), end=page.end)

    async def _next(self, number: int) -> tuple[Page | None, float]:
        """The next page, waiting for a space that somebody else holds, and until when it is ours (loop time).

        Raises IndexUnavailable where that takes too long.
        """
        loop = asyncio.get_running_loop()
        give_up = loop.time() + _WAIT_S
        while True:
            now, end = self._clock.now(), loop.time() + LEASE_S - 5
            page = await self._ledger.write(partial(self._take, number=number, now=now))
            if page is None or page.portions or not page.busy:
                return page, end
            if loop.time() > give_up:
                raise IndexUnavailable("a space was held by another process all the time; it is tried again")
            await asyncio.sleep(_AGAIN_S)

    def _take(self, conn: Connection, number: int, now: datetime) -> Page | None:
        return rebuild.take_page(conn, number, self._holder, now, LEASE_S, PAGE)

    def _lease(self, conn: Connection, space_no: int, now: datetime) -> Lease | None:
        lease = outbox.lease_named(conn, self._holder, now, LEASE_S, space_no)
        if lease is None and not outbox.is_known(conn, space_no):
            raise SpaceErased("the space was erased while it was waited for")
        return lease

    async def _write(self, index: Index, held: Sequence[Portion], documents: dict[str, Document]) -> None:
        vectors = await self._vectors(held, documents)
        items = [
            item_of(memory, documents[memory.id], vectors.get((one.lease.space_no, documents[memory.id].text_hash)))
            for one in held
            for memory in one.memories
        ]
        if items:
            await index.upsert(items)

    async def _vectors(self, held: Sequence[Portion], documents: dict[str, Document]) -> dict[tuple[int, str], embeddings.Vector]:
        """By space number and text hash: those that the ledger has, the others computed and kept. {} without an embedder."""
        model = self._embedder.model
        if not self._embedder.dim or not held:
            return {}
        numbers = [one.lease.space_no for one in held]
        hashes = sorted({document.text_hash for document in documents.values()})
        known = await self._ledger.read(lambda conn: embeddings.load(conn, numbers, model, hashes))
        missing = {
            (one.lease.space_no, documents[memory.id].text_hash): documents[memory.id].text for one in held for memory in one.memories
        }
        missing = {key: text for key, text in missing.items() if key not in known}
        if missing:
            computed = await kept_passages(self._embedder, list(missing.values()))
            fresh = {key: vector for key, vector in zip(missing, computed, strict=True) if vector is not None}
            await self._ledger.write(lambda conn: self._keep(conn, held, fresh))
            known |= fresh
        return known

    def _keep(self, conn: Connection, held: Sequence[Portion], fresh: dict[tuple[int, str], embeddings.Vector]) -> None:
        erased = rebuild.erased_of(conn, [one.lease for one in held])
        for number in sorted({number for number, _ in fresh} - erased):
            embeddings.store(conn, number, self._embedder.model, {key: vector for (no, key), vector in fresh.items() if no == number})

    def _done(self, conn: Connection, number: int, page: Page, documents: dict[str, Document]) -> set[int]:
        """Note how far it came; return the numbers of spaces that were erased meanwhile."""
        erased = rebuild.erased_of(conn, [one.lease for one in page.portions])
        kept = [memory for one in page.portions if one.lease.space_no not in erased for memory in one.memories]
        if kept:
            rebuild.keep_words(
                conn, {memory.id: (" ".join(documents[memory.id].tokens), documents[memory.id].text_hash) for memory in kept}
            )
        generations.progress(conn, number, space_no=page.space_no, memory_id=page.memory_id, added=len(kept))
        return erased

    def _release(self, conn: Connection, leases: Sequence[Lease]) -> None:
        for lease in leases:
            outbox.release_space(conn, lease, self._holder)

    # ---- before it serves -----------------------------------------------------------------------------------------------

    async def check(self, number: int, cursor: int, spaces: int) -> Checked:
        """Hold at most `spaces` spaces with numbers above `cursor` against the ledger, id by id.

        Raises IndexUnavailable; NotFound where it was given up: it gets no changes any more, and opening it would make it again.
        """
        generation = (await self._ledger.read(lambda conn: generations.build_of(conn, number))).generation
        if generation.state != State.BUILDING:
            raise NotFound(f"generation {number} is not being built any more")
        index = await self._index.opened(generation)
        found = await self._ledger.read(lambda conn: upkeep.spaces_after(conn, cursor, spaces))
        memories = missing = removed = 0
        for space_no, tenant_id, name in found:
            live, lacks, extra = await self._differs(index, space_no, index_space(tenant_id, name))
            if lacks or extra:
                # What was written between the two looks is no difference: under the lease nothing is.
                try:
                    async with self._leased(space_no):
                        live, lacks, extra = await self._differs(index, space_no, index_space(tenant_id, name))
                        if extra:
                            await index.delete(index_space(tenant_id, name), sorted(extra))
                except SpaceErased:
                    continue  # and taken out here by whoever erased it
            memories, missing, removed = memories + live, missing + len(lacks), removed + len(extra)
        return Checked(len(found), memories, missing, removed, found[-1][0] if found else cursor, end=len(found) < spaces)

    async def _differs(self, index: Index, space_no: int, space: str) -> tuple[int, set[str], set[str]]:
        """How many memories are live there, which of them the index lacks, and what it holds too much."""
        async with asyncio.timeout(_ANSWER_S):
            indexed = await index.ids(space)
        wanted = await self._ledger.read(lambda conn: rebuild.wanted(conn, space_no))
        return len(wanted.live), wanted.live - indexed - wanted.waiting, indexed - wanted.live - wanted.waiting

    @asynccontextmanager
    async def _leased(self, space_no: int) -> AsyncIterator[None]:
        """Hold a space. Raises SpaceErased where there is none any more, IndexUnavailable where somebody else never ends with it."""
        end = perf_counter() + _WAIT_S
        while (lease := await self._ledger.write(partial(self._lease, space_no=space_no, now=self._clock.now()))) is None:
            if perf_counter() > end:
                raise IndexUnavailable("a space was held by another process all the time; it is tried again")
            await asyncio.sleep(_AGAIN_S)
        try:
            yield
        finally:
            await self._ledger.write(lambda conn: self._release(conn, [lease]))


def _space(lease: Lease) -> str:
    return index_space(lease.tenant_id, lease.space)


async def request_where_needed(ledger: Ledger, spec: Spec, now: datetime) -> Generation | None:
    """Ask for a new generation where the live one was made with another embedder or tokeniser, or has holes; return what is asked for."""

    def look(conn: Connection) -> Generation | None:
        live = generations.live_of(generations.kept(conn))
        if live is None or (live.spec == spec and not live.holes) or not whole_index.has_memories(conn):
            return None
        for build in generations.open_builds(conn):
            # Wherever it will lie, it is made with this embedder: another one beside it would be refused, and is not needed.
            if not build.generation.model or build.generation.spec == spec:
                return build.generation
        return generations.request(conn, live.kind, now, spec)

    return await ledger.write(look)
