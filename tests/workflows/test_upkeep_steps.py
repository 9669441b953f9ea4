"""What upkeep changes, on a real ledger: due rows and no others, each with its event, the index told of it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Connection, select
from temporalio.testing import ActivityEnvironment

from activities.archive import archive
from activities.compare_index import compare_index
from activities.decay import decay
from activities.expire import expire
from activities.purge_turns import purge_turns
from activities.reverify import reverify
from activities.sweep_outbox import sweep_outbox
from hindwise.engine import Engine, open_engine
from hindwise.errors import IndexUnavailable
from hindwise.index.dispatcher import dispatch_forever, sweep
from hindwise.index.projection import Projection, index_space
from hindwise.ledger import embeddings, idempotency, intake, memories, memory_changes, outbox, reflections, spaces
from hindwise.ledger.schema import memories as memory_rows
from hindwise.ledger.schema import turns
from hindwise.lifecycle.aging import decay as exact_decay
from hindwise.lifecycle.freshness import band_of
from hindwise.model.memory import Memory
from hindwise.model.reflection import ReflectionStatus
from hindwise.settings import Settings
from tests.build import TENANT, make_episode, make_memory
from tests.workflows.stage import until
from workflows.contracts import BatchInput, BatchResult

NOW = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)


class Fixed:
    """A clock that stands still until a test moves it."""

    def __init__(self) -> None:
        self.time = NOW

    def now(self) -> datetime:
        """The set time."""
        return self.time


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    """An engine without vectors."""
    settings = Settings(_env_file=None, data=tmp_path, embed="none", reflector="rules")
    async with open_engine(settings, clock=Fixed()) as opened:
        yield opened


async def _keep(engine: Engine, *given: Memory, space: str = "user:u1") -> None:
    def write(conn: Connection) -> None:
        number = spaces.lock(conn, TENANT, [space])[space].no
        for memory in given:
            memory_changes.insert_memory(conn, number, memory.model_copy(update={"space": space}), actor="test", why="set up")
        outbox.mark_dirty(conn, number, [memory.id for memory in given], spaces.bump(conn, number), NOW)

    await engine.ledger.write(write)
    while await engine.projection.one_space() is not None:
        pass


async def _read(engine: Engine, memory_id: str) -> Memory:
    return (await engine.ledger.read(lambda conn: memories.load(conn, TENANT, memory_id)))[0]


async def _events(engine: Engine, memory_id: str) -> list[str]:
    return [row.action for row in await engine.ledger.read(lambda conn: memories.history(conn, memory_id))]


async def _indexed(engine: Engine, space: str = "user:u1") -> set[str]:
    return await engine.index.ids(index_space(TENANT, space))


def _old(days: float, **fields: Any) -> Memory:
    kind = fields.pop("kind", "event")
    return make_memory(fields.pop("conclusion", f"Old {fields.get('id')}"), kind=kind, recorded_at=NOW - days * DAY, **fields)


async def test_what_is_past_its_time_expires_and_leaves_the_index(engine: Engine) -> None:
    """Pinned and confirmed ones stay; the slot is free again."""
    past = NOW - DAY
    await _keep(
        engine,
        _old(31, id="m1", expires_at=past),
        _old(31, id="m2", expires_at=past, pinned=True),
        _old(31, id="m3", expires_at=past, confirmed_by="ana"),
        _old(31, id="m4", expires_at=NOW + DAY),
        _old(400, id="m5", kind="fact", head=True, expires_at=past),
    )
    assert await _indexed(engine) == {"m1", "m2", "m3", "m4", "m5"}
    assert await expire(engine, BatchInput()) == BatchResult(changed=2, more=False)
    assert await expire(engine, BatchInput()) == BatchResult()
    expired = await _read(engine, "m5")
    assert (expired.status, expired.head, expired.closed_at) == ("expired", False, NOW)
    assert await _events(engine, "m1") == ["recorded", "expired"]
    await sweep_outbox(engine, BatchInput())
    assert await _indexed(engine) == {"m2", "m3", "m4"}


async def test_batches_are_bounded_and_say_that_more_is_due(engine: Engine) -> None:
    """Page by page until nothing is left."""
    await _keep(engine, *(_old(31, id=f"m{n}", expires_at=NOW - DAY) for n in range(5)))
    pages = [await expire(engine, BatchInput(page=2)) for _ in range(4)]
    assert [(page.changed, page.more) for page in pages] == [(2, True), (2, True), (1, False), (0, False)]


async def test_what_no_task_was_told_for_long_is_archived(engine: Engine) -> None:
    """180 days since recording or last use; still in the ledger."""
    await _keep(
        engine,
        _old(181, id="m1", kind="lesson"),
        _old(400, id="m2", kind="lesson", last_recalled_at=NOW - 100 * DAY),
        _old(400, id="m3", kind="lesson", last_recalled_at=NOW - 200 * DAY),
        _old(400, id="m4", kind="lesson", pinned=True),
        _old(179, id="m5", kind="lesson"),
    )
    assert (await archive(engine, BatchInput())).changed == 2
    assert [(await _read(engine, f"m{n}")).status for n in range(1, 6)] == ["archived", "active", "archived", "active", "active"]
    await sweep_outbox(engine, BatchInput())
    assert await _indexed(engine) == {"m2", "m4", "m5"}


async def test_a_review_doubts_what_was_said_once_and_never_needed(engine: Engine) -> None:
    """What others confirmed, or what helped, stands; all get a next date."""
    due = NOW - DAY
    await _keep(
        engine,
        _old(90, id="m1", kind="lesson", review_at=due, confidence=0.8),
        _old(90, id="m2", kind="lesson", review_at=due, confidence=0.8, evidence_count=2),
        _old(90, id="m3", kind="lesson", review_at=due, confidence=0.8, helpful=1),
        _old(90, id="m4", kind="lesson", review_at=due, confidence=0.8, confirmed_by="ana"),
        _old(90, id="m5", kind="lesson", review_at=NOW + DAY, confidence=0.8),
    )
    assert (await reverify(engine, BatchInput())).changed == 4
    found = [await _read(engine, f"m{n}") for n in range(1, 6)]
    assert [round(memory.confidence, 2) for memory in found] == [0.72, 0.8, 0.8, 0.8, 0.8]
    assert [memory.review_at for memory in found] == [NOW + 90 * DAY] * 3 + [None, NOW + DAY]
    assert all(memory.status == "active" for memory in found)
    assert [(await _events(engine, f"m{n}"))[1:] for n in range(1, 6)] == [["doubted"], ["reviewed"], ["reviewed"], ["reviewed"], []]


async def test_freshness_follows_the_exact_decay(engine: Engine) -> None:
    """Every kind, age and use: the stored band is the band of what recall computes."""
    given = [
        _old(days, id=f"{kind}-{days}-{helpful}-{used}", kind=kind, helpful=helpful, last_recalled_at=NOW - used * DAY if used else None)
        for kind in ("lesson", "event", "snippet", "fact")
        for days in (0, 12, 13, 29, 31, 61, 100, 200, 900)
        for helpful in (0, 1, 3, 12)
        for used in (0, 5)
    ]
    await _keep(engine, *given)
    while (await decay(engine, BatchInput())).more:
        pass
    for memory in given:
        assert (await _read(engine, memory.id)).freshness == band_of(exact_decay(memory, engine.rules, NOW)), memory.id
    assert await decay(engine, BatchInput()) == BatchResult()


async def test_freshness_rises_again_with_use(engine: Engine) -> None:
    """A lesson that helped yesterday is fresh."""
    await _keep(engine, _old(200, id="m1", kind="lesson", freshness=0.25))
    await engine.ledger.write(lambda conn: conn.execute(memory_rows.update().values(helpful=1, last_recalled_at=NOW - DAY)).rowcount)
    assert (await decay(engine, BatchInput())).changed == 1
    assert (await _read(engine, "m1")).freshness == 1.0


async def test_turns_past_their_retention_are_purged_but_not_those_still_needed(engine: Engine) -> None:
    """An unfinished reflection keeps its words; old idempotency keys go with them."""

    def accept(conn: Connection) -> list[str]:
        old = NOW - 40 * DAY
        idempotency.keep(conn, TENANT, "k-old", "/v1/x", "d", 200, {}, NOW - 8 * DAY)
        idempotency.keep(conn, TENANT, "k-new", "/v1/x", "d", 200, {}, NOW - 6 * DAY)
        return [
            intake.accept_run(conn, make_episode(run, started_at=old, ended_at=old), engine.reflector_id(), recall_ids=(), now=old,
                              keep_first=True).reflection_id
            for run in ("done", "open")
        ]  # fmt: skip

    done, _ = await engine.ledger.write(accept)
    await engine.ledger.write(lambda conn: reflections.finish(conn, done, ReflectionStatus.COMPLETED, NOW))
    assert await purge_turns(engine, BatchInput()) == BatchResult(changed=1, more=False)
    assert len(await engine.ledger.read(lambda conn: conn.execute(select(turns)).all())) == 2
    assert await engine.ledger.write(lambda conn: idempotency.begin(conn, TENANT, "k-old", "d", NOW)) is None
    assert await engine.ledger.write(lambda conn: idempotency.begin(conn, TENANT, "k-new", "d", NOW)) is not None


async def test_the_daily_comparison_mends_an_index_that_lost_and_kept_too_much(engine: Engine) -> None:
    """Space by space; the second pass of the day does nothing."""
    await _keep(engine, _old(1, id="m1"), _old(1, id="m2"))
    await _keep(engine, _old(1, id="m3"), space="user:u2")
    await engine.index.delete(index_space(TENANT, "user:u1"), ["m1"])
    item = (await engine.projection.items(outbox.Lease(2, "user:u2", TENANT, 0, 0), [_old(1, id="ghost", space="user:u2")]))[0]
    await engine.index.upsert([item])
    environment = ActivityEnvironment()
    assert await environment.run(compare_index, engine, BatchInput(page=1)) == BatchResult(changed=1, more=True, cursor=1)
    assert await environment.run(compare_index, engine, BatchInput(page=1, cursor=1)) == BatchResult(changed=1, more=True, cursor=2)
    assert await environment.run(compare_index, engine, BatchInput(page=1, cursor=2)) == BatchResult(cursor=2)
    await sweep_outbox(engine, BatchInput())
    assert (await _indexed(engine), await _indexed(engine, "user:u2")) == ({"m1", "m2"}, {"m3"})
    another = ActivityEnvironment()
    another.info = ActivityEnvironment.default_info()
    engine.clock.time += timedelta(hours=25)  # type: ignore[attr-defined]
    assert (await another.run(compare_index, engine, BatchInput())).changed == 0


async def test_the_daily_comparison_drops_vectors_that_no_memory_uses(engine: Engine) -> None:
    """Kept by a text that was never written, or whose memory is gone; those of closed memories stay."""
    await _keep(engine, _old(1, id="m1"), _old(1, id="m2", status="expired"))

    def store(conn: Connection) -> list[str]:
        used = list(conn.execute(select(memory_rows.c.text_hash)).scalars())
        vector = np.ones(4, dtype=np.float32)
        embeddings.store(conn, 1, "m", dict.fromkeys([*used, "gone", "never"], vector))
        return used

    used = await engine.ledger.write(store)
    assert await engine.ledger.write(lambda conn: embeddings.purge_unused(conn, 1, 1)) == 1
    await ActivityEnvironment().run(compare_index, engine, BatchInput())
    left = await engine.ledger.read(lambda conn: embeddings.load(conn, [1], "m", [*used, "gone", "never"]))
    assert {text_hash for _, text_hash in left} == set(used)


# ---- the dispatcher ------------------------------------------------------------------------------------------------------


class Halting:
    """A projection that fails for some spaces and does the others."""

    def __init__(self, real: Projection, failing: set[int]) -> None:
        self._real, self.failing = real, failing
        self.tried: list[int] = []

    async def one_space(self, space_no: int | None = None) -> int | None:
        """Fail or do it."""
        self.tried.append(space_no or 0)
        if space_no in self.failing:
            raise IndexUnavailable("away")
        return await self._real.one_space(space_no)


def _dirty(engine: Engine) -> Callable[[], Any]:
    return lambda: engine.ledger.read(lambda conn: outbox.depth(conn)[0])


async def _make_dirty(engine: Engine, *names: str) -> None:
    for number, name in enumerate(names):

        def write(conn: Connection, name: str = name, number: int = number) -> None:
            no = spaces.lock(conn, TENANT, [name])[name].no
            memory_changes.insert_memory(conn, no, _old(1, id=f"d{number}", space=name), actor="test", why="set up")
            outbox.mark_dirty(conn, no, [f"d{number}"], spaces.bump(conn, no), NOW)

        await engine.ledger.write(write)


async def test_one_failing_space_does_not_hold_up_the_others(engine: Engine) -> None:
    """It is reported and stays dirty; the rest is done."""
    await _make_dirty(engine, "user:a", "user:b", "user:c")
    halting: Any = Halting(engine.projection, {1})
    swept = await sweep(halting, engine.ledger)
    assert (swept.applied, list(swept.failed), swept.spaces) == (2, [1], 3)
    assert await _dirty(engine)() == 1


async def test_the_dispatcher_catches_up_by_itself_and_ends_when_told(engine: Engine) -> None:
    """A space that failed is tried again, with longer and longer pauses, and done when the index is back."""
    await _make_dirty(engine, "user:a", "user:b")
    halting: Any = Halting(engine.projection, {1})
    stop = asyncio.Event()
    running = asyncio.create_task(dispatch_forever(halting, engine.ledger, stop, poll_s=0.01))
    await until(lambda: halting.tried.count(1) >= 3)
    assert await _dirty(engine)() == 1
    halting.failing.clear()

    async def is_clean() -> bool:
        return await _dirty(engine)() == 0

    await until(is_clean)
    stop.set()
    await asyncio.wait_for(running, 5)
    assert await _indexed(engine, "user:a") == {"d0"}


async def test_upkeep_reports_an_index_that_is_away(engine: Engine) -> None:
    """The activity fails, so that Temporal shows it and tries again."""
    await _make_dirty(engine, "user:a")
    await engine.index.close()
    with pytest.raises(Exception, match=r"index|closed"):
        await sweep_outbox(engine, BatchInput())


async def test_the_dispatcher_leaves_fresh_marks_to_the_reflection_that_made_them(engine: Engine) -> None:
    """Two that do the same at once only get into each other's way; what nobody did within a second is done."""
    await _make_dirty(engine, "user:a")
    just_made = await sweep(engine.projection, engine.ledger, before=NOW)
    assert (just_made.spaces, await _dirty(engine)()) == (0, 1)
    later = await sweep(engine.projection, engine.ledger, before=NOW + timedelta(seconds=1))
    assert (later.applied, await _dirty(engine)()) == (1, 0)


async def test_spaces_are_brought_up_to_date_together_and_given_back(engine: Engine) -> None:
    """Who comes at the same time waits and finds that all is done; no lease stays."""
    await _make_dirty(engine, "user:a", "user:b")
    both = await asyncio.gather(engine.projection.some_spaces([1, 2]), engine.projection.some_spaces([2, 1]))
    assert sorted(both, key=str) == [[1, 1], [None, None]]


async def test_a_space_that_another_process_holds_is_left_to_it(engine: Engine) -> None:
    """The other space is done."""
    await _make_dirty(engine, "user:a", "user:b")
    assert await engine.ledger.write(lambda conn: outbox.lease_space(conn, "another", NOW, 30, space_no=1)) is not None
    assert await engine.projection.some_spaces([1, 2]) == [None, 1]


async def test_an_index_that_is_away_leaves_marks_and_no_lease(engine: Engine) -> None:
    """Another process can go on at once."""
    await _make_dirty(engine, "user:a")
    await engine.index.close()
    with pytest.raises(Exception, match=r"index|closed"):
        await engine.projection.some_spaces([1])
    assert await engine.ledger.write(lambda conn: outbox.lease_space(conn, "another", NOW, 30)) is not None
