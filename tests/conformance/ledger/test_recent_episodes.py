"""What is remembered of an episode is given only for the row it was read with, within bounds."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection

from hindwise.errors import NotFound
from hindwise.ledger import episodes, intake, reflections
from hindwise.ledger.engine import Ledger
from hindwise.ledger.intake import Accepted
from hindwise.ledger.recent import RecentEpisodes
from hindwise.model.episode import Episode
from hindwise.model.reflection import ReflectionStatus
from tests.build import NOON, TENANT, make_episode, make_outcome, make_turn
from tests.conformance.ledger.conftest import RULES


def _keep(run_id: str, **values: Any) -> Callable[[Connection], Accepted]:
    episode = make_episode(run_id, **values)
    return lambda conn: intake.accept_run(conn, episode, RULES, recall_ids=[], now=NOON, keep_first=False)


def _load(episode_id: str, recent: RecentEpisodes | None) -> Callable[[Connection], Episode]:
    return lambda conn: episodes.load(conn, TENANT, episode_id, recent=recent)


async def test_the_next_step_gets_the_same_object_and_a_new_verdict_another(ledger: Ledger) -> None:
    recent = RecentEpisodes()
    accepted = await ledger.write(_keep("again"))
    first = await ledger.read(_load(accepted.episode_id, recent))
    assert await ledger.read(_load(accepted.episode_id, recent)) is first
    corrected = make_outcome("failure", source="env", note="金额不对: the amount is wrong")
    await ledger.write(lambda conn: intake.later_outcome(conn, TENANT, accepted.episode_id, corrected, RULES, NOON))
    after = await ledger.read(_load(accepted.episode_id, recent))
    assert after.outcome == corrected
    assert after.turns == first.turns


async def test_purged_turns_are_not_told_from_memory(ledger: Ledger) -> None:
    recent = RecentEpisodes()
    accepted = await ledger.write(_keep("purged"))
    assert (await ledger.read(_load(accepted.episode_id, recent))).turns

    def purge(conn: Connection) -> int:
        reflections.finish(conn, accepted.reflection_id, ReflectionStatus.COMPLETED, NOON)
        return episodes.purge_turns(conn, NOON + timedelta(days=9), NOON, 10)

    assert await ledger.write(purge) == 1
    assert (await ledger.read(_load(accepted.episode_id, recent))).turns == ()


async def test_an_episode_that_is_gone_is_not_found_though_it_is_remembered(ledger: Ledger) -> None:
    recent = RecentEpisodes()
    accepted = await ledger.write(_keep("here"))
    await ledger.read(_load(accepted.episode_id, recent))
    with pytest.raises(NotFound):
        await ledger.read(lambda conn: episodes.load(conn, "another", accepted.episode_id, recent=recent))


async def test_what_is_old_too_large_or_forgotten_is_read_again(ledger: Ledger) -> None:
    clock = [0.0]
    recent = RecentEpisodes(max_chars=10_000, max_age_s=60, now=lambda: clock[0])
    turn = make_turn("很长 long " * 100, seq=1)
    ids = [(await ledger.write(_keep(name, turns=(turn,)))).episode_id for name in ("a", "b")]
    huge = (await ledger.write(_keep("huge", turns=(make_turn("x" * 20_000, seq=1),)))).episode_id

    async def same(episode_id: str) -> bool:
        return await ledger.read(_load(episode_id, recent)) is await ledger.read(_load(episode_id, recent))

    assert [await same(episode_id) for episode_id in (*ids, huge)] == [True, True, False]
    known = await ledger.read(_load(ids[0], recent))
    clock[0] = 61.0
    assert await ledger.read(_load(ids[0], recent)) is not known
    known = await ledger.read(_load(ids[1], recent))
    recent.forget(ids[1])
    assert await ledger.read(_load(ids[1], recent)) is not known


async def test_the_oldest_makes_room(ledger: Ledger) -> None:
    recent = RecentEpisodes(max_chars=5_000)
    turn = make_turn("y" * 1_000, seq=1)
    ids = [(await ledger.write(_keep(f"room-{n}", turns=(turn,)))).episode_id for n in range(3)]
    first = await ledger.read(_load(ids[0], recent))
    for episode_id in ids[1:]:
        await ledger.read(_load(episode_id, recent))
    assert await ledger.read(_load(ids[0], recent)) is not first
