"""The index that everybody asks: it stands for whichever generation is live, and changes to the next one under way.

Other processes decide that too, so the ledger's table is read again every second, and in the transaction of each lease. Nothing in
flight fails by a change: who asks the old one gets its answer, and it is closed a while later.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import structlog

from hindwise.errors import CallerError, HindwiseError, IndexRefused, IndexUnavailable
from hindwise.index.base import (
    Candidate,
    FileIndex,
    Filters,
    Index,
    IndexItem,
    InProcessIndex,
    LeanIndex,
    LoggedIndex,
    RememberingIndex,
    RestingIndex,
    Vector,
)
from hindwise.ledger.generations import Generation, Spec, State, live_of, written

RETIRE_S = 90.0
"""How long an index that serves no longer stays open: longer than any call may take."""
LOOK_EVERY_S = 1.0

_log = structlog.get_logger(__name__)

Opener = Callable[[Generation], Awaitable[Index]]
Reader = Callable[[], Awaitable[Sequence[Generation]]]
Mender = Callable[[Generation, str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Target:
    """A generation that is open. `vectors`: this process's may be compared with its own; `whole`: so may words, by the same tokeniser."""

    generation: Generation
    index: Index
    vectors: bool
    whole: bool
    here: InProcessIndex | None = None
    """The index again where it lies in memory; asked of it once, since that takes as long as a small question."""
    lean: LeanIndex | None = None
    """Likewise, where it answers for less."""


class LiveIndex:
    """Implements `Index` and `InProcessIndex` on the live generation of an installation."""

    def __init__(self, opener: Opener, reader: Reader, spec: Spec, mender: Mender | None = None) -> None:
        """opener: opens the index of a generation; reader: asks the ledger for all that is kept; spec: what this process embeds with.

        mender: lets another generation take the place of a live one that is lost, told why.
        """
        self._opener, self._reader, self._spec, self._mender = opener, reader, spec, mender
        self._rows: tuple[Generation, ...] = ()
        self._indexes: dict[int, Index] = {}
        self._live: Target | None = None
        self._was_whole = False
        self._retiring: set[asyncio.Task[None]] = set()
        self._opening = asyncio.Lock()
        self._broken: set[int] = set()
        self._ending = asyncio.Event()
        self._closed = False

    # ---- which generation -----------------------------------------------------------------------------------------------

    @property
    def generation(self) -> Generation | None:
        """The one that is asked."""
        return self._live.generation if self._live else live_of(self._rows)

    @property
    def is_elsewhere(self) -> bool:
        """Whether the live index lies in another process, or none is open: then it cannot be asked on the caller's thread."""
        return self._live is None or self._live.here is None

    @property
    def words_only(self) -> bool:
        """Whether the live generation holds vectors of another model than this process's, so that only words can be compared."""
        generation = self.generation
        return generation is not None and not _same_vectors(generation, self._spec)

    @property
    def outdated(self) -> bool:
        """Whether the installation went on to another embedder or tokeniser than this process was started with: restart it."""
        generation = self.generation
        return self._was_whole and generation is not None and generation.spec != self._spec

    @property
    def note(self) -> str:
        """What people should know of it, in one sentence; "" where all is as usual."""
        built = next((one for one in self._rows if one.state == State.BUILDING), None)
        building = f"generation {built.no} ({built.kind}) is being built" if built else ""
        if self.outdated:
            return "this process has another embedder or tokeniser than the index: restart it with the settings of the others"
        if self.words_only:
            return f"recall goes by words alone, since the index was made with another embedder; {building or 'a worker builds a new one'}"
        return building

    def may_write(self, rows: Sequence[Generation]) -> bool:
        """Whether this process can bring all of these up to date. Whose embedder is another one leaves that to those who can."""
        built = [generation for generation in rows if generation.state == State.BUILDING]
        return not self.outdated and all(generation.spec == self._spec for generation in built)

    async def refresh(self, rows: Sequence[Generation] | None = None) -> None:
        """Take over what the ledger says (asked where not given): open what is new, ask the live one, close later what served before.

        Never raises IndexUnavailable: a live index that cannot be opened is tried again by the next call, until then all calls raise it.
        """
        found = tuple(rows if rows is not None else await self._reader())
        self._rows = found
        for generation in written(found):
            # Told in the log; who needs this one meets the error again.
            with suppress(IndexUnavailable):
                await self._open(generation)
        live = live_of(found)
        if live is not None and (index := self._indexes.get(live.no)) is not None:
            if self._live is None or self._live.generation.no != live.no:
                _log.info("index_generation", generation=live.no, kind=live.kind, model=live.model)
            self._live = self._target(live, index)
            self._was_whole |= live.spec == self._spec
        elif live is not None and self._live is not None and self._live.generation.no != live.no:
            self._live = None
        self._retire({generation.no for generation in written(found)})

    def _target(self, generation: Generation, index: Index) -> Target:
        here = index if isinstance(index, InProcessIndex) else None
        lean = index if isinstance(index, LeanIndex) else None
        return Target(generation, index, _same_vectors(generation, self._spec), generation.spec == self._spec, here, lean)

    async def _open(self, generation: Generation) -> Index:
        if not self._closed and (open_now := self._indexes.get(generation.no)) is not None:
            return open_now  # not behind one that does not answer, for which the lock is held for seconds
        async with self._opening:
            if self._closed:
                raise IndexUnavailable("the index is closed")
            if (known := self._indexes.get(generation.no)) is not None:
                return known
            try:
                index = await self._opener(generation)
            except HindwiseError as error:
                if generation.no not in self._broken:
                    self._broken.add(generation.no)
                    _log.warning("index_not_opened", generation=generation.no, kind=generation.kind, cause=error.type, detail=error.detail)
                if isinstance(error, IndexUnavailable):
                    raise
                lasting = isinstance(error, CallerError)  # a setting, a key, another length: tried again it is the same
                raise (IndexRefused if lasting else IndexUnavailable)(error.detail) from error
            self._broken.discard(generation.no)
            self._indexes[generation.no] = index
            return index

    def _retire(self, needed: set[int]) -> None:
        for number in [number for number in self._indexes if number not in needed]:
            task = asyncio.get_running_loop().create_task(self._close_later(self._indexes.pop(number)))
            self._retiring.add(task)
            task.add_done_callback(self._retiring.discard)

    async def _close_later(self, index: Index) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(RETIRE_S):
                await self._ending.wait()
        await index.close()

    async def watch(self) -> None:
        """Notice within a second what other processes decided, and that the live index is lost; for ever."""
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            try:
                found = tuple(await self._reader())
                if found != self._rows or self._live is None:
                    await self.refresh(found)
                await self._mend()
            except HindwiseError:
                continue  # the ledger does not answer: then nothing is switched either
            except Exception as error:  # whoever stops looking would ask an index for ever that gets no changes any more
                _log.error("index_watch_failed", error=type(error).__name__)

    async def _mend(self) -> None:
        live = self._live
        if self._mender is None or live is None or not isinstance(live.index, FileIndex):
            return
        if why := await live.index.damage():
            await self._mender(live.generation, why)

    # ---- what writers need ----------------------------------------------------------------------------------------------

    async def targets(self, rows: Sequence[Generation]) -> list[Target]:
        """Where a change goes while these generations are kept; a build first. Raises IndexUnavailable where one cannot be opened.

        A draining one that cannot be opened is left out: nobody can be asking it.
        """
        found = []
        for generation in sorted(written(rows), key=lambda one: one.state != State.BUILDING):
            try:
                found.append(self._target(generation, await self._open(generation)))
            except IndexUnavailable:
                if generation.state != State.DRAINING:
                    raise
        return found

    async def opened(self, generation: Generation) -> Index:
        """The index of one generation; a kept one is opened for this and closed later. Raises IndexUnavailable."""
        return await self._open(generation)

    # ---- Index ----------------------------------------------------------------------------------------------------------

    def _asked(self) -> Target:
        live = self._live
        if live is None:
            raise IndexUnavailable("the live index cannot be reached: see the log, or build a new one with `hindwise reindex`")
        return live

    async def upsert(self, items: Sequence[IndexItem]) -> None:
        """As `Index.upsert`, in the live generation alone: the projection writes to all of them."""
        await self._asked().index.upsert(items)

    async def candidates(
        self, space: str, tokens: Sequence[str], vector: Vector | None, filters: Filters, *, k: int = 50
    ) -> list[Candidate]:
        """As `Index.candidates`; a vector of another model than the generation's is never compared."""
        live = self._asked()
        return await live.index.candidates(space, tokens, vector if live.vectors else None, filters, k=k)

    async def candidates_lean(
        self, space: str, tokens: Sequence[str], vector: Vector | None, filters: Filters, *, k: int = 50
    ) -> list[Candidate]:
        """As `LeanIndex.candidates_lean` where the live generation offers it, else as `candidates`."""
        live = self._asked()
        vector = vector if live.vectors else None
        if live.lean is None:
            return await live.index.candidates(space, tokens, vector, filters, k=k)
        return await live.lean.candidates_lean(space, tokens, vector, filters, k=k)

    def candidates_here(
        self, space: str, tokens: Sequence[str], vector: Vector | None, filters: Filters, *, k: int = 50
    ) -> list[Candidate]:
        """As `InProcessIndex.candidates_here`; raises IndexUnavailable also where the live index lies elsewhere."""
        live = self._asked()
        if live.here is None:
            raise IndexUnavailable("the index lies in another process")
        return live.here.candidates_here(space, tokens, vector if live.vectors else None, filters, k=k)

    async def delete(self, space: str, memory_ids: Sequence[str]) -> None:
        """Remove the ids from every generation that is kept. Raises IndexUnavailable where one does not answer, after the others."""
        await self._everywhere(lambda index: index.delete(space, memory_ids))

    async def drop(self, space: str) -> None:
        """Remove all of a space from every generation that is kept. Raises IndexUnavailable where one does not answer, after the others."""
        await self._everywhere(lambda index: index.drop(space))

    async def _everywhere(self, work: Callable[[Index], Awaitable[None]]) -> None:
        failed: IndexUnavailable | None = None
        for generation in await self._reader():
            try:
                await work(await self._open(generation))
            except IndexUnavailable as error:
                failed = error
        if failed is not None:
            raise failed

    async def ids(self, space: str) -> set[str]:
        """All ids of a space in the live generation."""
        return await self._asked().index.ids(space)

    async def empty_log(self) -> bool:
        """As `LoggedIndex.empty_log`, of every generation that is kept. Raises IndexUnavailable where one does not answer."""
        cut = True
        for generation in await self._reader():
            index = await self._open(generation)
            if isinstance(index, LoggedIndex):
                cut &= await index.empty_log()
        return cut

    async def forget(self, names: Sequence[str]) -> None:
        """As `RememberingIndex.forget`, in every generation that is open here. Raises IndexUnavailable."""
        for index in list(self._indexes.values()):
            if isinstance(index, RememberingIndex):
                await index.forget(names)

    async def rest(self, spaces: Sequence[str]) -> set[str]:
        """As `RestingIndex.rest`, in the live generation; none where its spaces cost nothing."""
        index = self._asked().index
        return await index.rest(spaces) if isinstance(index, RestingIndex) else set()

    async def health(self) -> None:
        """Return when the live generation answers. Raises IndexUnavailable."""
        await self._asked().index.health()

    async def close(self) -> None:
        """Close all of them. Idempotent."""
        self._closed = True
        self._ending.set()
        await asyncio.gather(*self._retiring)
        async with self._opening:
            indexes = list(self._indexes.values())
            self._indexes.clear()
        for index in indexes:
            await index.close()


def _same_vectors(generation: Generation, spec: Spec) -> bool:
    return (generation.model, generation.dim) == (spec.model, spec.dim)
