"""What a worker does about new indexes: asks for one where its embedder or tokeniser is another one, and starts what is asked for.

A request is a row of the ledger, so it is kept while Temporal or the workers are away, and a build that was terminated goes on.
"""

import asyncio
import time
from datetime import timedelta

import structlog
from temporalio.client import Client

from hindwise.engine import Engine, spec_of
from hindwise.errors import HindwiseError, IndexUnavailable, InvalidInput
from hindwise.index.factory import check_place
from hindwise.index.rebuild import request_where_needed
from hindwise.ledger import generations
from hindwise.ledger.generations import Build, State
from workflows import connection
from workflows.connection import NotDelivered
from workflows.contracts import ReindexInput
from workflows.start_reindex import start_reindex

LOOK_EVERY_S = 1.0
_TRUST_S = 30.0
"""So long a build that was started is taken to run."""
_LOOK_AGAIN_S = 5.0
"""So long a place that cannot be reached is not asked again."""
_SAY_AGAIN_S = 30.0
"""So often it is said again what holds a build: other workers may lack something else, and what nobody says is not told."""
_AWAY_S = 10.0
"""So long a server may be away before we say so: it may be starting."""

_OVERDUE = timedelta(minutes=10)

_log = structlog.get_logger(__name__)


async def keep_reindexing(engine: Engine, client: Client) -> None:
    """Start the builds that the ledger asks for, for ever. Errors of ledger and Temporal are waited out."""
    prefix = engine.settings.task_queue_prefix
    started: dict[int, float] = {}
    attributes: bool | None = None
    asked, holding = False, _Holding(engine)
    while True:
        try:
            if not asked:
                asked = await _ask(engine)
            await _settle(engine)
            for build in await engine.ledger.read(generations.open_builds):
                number = build.generation.no
                if await holding.holds(build):
                    continue
                if time.monotonic() - started.get(number, -_TRUST_S) < _TRUST_S:
                    continue
                if attributes is None:
                    attributes = not await connection.missing_search_attributes(client)
                await start_reindex(client, ReindexInput(generation=number, queue_prefix=prefix, search_attributes=attributes))
                started[number] = time.monotonic()
        except (HindwiseError, NotDelivered) as error:
            _log.info("reindex_waits", cause=type(error).__name__)
        except Exception as error:  # nobody waits for this task: one bad look must not end all later ones
            _log.error("reindex_look_failed", error=type(error).__name__)
        await asyncio.sleep(LOOK_EVERY_S)


class _Holding:
    """Builds that this worker must not begin, since it cannot reach the place where they shall lie.

    Begun, one would get every change, and neither a change nor an erasure would be done until somebody gave it up.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._looked: dict[int, float] = {}
        self._away_since: dict[int, float] = {}
        self._told: dict[int, tuple[str, float]] = {}

    async def holds(self, build: Build) -> bool:
        """Whether it is held. Why is told in the ledger, where the one who asked looks; asked for again, it is looked at again."""
        number = build.generation.no
        if build.generation.state != State.WANTED:
            return False
        if build.phase == "needs_attention" and time.monotonic() - self._looked.get(number, -_LOOK_AGAIN_S) < _LOOK_AGAIN_S:
            return True
        why, patient = await self._why(build)
        self._looked[number] = time.monotonic()
        if why and not patient:
            await self._tell(build, why)
        return bool(why)

    async def _tell(self, build: Build, why: str) -> None:
        number, (before, at) = build.generation.no, self._told.get(build.generation.no, ("", 0.0))
        if why == before and why in build.note and time.monotonic() - at < _SAY_AGAIN_S:
            return
        now = self._engine.clock.now()
        await self._engine.ledger.write(lambda conn: generations.hold(conn, number, why, now))
        self._told[number] = why, time.monotonic()
        if why != before:
            _log.warning("reindex_held", generation=number, detail=why)

    async def _why(self, build: Build) -> tuple[str, bool]:
        """What is in the way, "" for nothing; and whether to wait a moment before it is told."""
        number = build.generation.no
        try:
            await check_place(self._engine.settings, build.generation.kind, number, self._engine.secret)
        except InvalidInput as error:
            return error.detail, False
        except IndexUnavailable as error:
            since = self._away_since.setdefault(number, time.monotonic())
            return f"{error.detail}. It is begun once that answers", time.monotonic() - since < _AWAY_S
        self._away_since.pop(number, None)
        return "", False


async def _settle(engine: Engine) -> None:
    """End the draining that no workflow ended, since Temporal lost it or somebody terminated it."""
    before = engine.clock.now() - _OVERDUE
    number = await engine.ledger.read(lambda conn: generations.overdue(conn, before))
    if number is not None:
        await engine.ledger.write(lambda conn: generations.settle(conn, number))


async def _ask(engine: Engine) -> bool:
    """At the start only, so that a build that a person gave up is not asked for again and again."""
    wanted = await request_where_needed(engine.ledger, spec_of(engine.embedder), engine.clock.now())
    if wanted is not None:
        _log.info("reindex_wanted", generation=wanted.no, kind=wanted.kind, model=wanted.model)
    return True
