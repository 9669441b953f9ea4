"""What is remembered of an episode is given only for the row it was read with, within bounds."""

import gc
import weakref
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Connection

from hindwise.errors import NotFound
from hindwise.index.erased import Forgetting
from hindwise.ledger import episodes, erasure, erasures, intake, outbox, reflections
from hindwise.ledger.engine import Ledger
from hindwise.ledger.intake import Accepted
from hindwise.ledger.recent import RecentEpisodes
from hindwise.model.episode import Episode
from hindwise.model.reflection import ReflectionStatus
from hindwise.testing import FixedClock
from hindwise.text.remembered import remembered
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


async def _wipe(ledger: Ledger, erasure_id: str, now: datetime) -> None:
    def wipe(conn: Connection) -> None:
        erasures.request(conn, erasure_id, TENANT, "u1", "hash", "test", now)
        this = erasure.begin(conn, erasure_id, now)
        outbox.lease_named(conn, "eraser", now, 30, this.space_no or 0)
        erasure.wipe(conn, erasure_id, "eraser", now, {})

    await ledger.write(wipe)


async def test_of_an_erased_user_nothing_stays_in_the_memory_of_another_process(open_ledger: Callable[[], Awaitable[Ledger]]) -> None:
    """Nobody asks there any more, so nobody else would notice; other users' episodes stay."""
    one, other = await open_ledger(), await open_ledger()
    recent = RecentEpisodes()
    mine = await one.write(_keep("mine", user_id="u1"))
    theirs = await one.write(_keep("theirs", user_id="u2"))
    words = weakref.ref(await other.read(_load(mine.episode_id, recent)))
    kept = await other.read(_load(theirs.episode_id, recent))
    await recent.clean(other)
    assert words() is not None
    await _wipe(one, "e1", NOON)
    with pytest.raises(NotFound):
        await other.read(_load(mine.episode_id, recent))
    await recent.clean(other)
    gc.collect()
    assert words() is None
    assert await other.read(_load(theirs.episode_id, recent)) is kept


async def test_words_whose_reading_a_process_remembers_are_forgotten_after_an_erasure_and_kept_else(ledger: Ledger) -> None:
    read = []
    reading = remembered(8)(read.append)
    forgetting = Forgetting(ledger, _NoIndex(), FixedClock(NOON))
    for _ in range(3):
        await forgetting.look()
    reading("my own words 我的话")
    await forgetting.look()
    reading("my own words 我的话")
    assert len(read) == 1
    await _wipe(ledger, "e1", NOON)
    await forgetting.look()
    reading("my own words 我的话")  # somebody was at it in this moment
    await forgetting.look()
    reading("my own words 我的话")
    assert len(read) == 3
    await forgetting.look()
    reading("my own words 我的话")
    assert len(read) == 3, "and not for ever"


class _NoIndex:
    """Remembers nothing."""

    async def forget(self, names: Sequence[str]) -> None:
        """Nothing to do."""


async def test_a_user_who_comes_back_with_the_same_run_gets_nothing_of_before(ledger: Ledger) -> None:
    """The same ids, other words: what is remembered of before is not given, also before it is forgotten."""
    recent = RecentEpisodes()
    first = await ledger.write(_keep("again", user_id="u1", turns=(make_turn("the erased words 被删的话"),)))
    assert "erased" in (await ledger.read(_load(first.episode_id, recent))).turns[0].content
    await _wipe(ledger, "e1", NOON)
    again = await ledger.write(_keep("again", user_id="u1", turns=(make_turn("new words 新的话"),)))
    assert again.episode_id == first.episode_id
    assert "erased" not in (await ledger.read(_load(again.episode_id, recent))).turns[0].content


async def test_what_grew_old_is_forgotten_also_where_nobody_asks_for_anything(ledger: Ledger) -> None:
    now = [0.0]
    recent = RecentEpisodes(max_age_s=10, now=lambda: now[0])
    accepted = await ledger.write(_keep("old"))
    words = weakref.ref(await ledger.read(_load(accepted.episode_id, recent)))
    now[0] = 11
    await recent.clean(ledger)
    await ledger.read(outbox.depth)  # a thread holds its last answer until the next question
    gc.collect()
    assert words() is None
