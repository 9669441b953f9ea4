"""Turns are numbered once, known by their id, and never rewritten."""

import asyncio

import pytest

from hindwise.errors import NotFound, SessionOwner, TurnConflict
from hindwise.ledger import sessions
from tests.build import NOON, TENANT, make_call, make_turn

SECRET = b"secret"


def record(*turns, user="u1", agent="", session="s1"):
    def work(conn):
        row = sessions.lock_or_open(conn, SECRET, TENANT, session, user, agent, NOON)
        return sessions.record_turns(conn, row, turns, NOON)

    return work


async def test_the_same_turn_sent_ten_times_at_once_gives_one_turn(ledger):
    results = await asyncio.gather(*(ledger.write(record(make_turn("hi", turn_id="a"))) for _ in range(10)))
    assert sorted(result.recorded for result in results) == [0] * 9 + [1]
    assert len(await ledger.read(lambda conn: sessions.turns_of(conn, TENANT, "s1", 1, 99))) == 1


async def test_the_same_id_with_other_content_is_a_conflict_and_keeps_the_first(ledger):
    await ledger.write(record(make_turn("first", turn_id="a")))
    with pytest.raises(TurnConflict) as caught:
        await ledger.write(record(make_turn("new", turn_id="b"), make_turn("second", turn_id="a")))
    assert caught.value.extra == {"conflicts": ["a"]}
    kept = await ledger.read(lambda conn: sessions.turns_of(conn, TENANT, "s1", 1, 99))
    assert [turn.content for turn in kept] == ["first"]


async def test_one_id_twice_in_one_batch_with_other_content_is_a_conflict(ledger):
    with pytest.raises(TurnConflict):
        await ledger.write(record(make_turn("one", turn_id="a"), make_turn("two", turn_id="a")))


async def test_every_field_of_a_turn_comes_back(ledger):
    turn = make_turn("查一下 ☃", role="assistant", participant="bot", name="n", tool_calls=(make_call("look_up", id=7, nested={"a": [1]}),))
    await ledger.write(record(turn))
    (kept,) = await ledger.read(lambda conn: sessions.turns_of(conn, TENANT, "s1", 1, 1))
    assert kept == turn


async def test_a_session_belongs_to_the_first_who_used_it(ledger):
    await ledger.write(record(make_turn()))
    with pytest.raises(SessionOwner):
        await ledger.write(record(make_turn(turn_id="x"), user="u2"))
    with pytest.raises(SessionOwner):
        await ledger.write(record(make_turn(turn_id="x"), agent="another"))


async def test_turns_are_numbered_without_gaps_over_batches(ledger):
    first = await ledger.write(record(make_turn(turn_id="a"), make_turn(turn_id="b")))
    second = await ledger.write(record(make_turn(turn_id="b"), make_turn(turn_id="c")))
    assert (first.first_seq, first.last_seq) == (1, 2)
    assert (second.first_seq, second.last_seq, second.recorded, second.duplicates) == (3, 3, 1, 1)


async def test_a_turn_after_closing_opens_the_session_again(ledger):
    recorded = await ledger.write(record(make_turn(turn_id="a")))
    await ledger.write(lambda conn: sessions.close(conn, recorded.session, NOON))
    assert (await ledger.write(record(make_turn(turn_id="b")))).session.state == "open"


async def test_what_recording_tells_of_the_session_is_what_the_ledger_has(ledger):
    first = await ledger.write(record(make_turn("你好", turn_id="a")))
    assert first.session == await ledger.read(lambda conn: sessions.find(conn, TENANT, "s1"))
    await ledger.write(lambda conn: sessions.set_checkpoint(conn, first.session, {"done": "查过了"}))
    await ledger.write(lambda conn: sessions.close(conn, first.session, NOON))
    second = await ledger.write(record(make_turn(turn_id="b"), make_turn(turn_id="c")))
    assert second.session == await ledger.read(lambda conn: sessions.find(conn, TENANT, "s1"))
    assert (second.session.last_seq, second.session.checkpoint, second.session.closed_at) == (3, {"done": "查过了"}, None)


async def test_unseen_turns_are_found_until_the_workflow_has_them(ledger):
    recorded = await ledger.write(record(make_turn(turn_id="a")))
    later = NOON.replace(hour=13)
    assert [row.session_id for row in await ledger.read(lambda conn: sessions.unseen(conn, later, 10))] == ["s1"]
    await ledger.write(lambda conn: sessions.mark_seen(conn, recorded.session.handle, recorded.last_seq))
    assert await ledger.read(lambda conn: sessions.unseen(conn, later, 10)) == []


async def test_an_unknown_session_says_what_to_do(ledger):
    with pytest.raises(NotFound, match="record a turn first"):
        await ledger.write(lambda conn: sessions.lock(conn, TENANT, "nope"))
