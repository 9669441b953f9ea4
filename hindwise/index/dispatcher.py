"""Who brings the index up to date: a loop beside the worker, and a sweep by upkeep. One failing space never holds up the others."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from hindwise.clock import Clock
from hindwise.errors import HindwiseError
from hindwise.index.projection import Projection
from hindwise.ledger import outbox
from hindwise.ledger.engine import Ledger

POLL_S = 0.3
"""How often it looks. Until a change is applied, recall reads past the index."""

FRESH_S = 1.0
"""Younger marks are left to the index step of the reflection that made them, so that two do not do the same."""

MAX_PAUSE_S = 10.0

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Swept:
    """What one sweep did. `failed`: space number -> the error it met."""

    applied: int
    failed: dict[int, HindwiseError]
    spaces: int


async def sweep(
    projection: Projection,
    ledger: Ledger,
    *,
    limit: int = 200,
    alive: Callable[[], bool] = lambda: True,
    skip: frozenset[int] = frozenset(),
    before: datetime | None = None,
) -> Swept:
    """Bring at most `limit` dirty spaces up to date, but those in `skip`; ends early when `alive` says no.

    before: only spaces with a mark that was made before; None = all.

    Errors of a space are collected, not raised: one space that cannot be indexed must not hold up the rest. Raises
    LedgerUnavailable where not even the list can be read.
    """
    numbers = [no for no in await ledger.read(lambda conn: outbox.space_numbers(conn, limit + len(skip), before)) if no not in skip][:limit]
    applied, failed = 0, {}
    for number in numbers:
        if not alive():
            break
        try:
            applied += await projection.one_space(number) or 0
        except HindwiseError as error:
            failed[number] = error
        except TimeoutError:
            failed[number] = HindwiseError("the space was not up to date before its lease ended")
    return Swept(applied, failed, len(numbers))


async def dispatch_forever(
    projection: Projection, ledger: Ledger, stop: asyncio.Event, *, poll_s: float = POLL_S, clock: Clock | None = None
) -> None:
    """Sweep until `stop` is set; returns then. Backs off while something fails and says so once, not each time.

    clock: what tells how old a mark is, to leave the fresh ones; None = none is left.
    """
    pauses: dict[int, tuple[float, float]] = {}
    loop = asyncio.get_running_loop()
    failing, pause = "", poll_s
    while not stop.is_set():
        now = loop.time()
        resting = frozenset(no for no, (until, _) in pauses.items() if until > now)
        before = clock.now() - timedelta(seconds=FRESH_S) if clock else None
        try:
            swept = await sweep(projection, ledger, alive=lambda: not stop.is_set(), skip=resting, before=before)
        except HindwiseError as error:
            pause, state = min(MAX_PAUSE_S, pause * 2), error.type
        else:
            pause, state = poll_s, ",".join(sorted({error.type for error in swept.failed.values()}))
            pauses = _rest(pauses, resting, swept, loop.time(), poll_s)
            if resting and not state:
                state = failing  # those that rest have not been asked again yet: nothing is known to be mended
        if state != failing:
            _tell(state, failing)
            failing = state
        await _wait(stop, pause)


def _rest(
    pauses: dict[int, tuple[float, float]], resting: frozenset[int], swept: Swept, now: float, poll_s: float
) -> dict[int, tuple[float, float]]:
    """Until when each failing space is left alone (loop time), and for how long that is: doubled with each failure."""
    kept = {no: pauses[no] for no in resting}
    for no in swept.failed:
        length = min(MAX_PAUSE_S, pauses[no][1] * 2 if no in pauses else poll_s * 2)
        kept[no] = (now + length, length)
    return kept


def _tell(state: str, before: str) -> None:
    if state:
        _log.warning("index_behind", cause=state)
    else:
        _log.info("index_caught_up", after=before)


async def _wait(stop: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await stop.wait()
    except TimeoutError:
        return
