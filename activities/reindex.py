"""Build a new generation of the index: begin, fill, check, compare, switch, settle; or give it up. Each may be repeated at any point."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import perf_counter
from typing import Final

from sqlalchemy import Connection
from temporalio import activity

from hindwise.engine import Engine, spec_of
from hindwise.errors import HindwiseError, IndexUnavailable, ModelUnavailable
from hindwise.index.factory import remove_index
from hindwise.index.live import LOOK_EVERY_S, LiveIndex
from hindwise.index.rebuild import Rebuild
from hindwise.ledger import generations
from hindwise.ledger.generations import OPEN, Build, State
from hindwise.recall.sameness import Comparison
from workflows import policies
from workflows.contracts import (
    CheckInput,
    CheckResult,
    CompareResult,
    Done,
    FillInput,
    FillResult,
    GenerationInput,
    ReindexBegun,
    ReindexParkInput,
    SwitchInput,
    SwitchResult,
)

_WORK_S: Final = 15.0
"""One call works about so long, so that progress is seen and little is repeated."""
_SPACES: Final = 50
_LONGEST_PAUSE_S: Final = 5.0
QUESTIONS: Final = 50
"""Asked of both indexes: so many that were asked lately, and as many made of memories."""
_NEXT: Final = "hindwise reindex --answer retry, switch or drop"


async def reindex_begin(engine: Engine, message: GenerationInput) -> ReindexBegun:
    """Begin the wanted generation with this worker's embedder, or go on with it."""
    async with _telling(engine, message.generation, "fill"):
        build = await _rebuild(engine).begin(message.generation)
    state = build.generation.state
    return ReindexBegun(
        gone=state in (State.ABANDONED, State.DROPPED), serves=state not in (*OPEN, State.ABANDONED, State.DROPPED), total=build.total
    )


async def reindex_fill(engine: Engine, message: FillInput) -> FillResult:
    """Write pages until a quarter of a minute is over, resting in between, so that recalls and reflections get their share."""
    if message.again:
        await engine.ledger.write(lambda conn: generations.restart(conn, message.generation))
    rebuild, rest = _rebuild(engine), 1 / engine.settings.reindex_share - 1
    until = perf_counter() + _WORK_S
    async with _telling(engine, message.generation, "fill"):
        while True:
            began = perf_counter()
            filled = await rebuild.fill(message.generation)
            now = perf_counter()
            if filled.gone or filled.end or now > until:
                break
            await asyncio.sleep(min(_LONGEST_PAUSE_S, (now - began) * rest))
    build = await _build(engine, message.generation)
    return FillResult(gone=filled.gone, end=filled.end, done=build.done, total=max(build.total, build.done))


async def reindex_check(engine: Engine, message: CheckInput) -> CheckResult:
    """Hold a page of spaces against the ledger, and more pages while there is time."""
    await _say(engine, message.generation, "check", None)
    rebuild, until = _rebuild(engine), perf_counter() + _WORK_S
    spaces = memories = missing = removed = 0
    cursor, end = message.cursor, False
    async with _telling(engine, message.generation, "check"):
        while not end and perf_counter() < until:
            found = await rebuild.check(message.generation, cursor, _SPACES)
            cursor, end = found.cursor, found.end
            spaces, memories = spaces + found.spaces, memories + found.memories
            missing, removed = missing + found.missing, removed + found.removed
    await _say(engine, message.generation, "check")
    return CheckResult(spaces=spaces, memories=memories, missing=missing, removed=removed, cursor=cursor, end=end)


async def reindex_compare(engine: Engine, message: GenerationInput) -> CompareResult:
    """Ask the live index and the new one the same questions."""
    await _say(engine, message.generation, "compare", None)
    async with _telling(engine, message.generation, "compare"):
        compared = await Comparison(engine.ledger, _index(engine), engine.embedder).compare(message.generation, QUESTIONS)
    return CompareResult(asked=compared.asked, same=compared.same, overlap=compared.overlap, alike=compared.alike, told=not compared.why)


async def reindex_switch(engine: Engine, message: SwitchInput) -> SwitchResult:
    """Let the new index serve; this process at once, the others within a second."""
    report = {"checked": message.checked.model_dump(), "compared": message.compared.model_dump()}
    now = engine.clock.now()
    switched = await engine.ledger.write(lambda conn: generations.switch(conn, message.generation, report, now))
    await _index(engine).refresh()
    return SwitchResult(gone=not switched)


async def reindex_settle(engine: Engine, message: GenerationInput) -> Done:
    """What served before gets no changes any more."""
    await engine.ledger.write(lambda conn: generations.settle(conn, message.generation))
    return Done()


async def reindex_park(engine: Engine, message: ReindexParkInput) -> Done:
    """Say in the ledger that a build waits for a person; the next step that runs takes it back."""
    told = f"({message.cause}) {message.detail[:600].rstrip('.')}. Next: {_NEXT}."
    await _say(engine, message.generation, "needs_attention", told)
    return Done()


async def reindex_drop(engine: Engine, message: GenerationInput) -> Done:
    """Give a build up and remove what there is of it. An index that does not answer keeps it until `hindwise reindex --drop-old`."""

    def give_up(conn: Connection) -> Build:
        generations.abandon(conn, message.generation, "given up by a person")
        return generations.build_of(conn, message.generation)

    found = (await engine.ledger.write(give_up)).generation
    await _index(engine).refresh()
    if found.state == State.ABANDONED:
        await asyncio.sleep(2 * LOOK_EVERY_S)  # until no process writes into it any more
        try:
            await remove_index(engine.settings, found.kind, found.no, engine.secret)
        except HindwiseError:
            return Done()  # away, or not configured here any more: given up all the same
        await engine.ledger.write(lambda conn: generations.set_dropped(conn, found.no))
    return Done()


async def _build(engine: Engine, number: int) -> Build:
    return await engine.ledger.read(lambda conn: generations.build_of(conn, number))


async def _say(engine: Engine, number: int, phase: str, text: str | None = "") -> None:
    await engine.ledger.write(lambda conn: generations.say(conn, number, phase, text))


@asynccontextmanager
async def _telling(engine: Engine, number: int, phase: str) -> AsyncIterator[None]:
    """While a server does not answer, say in the ledger that it is tried again, and until when."""
    try:
        yield
    except (IndexUnavailable, ModelUnavailable, TimeoutError) as error:
        detail = error.detail.rstrip(".") if isinstance(error, HindwiseError) else "the index did not answer in time"
        until = activity.info().scheduled_time + policies.REINDEX_STEP.budget
        await _say(engine, number, phase, f"{detail}. It is tried again until {until:%H:%M} UTC, then it waits for you")
        raise


def _index(engine: Engine) -> LiveIndex:
    if not isinstance(engine.index, LiveIndex):
        raise IndexUnavailable("this engine was put together with an index of its own: nothing can be built beside it")
    return engine.index


def _rebuild(engine: Engine) -> Rebuild:
    return Rebuild(engine.ledger, _index(engine), engine.embedder, spec_of(engine.embedder), engine.clock, engine.holder)
