"""What a worker does about new indexes: asks for one where its embedder or tokeniser is another one, and starts what is asked for.

A request is a row of the ledger, so it is kept while Temporal or the workers are away, and a build that was terminated goes on.
"""

import asyncio
import time
from datetime import timedelta

import structlog
from temporalio.client import Client

from hindwise.engine import Engine, spec_of
from hindwise.errors import HindwiseError, InvalidInput
from hindwise.index.factory import check_kind
from hindwise.index.rebuild import request_where_needed
from hindwise.ledger import generations
from hindwise.ledger.generations import Build, State
from hindwise.settings import Settings
from workflows import connection
from workflows.connection import NotDelivered
from workflows.contracts import ReindexInput
from workflows.start_reindex import start_reindex

LOOK_EVERY_S = 1.0
_TRUST_S = 30.0
"""So long a build that was started is taken to run."""

_OVERDUE = timedelta(minutes=10)

_log = structlog.get_logger(__name__)


async def keep_reindexing(engine: Engine, client: Client) -> None:
    """Start the builds that the ledger asks for, for ever. Errors of ledger and Temporal are waited out."""
    prefix = engine.settings.task_queue_prefix
    started: dict[int, float] = {}
    attributes: bool | None = None
    asked = False
    while True:
        try:
            if not asked:
                asked = await _ask(engine)
            await _settle(engine)
            for build in await engine.ledger.read(generations.open_builds):
                number = build.generation.no
                if await _is_held(engine, build):
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


async def _is_held(engine: Engine, build: Build) -> bool:
    """Whether this worker lacks a setting for a generation that nobody began. Told in the ledger, where the one who asked looks.

    Begun, it would get every change, and no change would be applied until somebody gave it up.
    """
    lacks = _lacking(engine.settings, build.generation.kind) if build.generation.state == State.WANTED else ""
    if lacks and build.note != lacks:
        await engine.ledger.write(lambda conn: generations.hold(conn, build.generation.no, lacks))
        _log.warning("reindex_held", generation=build.generation.no, detail=lacks)
    return bool(lacks)


def _lacking(settings: Settings, kind: str) -> str:
    try:
        check_kind(settings, kind)
    except InvalidInput as error:
        return error.detail
    return ""


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
