"""Erasing a user everywhere, in steps of which each may be repeated after whatever ended it: begin, wipe, check.

begin   the epoch of the user's space is raised; the workflows that are open for the user are named, to be stopped
wipe    under the lease of the space's index: the bulk of the rows, every index's copy, then all rows that are left, in one transaction
check   each store is searched again and the logs of the databases are cut; then the receipt is complete
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from uuid import uuid4

from sqlalchemy import Connection

from hindwise.engine import Engine
from hindwise.errors import IndexUnavailable, LedgerUnavailable
from hindwise.index.copies import copies, empty_logs
from hindwise.index.projection import index_space
from hindwise.index.weaviate_names import tenant_name
from hindwise.ledger import erasure, erasures, outbox
from hindwise.ledger.erasures import Erasure
from hindwise.model.space import user_space

LEASE_S = 60.0
"""How long nobody else writes the space's index if this process dies; renewed at each page."""
_WAIT_S = 40.0
"""For whoever brings the index up to date at present: longer than a lease of theirs."""
_AGAIN_S = 0.1
_PAGES: Mapping[str, Callable[[Connection, str], bool]] = {
    "turns": erasure.turns_page,
    "memories": erasure.memories_page,
    "recalls": erasure.recalls_page,
}


@dataclass(frozen=True, slots=True)
class OpenWork:
    """What runs for the user: session handles and reflection ids, at most a page of each; `more`: ask again with the last ones."""

    sessions: tuple[str, ...]
    reflections: tuple[str, ...]
    more: bool


async def request(engine: Engine, tenant_id: str, user_id: str, by: str, *, erasure_id: str = "") -> Erasure:
    """Accept the erasure of a user, known or not; whoever starts it may do so late or twice. Raises LedgerUnavailable.

    erasure_id: a uuid that names this request, so that a repeated one finds the first, also after its end; "" = one of its own.
    """
    now, user_hash, number = engine.clock.now(), erasures.hash_of(engine.secret, tenant_id, user_id), erasure_id or str(uuid4())
    return await engine.ledger.write(lambda conn: erasures.request(conn, number, tenant_id, user_id, user_hash, by, now))


async def begin(engine: Engine, erasure_id: str) -> Erasure:
    """Raise the epoch: nothing that is under way can bring back what will be erased. Raises NotFound, LedgerUnavailable."""
    now = engine.clock.now()
    return await engine.ledger.write(lambda conn: erasure.begin(conn, erasure_id, now))


async def open_work(engine: Engine, erasure_id: str, after_session: str, after_reflection: str, page: int) -> OpenWork:
    """Name what runs for the user, in order, above the given ones. Raises NotFound, LedgerUnavailable."""

    def find(conn: Connection) -> OpenWork:
        this = erasures.get(conn, erasure_id)
        if this.wiped_at is not None:
            return OpenWork((), (), more=False)
        sessions = erasure.open_sessions(conn, this, after_session, page)
        reflections = erasure.open_reflections(conn, this, after_reflection, page)
        return OpenWork(tuple(sessions), tuple(reflections), more=page in (len(sessions), len(reflections)))

    return await engine.ledger.read(find)


async def wipe(engine: Engine, erasure_id: str) -> Erasure:
    """Delete the user from every index and from the ledger; called again it goes on where it was.

    Raises NotFound; LedgerUnavailable, IndexUnavailable: then nothing is lost by trying again.
    """
    this = await _take_up(engine, erasure_id)
    if this.wiped_at is not None:
        return this
    for page in await engine.ledger.read(lambda conn: _pages(conn, this)):
        while await engine.ledger.write(lambda conn, delete=page: delete(conn, erasure_id)):  # type: ignore[misc]
            await _take_up(engine, erasure_id)
        await _take_up(engine, erasure_id)
    searched = await _drop(engine, this)
    holder, now = _holder(this), engine.clock.now()
    return await engine.ledger.write(lambda conn: erasure.wipe(conn, erasure_id, holder, now, searched))


def _holder(this: Erasure) -> str:
    return f"erase-{this.id}"


def _pages(conn: Connection, this: Erasure) -> list[Callable[[Connection, str], bool]]:
    """Which of the bulk is too much for one transaction."""
    large = erasure.bulk(conn, this)
    return [page for name, page in _PAGES.items() if name in large]


async def _take_up(engine: Engine, erasure_id: str) -> Erasure:
    """Begin where that is still to do, and become the only one who may write the space's index; whoever does at present is waited for."""

    def work(conn: Connection) -> tuple[Erasure, bool]:
        now = engine.clock.now()
        this = erasure.begin(conn, erasure_id, now)
        return this, this.space_no is None or outbox.lease_named(conn, _holder(this), now, LEASE_S, this.space_no) is not None

    try:
        async with asyncio.timeout(_WAIT_S):
            while True:
                this, mine = await engine.ledger.write(work)
                if mine or this.wiped_at is not None:
                    return this
                await asyncio.sleep(_AGAIN_S)
    except TimeoutError as error:
        raise LedgerUnavailable("the space's index is being written by somebody who does not end", retry_after_s=5) from error


async def _drop(engine: Engine, this: Erasure) -> dict[str, int]:
    """Take the space out of every index; return how much a second search found in each, which is nothing.

    How much there was is noted before, so that no crash forgets it.
    """
    space = index_space(this.tenant_id, user_space(this.user_id))
    known = dict(this.counts.get("index", {}))
    found = await copies(engine.ledger, engine.index)
    for name, index in found.items():
        known[name] = max(known.get(name, 0), len(await index.ids(space)))
    name = tenant_name(engine.secret, space)

    def note(conn: Connection) -> None:
        erasures.set_counts(conn, this.id, index=known)
        erasures.change(conn, this.id, index_name=name)

    await engine.ledger.write(note)
    for name, index in found.items():
        await index.drop(space)
        if left := len(await index.ids(space)):
            raise IndexUnavailable(f"{left} objects are still in {name}: erased again", retry_after_s=1)
    return dict.fromkeys(found, 0)


async def check(engine: Engine, erasure_id: str) -> Erasure:
    """Search again what can be searched without the user's name, cut the logs, and complete the receipt; called again it stands.

    Raises NotFound, LedgerUnavailable, IndexUnavailable (also where a log cannot be cut yet, because somebody reads it).
    """
    this = await engine.ledger.read(lambda conn: erasures.get(conn, erasure_id))
    if this.status == "completed":
        return this
    found = await engine.ledger.read(lambda conn: erasure.search(conn, this))
    if this.wiped_at is None or any(found.values()):
        raise LedgerUnavailable("something of the erased space is left in the ledger: erased again", retry_after_s=1)
    if not await engine.ledger.empty_log():
        raise LedgerUnavailable("the ledger's log could not be cut, because somebody reads it: tried again", retry_after_s=2)
    if name := await empty_logs(await copies(engine.ledger, engine.index)):
        raise IndexUnavailable(f"the log of {name} could not be cut, because somebody reads it: tried again", retry_after_s=2)
    return await engine.ledger.write(lambda conn: _complete(conn, engine, erasure_id))


def _complete(conn: Connection, engine: Engine, erasure_id: str) -> Erasure:
    this = erasures.get(conn, erasure_id, lock=True)
    if this.status != "completed":
        erasures.set_counts(conn, erasure_id, searched={**this.counts.get("searched", {}), "ledger": 0})
        erasures.change(conn, erasure_id, status="completed", error="", finished_at=engine.clock.now())
    return erasures.get(conn, erasure_id)


def totals(this: Erasure) -> dict[str, int]:
    """The receipt in three numbers: rows, objects, shared_lessons_kept."""
    return {
        "rows": sum(this.counts.get("ledger", {}).values()),
        "objects": sum(this.counts.get("index", {}).values()),
        "shared_lessons_kept": int(this.counts.get("shared_lessons_kept", 0)),
    }


async def park(engine: Engine, erasure_id: str, error: str) -> None:
    """Say in the receipt why it cannot go on at present. Raises LedgerUnavailable."""
    await engine.ledger.write(lambda conn: erasures.set_parked(conn, erasure_id, error))


async def erase(engine: Engine, erasure_id: str) -> Erasure:
    """All steps but the stopping of workflows, one after the other: what the workflow does. For tests and for use without Temporal."""
    await begin(engine, erasure_id)
    await wipe(engine, erasure_id)
    return await check(engine, erasure_id)
