"""What enters is accepted once: episodes are cut once, reflections queued once, later verdicts replace."""

import asyncio
from datetime import timedelta

import pytest

from hindwise.errors import EpisodeConflict, NotFound
from hindwise.ledger import episodes, intake, reflections, sessions
from hindwise.model.reflection import ReflectionStatus
from tests.build import NOON, TENANT, make_episode, make_outcome, make_turn, make_turns
from tests.conformance.ledger.conftest import RULES

SECRET = b"secret"


def accept(episode, *, keep_first=True):
    return lambda conn: intake.accept_run(conn, episode, RULES, recall_ids=[], now=NOON, keep_first=keep_first)


def complete(outcome=None, *, close=False, goal="refund"):
    def work(conn):
        row = sessions.lock(conn, TENANT, "s1")
        return intake.complete_task(conn, row, RULES, goal=goal, outcome=outcome or make_outcome(), recall_ids=[], close=close, now=NOON)

    return work


def record(*turn_ids):
    def work(conn):
        row = sessions.lock_or_open(conn, SECRET, TENANT, "s1", "u1", "", NOON)
        sessions.record_turns(conn, row, [make_turn(f"words of {name}", turn_id=name) for name in turn_ids], NOON)

    return work


async def test_a_run_sent_ten_times_at_once_is_one_episode_and_one_reflection(ledger):
    results = await asyncio.gather(*(ledger.write(accept(make_episode())) for _ in range(10)))
    assert len({(r.episode_id, r.reflection_id) for r in results}) == 1
    assert sorted(r.duplicate for r in results) == [False] + [True] * 9
    assert await ledger.read(lambda conn: reflections.count_by_status(conn, TENANT)) == {"queued": 1}


async def test_a_known_run_with_another_body_keeps_the_first_and_says_so(ledger):
    await ledger.write(accept(make_episode(goal="first")))
    again = await ledger.write(accept(make_episode(goal="second")))
    assert (again.duplicate, again.differs) == (True, True)
    kept = await ledger.read(lambda conn: episodes.load(conn, TENANT, again.episode_id))
    assert kept.goal == "first"
    with pytest.raises(EpisodeConflict, match="outcome"):
        await ledger.write(accept(make_episode(goal="second"), keep_first=False))


async def test_an_episode_comes_back_whole(ledger):
    episode = make_episode(goal="退款", inputs={"单号": 1}, agent_id="a1", turns=make_turns(("user", "你好"), ("assistant", "好的")))
    accepted = await ledger.write(accept(episode))
    assert await ledger.read(lambda conn: episodes.load(conn, TENANT, accepted.episode_id)) == episode


async def test_tasks_of_a_session_are_cut_where_they_end(ledger):
    await ledger.write(record("a", "b"))
    first = await ledger.write(complete())
    await ledger.write(record("c"))
    second = await ledger.write(complete())
    one = await ledger.read(lambda conn: episodes.load(conn, TENANT, first.episode_id))
    two = await ledger.read(lambda conn: episodes.load(conn, TENANT, second.episode_id))
    assert [[turn.turn_id for turn in episode.turns] for episode in (one, two)] == [["a", "b"], ["c"]]


async def test_completing_twice_is_one_episode(ledger):
    await ledger.write(record("a"))
    first, second = await ledger.write(complete()), await ledger.write(complete())
    assert (first.episode_id, first.reflection_id, first.duplicate) == (second.episode_id, second.reflection_id, False)
    assert second.duplicate


async def test_completing_again_with_another_verdict_corrects_it(ledger):
    await ledger.write(record("a"))
    first = await ledger.write(complete(make_outcome("success", "user")))
    second = await ledger.write(complete(make_outcome("failure", "user")))
    assert second.episode_id == first.episode_id
    assert second.reflection_id != first.reflection_id


async def test_a_verdict_after_the_end_is_about_the_last_task_whatever_the_callers_clock_said(ledger):
    await ledger.write(record("a"))
    await ledger.write(complete())

    def earlier_by_its_clock(conn):
        row = sessions.lock(conn, TENANT, "s1")
        sessions.record_turns(conn, row, [make_turn("words", turn_id="b", occurred_at=NOON - timedelta(hours=3))], NOON)

    await ledger.write(earlier_by_its_clock)
    second = await ledger.write(complete(make_outcome("success", "user")))
    corrected = await ledger.write(complete(make_outcome("failure", "user")))
    assert corrected.episode_id == second.episode_id


async def test_completing_a_session_without_turns_says_what_to_do(ledger):
    with pytest.raises(NotFound, match="record a turn first"):
        await ledger.write(complete())


async def test_a_stronger_verdict_replaces_a_weaker_one_does_not(ledger):
    accepted = await ledger.write(accept(make_episode(outcome=make_outcome("success", "user"))))

    def later(outcome):
        return lambda conn: intake.later_outcome(conn, TENANT, accepted.episode_id, outcome, RULES, NOON + timedelta(days=2))

    weaker = await ledger.write(later(make_outcome("failure", "rule")))
    assert (weaker.duplicate, weaker.differs, weaker.reflection_id) == (True, True, accepted.reflection_id)
    stronger = await ledger.write(later(make_outcome("failure", "env", note="the order was not refunded")))
    assert not stronger.duplicate
    row = await ledger.read(lambda conn: reflections.row_of(conn, stronger.reflection_id))
    assert (row.run_number, row.replaces, row.reason) == (1, accepted.reflection_id, "the outcome was corrected: success -> failure")
    history = await ledger.read(lambda conn: episodes.verdicts(episodes.row_of(conn, TENANT, accepted.episode_id)))
    assert [(v.outcome.source, v.accepted) for v in history] == [("user", True), ("rule", False), ("env", True)]


async def test_a_final_reflection_is_never_started_again(ledger):
    accepted = await ledger.write(accept(make_episode()))
    assert await ledger.write(lambda conn: reflections.set_running(conn, accepted.reflection_id, "gather", NOON))
    await ledger.write(lambda conn: reflections.finish(conn, accepted.reflection_id, ReflectionStatus.COMPLETED, NOON))
    assert not await ledger.write(lambda conn: reflections.set_running(conn, accepted.reflection_id, "gather", NOON))
    again = await ledger.write(accept(make_episode()))
    assert (again.reflection_id, again.status) == (accepted.reflection_id, "completed")


async def test_a_queued_reflection_waits_for_the_sweep_until_it_is_dispatched(ledger):
    accepted = await ledger.write(accept(make_episode()))
    soon, late = NOON + timedelta(seconds=10), NOON + timedelta(minutes=10)

    def waiting(now):
        return lambda conn: [row.id for row in reflections.waiting(conn, now, now - timedelta(seconds=5), now - timedelta(minutes=5), 10)]

    assert await ledger.read(waiting(soon)) == [accepted.reflection_id]
    await ledger.write(lambda conn: reflections.set_dispatched(conn, accepted.reflection_id, NOON))
    assert await ledger.read(waiting(soon)) == []
    assert await ledger.read(waiting(late)) == [accepted.reflection_id]


async def test_turns_are_purged_after_their_time_but_not_under_an_open_reflection(ledger):
    accepted = await ledger.write(accept(make_episode()))
    after = NOON + timedelta(days=40)
    purge = lambda conn: episodes.purge_turns(conn, NOON + timedelta(days=1), after, 100)  # noqa: E731
    assert await ledger.write(purge) == 0
    await ledger.write(lambda conn: reflections.finish(conn, accepted.reflection_id, ReflectionStatus.COMPLETED, NOON))
    assert await ledger.write(purge) == 1
    assert (await ledger.read(lambda conn: episodes.load(conn, TENANT, accepted.episode_id))).turns == ()


async def test_a_running_reflection_that_nobody_was_told_of_for_long_is_found_once_per_limit(ledger):
    accepted = await ledger.write(accept(make_episode()))
    waits_for_a_person = await ledger.write(accept(make_episode("r2")))
    for found in (accepted, waits_for_a_person):
        await ledger.write(lambda conn, at=found.reflection_id: reflections.set_running(conn, at, "reflect", NOON))
    await ledger.write(lambda conn: reflections.set_parked(conn, waits_for_a_person.reflection_id, "LLM_API_KEY is refused"))

    def stalled(minutes):
        return lambda conn: [row.id for row in reflections.stalled(conn, NOON + timedelta(minutes=minutes - 15), 10)]

    assert await ledger.read(stalled(14)) == []
    assert await ledger.read(stalled(16)) == [accepted.reflection_id]
    await ledger.write(lambda conn: reflections.set_dispatched(conn, accepted.reflection_id, NOON + timedelta(minutes=16)))
    assert await ledger.read(stalled(30)) == []
    assert await ledger.read(stalled(32)) == [accepted.reflection_id]
    await ledger.write(
        lambda conn: reflections.finish(conn, accepted.reflection_id, ReflectionStatus.COMPLETED, NOON + timedelta(minutes=33))
    )
    assert await ledger.read(stalled(60)) == []
