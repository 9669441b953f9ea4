"""What answers a question may lie far down among the finds, behind many that are nearer and are not told. It is told all the same."""

from dataclasses import replace
from datetime import timedelta

import pytest

from hindwise.errors import IndexUnavailable
from hindwise.ledger.schema import memories
from hindwise.model.memory import Status
from hindwise.model.turn import Origin
from hindwise.recall.recall import Recaller
from tests.engine.recall.helpers import apply_outbox, ask, conclusions, fact, ids, keep

NEARER = 45
"""More than a recall reads at first."""
QUESTIONS = {"en": "harbour hotel booking price", "zh": "港口酒店预订价格"}
NEAR = {"en": "harbour hotel booking price, note {}", "zh": "港口酒店预订价格，记录{}"}
FARTHER = {
    "en": ("The harbour hotel booking needs a passport from every guest", "A harbour hotel price holds for three nights at most"),
    "zh": ("港口酒店预订时每位客人都要带护照前往", "港口酒店的价格最多保留三个晚上然后取消"),
}


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_what_tools_said_often_does_not_hide_what_the_user_said(running, lang: str) -> None:
    engine, recaller = running
    await keep(engine, "user:a", *[fact(NEAR[lang].format(n), origin=Origin.TOOL) for n in range(NEARER)])
    own = await keep(engine, "user:a", *[fact(text) for text in FARTHER[lang]])
    await apply_outbox(engine)
    answer = await ask(recaller, QUESTIONS[lang], user="a")
    assert set(own) <= set(ids(answer)), "the user's own are told"
    assert len(answer.items) == len(own) + 2, "and of what came out of tools two"


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_a_topic_is_found_behind_nearer_memories_without_it(running, lang: str) -> None:
    engine, recaller = running
    await keep(engine, "user:a", *[fact(NEAR[lang].format(n)) for n in range(NEARER)])
    await keep(engine, "user:a", *[fact(text, topics=("rules",)) for text in FARTHER[lang]])
    await apply_outbox(engine)
    answer = await ask(recaller, QUESTIONS[lang], user="a", topics=("rules",))
    assert set(conclusions(answer)) == set(FARTHER[lang])


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_what_stands_no_longer_does_not_hide_what_stands(running, lang: str) -> None:
    engine, recaller = running
    gone = await keep(engine, "user:a", *[fact(NEAR[lang].format(n)) for n in range(NEARER)])
    own = await keep(engine, "user:a", *[fact(text) for text in FARTHER[lang]])
    await apply_outbox(engine)
    await _close(engine, gone)
    answer = await ask(recaller, QUESTIONS[lang], user="a")
    assert set(ids(answer)) == set(own)


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_what_has_expired_does_not_hide_what_has_not(running, lang: str) -> None:
    engine, recaller = running
    soon = engine.clock.now() + timedelta(days=1)
    gone = await keep(engine, "user:a", *[fact(NEAR[lang].format(n)) for n in range(NEARER)])
    own = await keep(engine, "user:a", *[fact(text) for text in FARTHER[lang]])
    await apply_outbox(engine)
    over = memories.update().where(memories.c.id.in_(gone)).values(expires_at=soon)
    await engine.ledger.write(lambda conn: conn.execute(over))
    engine.clock.advance(days=2)
    assert set(ids(await ask(recaller, QUESTIONS[lang], user="a"))) == set(own), "though upkeep has not come by"


class FailsAtTheSecondLook:
    """An index on a server that goes away between two questions."""

    def __init__(self, index) -> None:
        self._index = index
        self.asked: list[int] = []

    async def candidates(self, *asked, k: int):
        self.asked.append(k)
        if len(self.asked) > 1:
            raise IndexUnavailable("away")
        return await self._index.candidates(*asked, k=k)


async def test_an_index_that_fails_at_the_second_look_has_answered_the_first(running) -> None:
    engine, _ = running
    await keep(engine, "user:a", *[fact(NEAR["en"].format(n), origin=Origin.TOOL) for n in range(NEARER)])
    await apply_outbox(engine)
    index = FailsAtTheSecondLook(engine.index)
    recaller = Recaller(replace(engine, index=index))
    answer = await ask(recaller, QUESTIONS["en"], user="a")
    assert (len(index.asked), len(answer.items), answer.degraded) == (2, 2, False)
    await recaller.close()


async def _close(engine, memory_ids) -> None:
    """In the ledger alone: the index has not been told."""
    closed = memories.update().where(memories.c.id.in_(memory_ids)).values(status=Status.SUPERSEDED)
    await engine.ledger.write(lambda conn: conn.execute(closed))
