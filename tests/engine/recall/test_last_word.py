"""The ledger has the last word: whatever an index still holds, what no longer stands is not told."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from hindwise.ledger import outbox, spaces
from hindwise.ledger.prepared import Prepared
from hindwise.model.memory import Kind, Status
from hindwise.recall import queries, standing
from hindwise.recall.recall import Recaller
from hindwise.recall.remember import forget
from tests.engine.recall import pinned
from tests.engine.recall.helpers import apply_outbox, ask, conclusions, fact, ids, keep, lesson


def answers(style: str, **more):
    return fact(f"Prefers {style} answers", kind=Kind.PREFERENCE, subject="user", attribute="answer style", value=style, **more)


async def test_a_superseded_value_is_never_told_though_the_index_still_holds_it(running) -> None:
    engine, recaller = running
    [old] = await keep(engine, "user:a", answers("concise"))
    await apply_outbox(engine)
    engine.clock.advance(days=3)
    [new] = await keep(engine, "user:a", answers("detailed"))
    assert old in await engine.index.ids("default/user:a"), "the precondition: nobody has told the index"
    answer = await ask(recaller, "how should answers be: concise?", user="a")
    assert ids(answer) == [new]
    assert "before: concise" in answer.brief
    assert "since 4 May 2026" in answer.brief


async def test_the_hint_of_a_changed_value_comes_in_the_askers_language(running) -> None:
    engine, recaller = running
    for style in ("简洁", "详细"):
        await keep(engine, "user:a", fact(f"喜欢{style}的回答", kind=Kind.PREFERENCE, attribute="回答风格", value=style))
        engine.clock.advance(days=1)
    brief = (await ask(recaller, "用户喜欢怎样的回答", user="a")).brief
    assert "[用户偏好]" in brief
    assert "此前：简洁" in brief


class Overtaken:
    """An index on a server that something overtakes while it is asked."""

    def __init__(self, index, happens: Callable[[], Awaitable[object]]) -> None:
        self._index, self._happens = index, happens

    async def candidates(self, *asked, **more):
        found = await self._index.candidates(*asked, **more)
        await self._happens()
        return found


def overtaken(engine, happens: Callable[[], Awaitable[object]]) -> Recaller:
    """A recaller whose index has the time that this takes on a loaded machine: one that is given up answers as if it had not happened."""
    patient = engine.settings.model_copy(update={"index_timeout_s": 20.0})
    return Recaller(replace(engine, index=Overtaken(engine.index, happens), settings=patient))


@pytest.mark.parametrize("question", ["how should answers be: concise?", "今天天气怎么样"], ids=["found too", "standing alone"])
async def test_what_stood_when_the_index_was_asked_is_told_as_it_stands_when_it_answers(running, question) -> None:
    """A preference that changes in that moment is told once, as the new one, and a deleted one not at all."""
    engine, recaller = running
    [old] = await keep(engine, "user:a", answers("concise"))
    await apply_outbox(engine)
    engine.clock.advance(days=3)
    changing = overtaken(engine, lambda: keep(engine, "user:a", answers("detailed")))
    overtaken_by = ids(await ask(changing, question, user="a"))
    assert old not in overtaken_by
    await apply_outbox(engine)
    [new] = ids(await ask(recaller, question, user="a"))
    assert overtaken_by == [new]
    deleting = overtaken(engine, lambda: forget(engine, "default", new))
    assert ids(await ask(deleting, question, user="a")) == []
    for one in (changing, deleting):
        await one.close()


async def test_finds_and_what_stands_are_read_in_one_statement(running, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two statements each sees its own moment on Postgres. Of all three sorts that stand, in both languages, none is asked for twice."""
    engine, recaller = running
    await pinned.fill(engine)
    read: list[Prepared] = []
    looks: list[int] = []
    rows, look = Prepared.rows, queries.rows_and_standing

    def noted(self, conn, values):
        read.append(self)
        return rows(self, conn, values)

    def counted(*asked):
        looks.append(1)
        return look(*asked)

    for text in ("Where is the camera booking near the window", "港口酒店的预算是多少，火车座位靠窗吗"):
        await ask(recaller, text, user="a", agent="x")
        with monkeypatch.context() as patch:
            patch.setattr(Prepared, "rows", noted)
            patch.setattr(queries, "rows_and_standing", counted)
            answer = await ask(recaller, text, user="a", agent="x", explain=True)
        assert any(item.why.standing for item in answer.items)
        by_id = [one for one in read if one in (queries._BY_IDS, queries._BY_IDS_WITH_VECTORS)]
        assert len(by_id) == len(looks) > 0, "one each time the finds are looked at"
        assert standing._STANDING not in read
        read.clear()
        looks.clear()


async def test_an_older_fact_that_came_late_is_not_told(running) -> None:
    engine, recaller = running
    now = engine.clock.now()
    [new] = await keep(engine, "user:a", answers("detailed", valid_from=now))
    await keep(engine, "user:a", answers("concise", valid_from=now - timedelta(days=9)))
    assert ids(await ask(recaller, "answers", user="a")) == [new]


async def test_what_has_expired_is_not_told_though_upkeep_has_not_come_by(running) -> None:
    engine, recaller = running
    event = fact("Booked the harbour hotel", kind=Kind.EVENT)
    [memory_id] = await keep(engine, "user:a", event)
    assert ids(await ask(recaller, "harbour hotel booked", user="a")) == [memory_id]
    engine.clock.advance(days=31)
    assert ids(await ask(recaller, "harbour hotel booked", user="a")) == []


async def test_what_was_forgotten_is_gone_from_ledger_and_index_at_once(running) -> None:
    engine, recaller = running
    kept, gone = await keep(engine, "user:a", fact("The boat is called Swift"), fact("The boat motor is a Volvo"))
    await apply_outbox(engine)
    assert await forget(engine, "default", gone) == "user:a"
    assert await engine.index.ids("default/user:a") == {kept}
    assert conclusions(await ask(recaller, "boat motor", user="a", kinds=(Kind.FACT,))) in ([], ["The boat is called Swift"])


async def test_a_space_that_another_writes_is_left_to_it_when_a_memory_is_forgotten(running) -> None:
    """With its last memory a space goes from a server, and what the other wrote in that moment would go with it."""
    engine, recaller = running
    [gone] = await keep(engine, "user:a", fact("船的马达是沃尔沃的: the boat motor is a Volvo"))
    await apply_outbox(engine)

    def taken(conn):
        number = spaces.find(conn, "default", ["user:a"])["user:a"].no
        return outbox.lease_named(conn, "another", engine.clock.now(), 30, number)

    lease = await engine.ledger.write(taken)
    assert await forget(engine, "default", gone) == "user:a"
    assert await engine.index.ids("default/user:a") == {gone}
    assert ids(await ask(recaller, "boat motor", user="a")) == []
    await engine.ledger.write(lambda conn: outbox.release_space(conn, lease, "another"))
    await apply_outbox(engine)
    assert await engine.index.ids("default/user:a") == set()


async def test_a_pending_memory_is_told_with_its_mark_and_half_its_weight(running) -> None:
    engine, recaller = running
    await keep(engine, "user:a", fact("The cat is called Miso", confidence=0.1))
    answer = await ask(recaller, "what is the cat called", user="a", explain=True)
    assert answer.items[0].status == Status.PENDING
    assert "(unconfirmed)" in answer.brief


async def test_standing_orders_are_told_whatever_is_asked(running) -> None:
    engine, recaller = running
    await keep(engine, "user:a", fact("Always answer in metric units", kind=Kind.INSTRUCTION, attribute="units", value="metric"))
    answer = await ask(recaller, "plan a birthday party", user="a", explain=True)
    assert "[Rules]\n- Always answer in metric units" in answer.brief
    assert answer.items[0].why.standing


async def test_kinds_and_topics_narrow_what_is_told(running) -> None:
    engine, recaller = running
    await keep(
        engine,
        "user:a",
        lesson("When the boat leaks, pump first", topics=("boat",)),
        fact("The boat leaks at the stern", topics=("hull",)),
    )
    assert conclusions(await ask(recaller, "boat leaks", user="a", kinds=(Kind.LESSON,))) == ["When the boat leaks, pump first"]
    assert conclusions(await ask(recaller, "boat leaks", user="a", topics=("hull",))) == ["The boat leaks at the stern"]
    assert "wanted kinds or topics" in (await ask(recaller, "boat leaks", user="a", topics=("sails",))).reason
