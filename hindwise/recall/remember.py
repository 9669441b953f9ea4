"""Writing one memory by hand, and forgetting one: what `POST /memory`, `POST /v1/memories` and `hindwise remember` do.

The same resolution as of a reflection: who says a thing twice confirms it, who says something else in its slot supersedes it.
"""

import asyncio
from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

import structlog
from sqlalchemy import Connection

from hindwise.embed.base import Vector
from hindwise.embed.precision import kept_passages
from hindwise.engine import Engine
from hindwise.errors import HindwiseError, InvalidInput, ModelRefused, ModelUnavailable, NotFound
from hindwise.index.document import Document, document_of
from hindwise.ledger import embeddings, memories, memory_changes, memory_erasure, spaces
from hindwise.ledger.resolution import Placement, Resolution
from hindwise.model.memory import Draft
from hindwise.model.reflection import Decision

_EMBED_LIMIT_S = 2.0
_INDEX_LIMIT_S = 2.0

_logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a statement: the memory that now says so, its status when this was written, and what was decided."""

    memory_id: str
    status: str
    action: str
    supersedes: tuple[str, ...]


async def remember(engine: Engine, tenant_id: str, draft: Draft, space: str, actor: str, now: datetime, *, write_id: str = "") -> Written:
    """Write one memory into a space in one transaction, and tell what became of it.

    Found by the next recall, also before any index knows it. actor: who wrote, for the history. The caller has masked secrets.
    write_id: a uuid that names this writing, so that a repeated one finds the first; empty = each call is one of its own.
    Raises LedgerUnavailable; InvalidInput where the draft takes back what is not known.
    """
    document = document_of(draft)
    vector = await _vector(engine, document)
    # No reflection stands behind it: a new name, so that each writing is one of its own, also where its transaction runs a second time.
    name = write_id or str(uuid4())
    decided: list[tuple[Decision, Written]] = []

    def write(conn: Connection) -> Written:
        # Where the answer to the commit was lost, this runs again: what was decided then is told, and not what is left to decide.
        if not (decided and memory_changes.changed_by(conn, [decided[-1][0].memory_id, *decided[-1][0].touched], actor, now)):
            decision = _write(conn, engine, tenant_id, draft, space, actor, now, document, vector, name)
            # Asked here: a moment later an erasure may have taken it.
            decided.append((decision, _written(conn, tenant_id, decision)))
        return decided[-1][1]

    return await engine.ledger.write(write)


def _written(conn: Connection, tenant_id: str, decision: Decision) -> Written:
    if not decision.memory_id and not decision.touched:
        raise InvalidInput("there is nothing to take back: nothing is known under this subject and attribute")
    memory_id = decision.memory_id or decision.touched[0]
    memory, _ = memories.load(conn, tenant_id, memory_id)
    replaced = decision.touched if decision.action in {"supersede", "retract"} else ()
    return Written(memory_id, str(memory.status), decision.action, tuple(replaced))


def _write(
    conn: Connection,
    engine: Engine,
    tenant_id: str,
    draft: Draft,
    space: str,
    actor: str,
    now: datetime,
    document: Document,
    vector: Vector | None,
    write_id: str,
) -> Decision:
    resolution = Resolution(
        conn=conn,
        tenant_id=tenant_id,
        reflection_id=write_id,
        by_reflection=False,
        actor=actor,
        now=now,
        rules=engine.rules,
        min_confidence=engine.settings.min_confidence,
        default_valid_from=now,
    )
    [decision] = resolution.run([Placement(0, draft, space)])
    if vector is not None:
        number = spaces.find(conn, tenant_id, [space])[space].no
        embeddings.store(conn, number, engine.embedder.model, {document.text_hash: vector})
    return decision


async def _vector(engine: Engine, document: Document) -> Vector | None:
    """The memory's vector, if the embedder is quick; else the dispatcher computes it."""
    if not engine.embedder.dim:
        return None
    try:
        async with asyncio.timeout(_EMBED_LIMIT_S):
            [vector] = await kept_passages(engine.embedder, [document.text])
    except (TimeoutError, ModelUnavailable, ModelRefused) as error:
        _logger.warning("memory_written_without_vector", cause=type(error).__name__)
        return None
    return vector


async def forget(engine: Engine, tenant_id: str, memory_id: str) -> str:
    """Erase one memory from the ledger and, at once, from the index; return its space. Raises NotFound, LedgerUnavailable.

    An index that does not answer, or that somebody else is writing at present, is told later: the outbox mark stays. No recall tells
    the memory meanwhile, since the ledger has no such row any more.
    """
    now = engine.clock.now()

    erased: list[tuple[str, int]] = []

    def erase(conn: Connection) -> tuple[str, int]:
        try:
            space = memory_erasure.erase(conn, tenant_id, memory_id, now)
        except NotFound:
            if erased:  # a moment ago, by this very call: the answer to its commit was lost
                return erased[-1]
            raise
        erased.append((space, spaces.find(conn, tenant_id, [space])[space].no))
        return erased[-1]

    space, space_no = await engine.ledger.write(erase)
    try:
        async with asyncio.timeout(_INDEX_LIMIT_S):
            # Under the space's lease: with its last memory a space goes from a server, and with it what another just wrote there.
            await engine.projection.one_space(space_no)
    except (TimeoutError, HindwiseError) as error:
        _logger.warning("index_forgets_later", cause=type(error).__name__)
    return space
