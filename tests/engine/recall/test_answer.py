"""The answer of a recall as a whole: bytes, budget, parts, log."""

import pytest

from hindwise.errors import InvalidInput, LedgerUnavailable, NotFound
from hindwise.ledger import recalls
from hindwise.model.memory import Kind, Retrospective
from tests.engine.recall.helpers import TENANT, apply_outbox, ask, fact, ids, keep, lesson


async def _some(engine) -> None:
    await keep(engine, "user:a", *(fact(f"The red boat number {n} lies at pier {n}") for n in range(12)))
    await keep(
        engine,
        "agent:x",
        lesson("When the boat leaks, pump first", retrospective=Retrospective(goal="keep the boat dry", next_time="check the pump")),
    )


async def test_the_same_question_gives_the_same_bytes(running) -> None:
    engine, recaller = running
    await _some(engine)
    first = await ask(recaller, "where is the red boat", user="a", agent="x")
    await apply_outbox(engine)
    second = await ask(recaller, "where is the red boat", user="a", agent="x")
    third = await ask(recaller, "where is the red boat", user="a", agent="x")
    assert first.brief
    assert second.brief == third.brief
    assert first.recall_id != second.recall_id


@pytest.mark.parametrize("budget", [50, 90, 200, 800])
async def test_the_brief_keeps_to_its_budget(running, budget: int) -> None:
    engine, recaller = running
    await _some(engine)
    answer = await ask(recaller, "where is the red boat", user="a", budget_tokens=budget)
    assert 0 < answer.tokens <= budget
    assert answer.brief.count("\n- ") == sum(item.tier != "dropped" for item in answer.items)


async def test_the_limit_bounds_the_items_and_the_brief_holds_eight(running) -> None:
    engine, recaller = running
    await _some(engine)
    assert len((await ask(recaller, "red boat pier", user="a", limit=2)).items) == 2
    many = await ask(recaller, "red boat pier", user="a", limit=50, budget_tokens=8_000)
    assert len(many.items) == 12
    assert sum(item.tier != "dropped" for item in many.items) == 8


async def test_parts_and_retrospectives_come_when_they_are_asked_for(running) -> None:
    engine, recaller = running
    await _some(engine)
    plain = (await ask(recaller, "the boat leaks", agent="x")).items[0]
    assert (plain.why, plain.retrospective) == (None, None)
    told = (await ask(recaller, "the boat leaks", agent="x", explain=True, include_retrospective=True)).items[0]
    assert told.retrospective_url == f"/v1/memories/{told.memory_id}"
    assert told.retrospective["next_time"] == "check the pump"
    assert told.why.score == pytest.approx(0.5 * told.why.relevance + 0.3 * told.why.importance * told.why.decay, abs=1e-3)


async def test_headings_follow_the_question_unless_a_language_is_named(running) -> None:
    engine, recaller = running
    await _some(engine)
    assert "[Lessons]" in (await ask(recaller, "the boat leaks", agent="x")).brief
    assert "[经验教训]" in (await ask(recaller, "the boat leaks", agent="x", lang="zh")).brief


async def test_an_event_is_told_when_it_is_asked_for_or_on_its_own_merit(running) -> None:
    engine, recaller = running
    [event] = await keep(engine, "user:a", fact("Sold the grey tractor to a neighbour", kind=Kind.EVENT))
    assert ids(await ask(recaller, "sold the grey tractor", user="a")) == [event]
    assert ids(await ask(recaller, "tractor", user="a", kinds=(Kind.EVENT,))) == [event]


async def test_every_recall_is_logged_with_its_session_and_what_was_told_without_secrets(running) -> None:
    engine, recaller = running
    await _some(engine)
    text = "where is the red boat, my key is sk-proj-a1b2c3d4e5f6g7h8"
    answer = await ask(recaller, text, user="a", session_id="s1", run_id="r1", limit=50)
    await recaller.flush()
    row = await engine.ledger.read(lambda conn: recalls.row_of(conn, TENANT, answer.recall_id))
    assert (row.user_id, row.session_id, row.run_id, row.degraded) == ("a", "s1", "r1", False)
    assert row.memory_ids == [item.memory_id for item in answer.items if item.tier != "dropped"]
    assert len(row.memory_ids) == 8
    assert "a1b2c3d4" not in row.query
    told = await engine.ledger.read(lambda conn: recalls.told_to_task(conn, TENANT, session_id="s1", run_id="", recall_ids=[], user_id="a"))
    assert told == set(row.memory_ids)


async def test_the_log_is_written_within_a_second_by_itself_and_at_closing(running) -> None:
    import asyncio

    engine, recaller = running
    first = await ask(recaller, "anything", user="a")
    for _ in range(100):
        try:
            await engine.ledger.read(lambda conn: recalls.row_of(conn, TENANT, first.recall_id))
            break
        except NotFound:
            await asyncio.sleep(0.05)
    else:
        pytest.fail("not logged within five seconds")
    last = await ask(recaller, "anything else", user="a")
    await recaller.close()
    await engine.ledger.read(lambda conn: recalls.row_of(conn, TENANT, last.recall_id))


async def test_a_log_that_fails_fails_no_recall_and_is_counted(running) -> None:
    _, recaller = running

    class DownLedger:
        async def write(self, work: object) -> None:
            raise LedgerUnavailable("down")

    recaller.log._ledger = DownLedger()
    assert (await ask(recaller, "anything", user="a")).recall_id
    await recaller.close()
    assert recaller.log.lost == 1


async def test_rows_that_the_database_refuses_do_not_hold_up_the_others(running) -> None:
    engine, recaller = running
    recaller.log.add({"id": "r-bad", "tenant_id": None, "user_id": "a", "agent_id": "", "query": "?", "at": engine.clock.now()}, 0)
    await recaller.flush()
    answer = await ask(recaller, "anything", user="a")
    await recaller.flush()
    assert recaller.log.lost == 1
    await engine.ledger.read(lambda conn: recalls.row_of(conn, TENANT, answer.recall_id))


async def test_a_question_without_an_owner_is_refused(running) -> None:
    _, recaller = running
    with pytest.raises(InvalidInput, match="user_id"):
        await ask(recaller, "anything")


@pytest.mark.parametrize("text", ["   ", "\x00", "？？？", "the of and", "a" * 8_000, "退" * 8_000])
async def test_odd_questions_are_answered(running, text: str) -> None:
    engine, recaller = running
    await _some(engine)
    assert (await ask(recaller, text, user="a")).timings["total"] > 0
