"""What two processes do in the same moment ends as if one had come after the other. Two ledgers of one database stand for them."""

import asyncio
import threading
import time
from datetime import timedelta
from types import SimpleNamespace

import pytest
from sqlalchemy import func, select

from api.bootstrap import ensure_first_key
from hindwise.errors import SessionOwner
from hindwise.ledger import (
    attempts,
    episodes,
    erasure,
    erasures,
    generations,
    idempotency,
    intake,
    keys,
    leases,
    memory_erasure,
    outbox,
    recalls,
    sessions,
)
from hindwise.ledger import memories as memories_of
from hindwise.ledger.generations import Spec
from hindwise.ledger.schema import api_keys, memories, turns
from hindwise.ledger.schema import reflections as reflection_rows
from hindwise.model.memory import Status
from hindwise.model.reflection import Answer
from hindwise.testing import FixedClock
from tests.build import NOON, TENANT, make_draft, make_episode, make_evidence, make_outcome, make_turn
from tests.conformance.ledger.conftest import RULES
from tests.conformance.ledger.test_resolution import resolve

SECRET = b"secret"


@pytest.fixture
async def two(open_ledger):
    return await open_ledger(), await open_ledger()


async def both(two, *works):
    """Run each unit of work on either ledger, all at once; results or errors in order."""
    return await asyncio.gather(*(which.write(work) for work in works for which in two), return_exceptions=True)


def record(user, *turn_ids):
    def work(conn):
        row = sessions.lock_or_open(conn, SECRET, TENANT, "s1", user, "", NOON)
        return sessions.record_turns(conn, row, [make_turn(f"words of {name}", turn_id=name) for name in turn_ids], NOON)

    return work


async def test_turns_of_one_session_are_numbered_without_gap_or_double(two):
    results = await both(two, *(record("u1", f"a{n}", f"b{n}") for n in range(15)))
    assert sum(result.recorded for result in results) == 30
    seqs = await two[0].read(lambda conn: conn.execute(select(turns.c.seq).order_by(turns.c.seq)).scalars().all())
    assert list(seqs) == list(range(1, 31))


async def test_of_two_users_who_open_one_session_one_owns_it(two):
    ours, theirs = await asyncio.gather(two[0].write(record("u1", "a")), two[1].write(record("u2", "b")), return_exceptions=True)
    assert sorted(isinstance(result, SessionOwner) for result in (ours, theirs)) == [False, True]
    assert await two[0].read(lambda conn: conn.execute(select(func.count()).select_from(turns)).scalar_one()) == 1


async def test_a_task_completed_many_times_at_once_is_one_episode(two):
    await two[0].write(record("u1", "a"))

    def complete(conn):
        row = sessions.lock(conn, TENANT, "s1")
        return intake.complete_task(conn, row, RULES, goal="退款", outcome=make_outcome(), recall_ids=[], close=True, now=NOON)

    results = await both(two, *[complete] * 6)
    assert len({(result.episode_id, result.reflection_id) for result in results}) == 1
    assert sum(not result.duplicate for result in results) == 1


async def test_a_run_sent_with_two_bodies_at_once_keeps_the_first_and_tells_the_other(two):
    def accept(goal):
        return lambda conn: intake.accept_run(conn, make_episode(goal=goal), RULES, recall_ids=[], now=NOON, keep_first=True)

    results = await both(two, *(accept(goal) for goal in ("first", "second") * 4))
    kept = await two[0].read(lambda conn: episodes.load(conn, TENANT, results[0].episode_id))
    assert len(kept.turns) == 2
    assert sum(not result.duplicate for result in results) == 1
    assert sum(result.differs for result in results) == 8


async def test_verdicts_that_come_at_once_are_numbered_and_the_newest_replaces_all(two):
    accepted = await two[0].write(lambda conn: intake.accept_run(conn, make_episode(), RULES, recall_ids=[], now=NOON, keep_first=True))

    def verdict(n):
        outcome = make_outcome("failure" if n % 2 else "success", "env", note=f"正确 {n}")
        return lambda conn: intake.later_outcome(conn, TENANT, accepted.episode_id, outcome, RULES, NOON + timedelta(minutes=n))

    await asyncio.gather(*(two[n % 2].write(verdict(n)) for n in range(10)))
    query = select(reflection_rows.c.run_number, reflection_rows.c.replaces, reflection_rows.c.id).order_by(reflection_rows.c.run_number)
    rows = await two[0].read(lambda conn: conn.execute(query).all())
    assert [row.run_number for row in rows] == list(range(11))
    assert [row.replaces for row in rows] == ["", *(row.id for row in rows[:-1])]
    told = await two[0].read(lambda conn: episodes.verdicts(episodes.row_of(conn, TENANT, accepted.episode_id)))
    assert len(told) == 11


async def test_a_use_and_a_verdict_on_a_memory_count_once_however_often_they_come(two):
    [decision] = await two[0].write(resolve("r1", make_draft("window")))
    one = [decision.memory_id]
    await both(two, *[lambda conn: recalls.credit_use(conn, TENANT, "e1", one, "success", NOON)] * 4)
    await both(two, *[lambda conn: recalls.feedback(conn, TENANT, "q1", one, "helpful", "", NOON)] * 4)
    await both(two, *[lambda conn: recalls.feedback(conn, TENANT, "q1", one, "harmful", "", NOON)] * 4)
    row = await two[0].read(lambda conn: conn.execute(select(memories)).one())
    assert (row.hits, row.helpful, row.harmful) == (1, 0, 1)


async def test_a_draft_attempt_is_stored_once_and_the_others_are_told(two):
    accepted = await two[0].write(lambda conn: intake.accept_run(conn, make_episode(), RULES, recall_ids=[], now=NOON, keep_first=True))
    attempt = attempts.Attempt(0, "rules", "rules", Answer(), "", None)
    stored = await both(two, *[lambda conn: attempts.store(conn, accepted.reflection_id, attempt, NOON)] * 4)
    assert sorted(stored) == [False] * 7 + [True]


async def test_two_dispatchers_never_lease_one_space_and_let_go_of_none(two):
    for n in range(6):
        await two[0].write(resolve(f"r{n}", make_draft("window"), space=f"user:u{n}"))

    def lease(holder):
        return lambda conn: outbox.lease_space(conn, holder, NOON, 30)

    found = await asyncio.gather(*(two[n % 2].write(lease(f"h{n}")) for n in range(6)))
    # One that met another's lock in the same moment may come away with nothing; a lease is never given twice.
    leased = [lease.space_no for lease in found if lease is not None]
    assert len(leased) == len(set(leased)) >= 2
    rest = [await two[0].write(lease("later")) for _ in range(6 - len(leased))]
    assert len({*leased, *(lease.space_no for lease in rest if lease)}) >= len(leased)


async def test_one_takes_a_named_lease_and_one_first_key_is_kept(two):
    taken = await asyncio.gather(
        *(two[n % 2].write(lambda conn, n=n: leases.take(conn, "sweep", f"holder {n}", NOON, 30)) for n in range(8))
    )
    assert sum(taken) == 1

    def admit(conn):
        return keys.find(conn, "hw_one") or keys.add(conn, TENANT, "first", ["admin"], NOON, "hw_one")

    assert len({found.id for found in await both(two, *[admit] * 4)}) == 1
    assert await two[0].read(lambda conn: conn.execute(select(func.count()).select_from(api_keys)).scalar_one()) == 1


async def test_one_index_is_live_however_many_begin(two):
    begun = await both(two, *[lambda conn: generations.ensure_live(conn, "embedded", Spec("m", 8, 1), NOON)] * 3)
    assert len({generation.no for generation in begun}) == 1


async def test_the_first_answer_under_a_key_stays(two):
    def keep(n):
        return lambda conn: idempotency.keep(conn, TENANT, "k", "/v1", "digest", 200, {"n": n}, NOON)

    await asyncio.gather(*(two[n % 2].write(keep(n)) for n in range(8)))
    first = await two[0].write(lambda conn: idempotency.begin(conn, TENANT, "k", "digest", NOON))
    again = await two[1].write(lambda conn: idempotency.begin(conn, TENANT, "k", "digest", NOON))
    assert first == again


async def test_a_memory_erased_while_it_is_confirmed_and_superseded_leaves_one_head_or_none(two):
    for n in range(8):
        space, seat = f"user:u{n}", make_draft("window", evidence=(make_evidence("e1"),))
        [decision] = await two[0].write(resolve(f"first-{n}", seat, space=space))
        await asyncio.gather(
            two[0].write(lambda conn, at=decision.memory_id: memory_erasure.erase(conn, TENANT, at, NOON)),
            two[1].write(resolve(f"same-{n}", make_draft("window", evidence=(make_evidence("e2"),)), day=1, space=space)),
            two[1].write(resolve(f"other-{n}", make_draft("aisle"), day=2, space=space)),
        )
        rows = await two[0].read(lambda conn, of=space: conn.execute(select(memories).where(memories.c.space == of)).all())
        assert decision.memory_id not in {row.id for row in rows}
        assert [row.status for row in rows if row.head] == [str(Status.ACTIVE)]
        assert all(row.superseded_by != decision.memory_id for row in rows)


@pytest.mark.parametrize("said", ["window seats", "靠窗的座位"])
async def test_who_repeats_a_statement_while_a_page_of_an_erasure_takes_it_begins_it_anew(two, said):
    seat = make_draft(said, evidence=(make_evidence("e1"),))
    [first] = await two[0].write(resolve("first", seat))
    asked = await two[1].write(lambda conn: erasures.request(conn, "gone", TENANT, "u1", "hash", "test", NOON))
    await two[1].write(lambda conn: erasure.begin(conn, asked.id, NOON))
    taken = threading.Event()

    def page(conn):
        erasure.memories_page(conn, asked.id)
        taken.set()
        time.sleep(0.3)  # who does not wait has looked for what it repeats by then

    def repeat(conn):
        [again] = resolve("again", seat, day=1)(conn)
        return again.action, memories_of.load(conn, TENANT, again.memory_id)[0]

    erasing = asyncio.create_task(two[1].write(page))
    assert await asyncio.to_thread(taken.wait, 10)
    action, kept = await two[0].write(repeat)
    await erasing
    assert (action, kept.status) == ("add", Status.ACTIVE)
    assert kept.id != first.memory_id


async def test_of_machines_that_start_at_once_one_makes_the_first_key(open_ledger, ledger_url, tmp_path):
    """Each has a data directory of its own, so each has made a key before it asks the ledger; the others keep none."""
    opened = [await open_ledger() for _ in range(6)]
    engines = []
    for number, ledger in enumerate(opened):
        data = tmp_path / f"machine-{number}"
        data.mkdir()
        settings = SimpleNamespace(data=data, tenant=TENANT)
        engines.append(SimpleNamespace(settings=settings, ledger=ledger, clock=FixedClock()))
    found = await asyncio.gather(*(ensure_first_key(engine) for engine in engines))
    assert await opened[0].read(keys.count) == 1
    [(first, key)] = [(number, key) for number, key in enumerate(found) if key]
    assert [engine.settings.data.joinpath("api_key").exists() for engine in engines] == [number == first for number in range(6)]
    assert str(engines[first].settings.data) in await opened[0].read(keys.first_lies_at)
    assert await opened[0].read(lambda conn: keys.find(conn, key))
    assert [await ensure_first_key(engine) for engine in engines] == found, "and the next start changes nothing"
