"""An index on a server is asked while the survey is under way. What is written meanwhile is not missed for it."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace

import pytest
from sqlalchemy import Connection

from hindwise.embed.base import Vector
from hindwise.engine import Engine
from hindwise.errors import LedgerUnavailable
from hindwise.index.projection import index_space
from hindwise.ledger import outbox, spaces
from hindwise.privacy import erase_user
from hindwise.recall import ahead
from hindwise.recall import recall as recalling
from hindwise.recall.recall import Recaller
from hindwise.recall.survey import Mark, Survey
from hindwise.testing import HashedEmbedder
from tests.engine.recall.helpers import TENANT, apply_outbox, ask, conclusions, fact, keep

KNOWN = {"en": "The rowing boat is called Swift", "zh": "划艇的名字叫雨燕"}
NEW = {"en": "The rowing boat lies at pier nine", "zh": "划艇停在九号码头"}
QUESTIONS = {"en": "where lies the rowing boat, and what is it called", "zh": "划艇停在哪里，叫什么名字"}
LANGUAGES = list(KNOWN)


class OnAServer:
    """An index that is asked from the event loop alone; `then` runs behind its next answer, before that is handed out."""

    def __init__(self, engine: Engine) -> None:
        self._index = engine.index
        self.asked: list[str] = []
        self.then: Callable[[], Awaitable[None]] | None = None

    async def candidates(self, space: str, *asked, k: int):
        self.asked.append(space)
        found = await self._index.candidates(space, *asked, k=k)
        if (then := self.then) is not None:
            self.then = None
            await then()
        return found


class Slow(HashedEmbedder):
    """An embedder that takes longer than a survey, as one behind a network does, but not for ever."""

    async def query(self, text: str) -> Vector:
        seen = False
        with suppress(TimeoutError):
            async with asyncio.timeout(3):
                while not seen or _surveys():
                    seen |= _surveys()
                    await asyncio.sleep(0.001)
        return await super().query(text)


def _surveys() -> bool:
    return any(task.get_name() == "recall-survey" for task in asyncio.all_tasks())


class Held:
    """Holds surveys up until they are let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._free = threading.Event()
        self._free.set()
        survey = recalling.survey

        def held(*asked) -> Survey:
            assert self._free.wait(20), "nobody let the survey go"
            return survey(*asked)

        monkeypatch.setattr(recalling, "survey", held)

    def hold(self) -> None:
        self._free.clear()

    async def release(self) -> None:
        self._free.set()


@pytest.fixture
async def house(running, monkeypatch):
    """The engine, a recaller whose index lies on a server, that index, and what holds surveys up."""
    engine, _ = running
    index = OnAServer(engine)
    recaller = Recaller(replace(engine, index=index))
    yield engine, recaller, index, Held(monkeypatch)
    await recaller.close()


async def _known(engine: Engine, recaller: Recaller, lang: str) -> None:
    await keep(engine, "user:a", fact(KNOWN[lang]))
    await apply_outbox(engine)
    assert conclusions(await ask(recaller, QUESTIONS[lang], user="a")) == [KNOWN[lang]]


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_a_space_in_which_nothing_changed_is_asked_once_and_before_the_survey_ends(house, lang: str) -> None:
    engine, recaller, index, held = house
    await _known(engine, recaller, lang)
    index.asked.clear()
    held.hold()
    index.then = held.release
    answer = await ask(recaller, QUESTIONS[lang], user="a")
    assert (conclusions(answer), answer.degraded, index.asked) == ([KNOWN[lang]], False, [index_space(TENANT, "user:a")])


async def test_of_a_known_space_the_index_is_asked_first_where_the_embedder_is_quick(house, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, recaller, index, _ = house
    await _known(engine, recaller, "en")
    asked_by_then: list[int] = []
    read = engine.ledger.read

    async def noted(*work, **options):
        asked_by_then.append(len(index.asked))
        return await read(*work, **options)

    index.asked.clear()
    monkeypatch.setattr(engine.ledger, "read", noted)
    await ask(recaller, QUESTIONS["en"], user="a")
    assert (asked_by_then, len(index.asked)) == ([1, 1], 1), "by the survey, and by the rows"


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_while_a_slow_embedder_works_the_survey_is_made_so_that_the_index_is_asked_once(house, lang: str) -> None:
    engine, _, index, _ = house
    embedder = Slow(engine.embedder.dim)
    await embedder.start()
    recaller = Recaller(replace(engine, index=index, embedder=embedder))
    await keep(engine, "user:a", fact(KNOWN[lang]))
    asked = []
    for number in range(4):
        await keep(engine, "user:a", fact(f"{NEW[lang]} {number}"))
        await apply_outbox(engine)
        index.asked.clear()
        await ask(recaller, QUESTIONS[lang], user="a")
        asked.append(len(index.asked))
    assert asked == [1, 1, 1, 1]
    await recaller.close()


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_what_was_applied_after_the_index_answered_and_before_the_survey_is_told(house, lang: str) -> None:
    engine, recaller, index, held = house
    await _known(engine, recaller, lang)
    index.asked.clear()

    async def write() -> None:
        await keep(engine, "user:a", fact(NEW[lang]))
        await apply_outbox(engine)
        await held.release()

    held.hold()
    index.then = write
    answer = await ask(recaller, QUESTIONS[lang], user="a")
    assert set(conclusions(answer)) == {KNOWN[lang], NEW[lang]}
    assert len(index.asked) == 2, "the answer from before is dropped"


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_what_was_written_meanwhile_and_is_not_applied_is_told_as_always(house, lang: str) -> None:
    engine, recaller, index, held = house
    await _known(engine, recaller, lang)

    async def write() -> None:
        await keep(engine, "user:a", fact(NEW[lang]))
        await held.release()

    held.hold()
    index.then = write
    assert set(conclusions(await ask(recaller, QUESTIONS[lang], user="a"))) == {KNOWN[lang], NEW[lang]}


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_what_the_index_had_lost_and_was_given_again_meanwhile_is_told(house, lang: str) -> None:
    """Nothing changed in the ledger, so that no number of it rose."""
    engine, recaller, index, held = house
    await _known(engine, recaller, lang)
    here = index_space(TENANT, "user:a")
    [lost] = await engine.index.ids(here)
    await engine.index.delete(here, [lost])

    def marked(conn: Connection) -> None:
        [space] = spaces.find(conn, TENANT, ["user:a"]).values()
        outbox.mark_dirty(conn, space.no, [lost], space.index_no, engine.clock.now())

    async def give_back() -> None:
        engine.clock.advance(seconds=1)
        await engine.ledger.write(marked)
        await apply_outbox(engine)
        await held.release()

    held.hold()
    index.then = give_back
    assert conclusions(await ask(recaller, QUESTIONS[lang], user="a")) == [KNOWN[lang]]


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_of_a_user_who_was_erased_meanwhile_nothing_is_told(house, lang: str) -> None:
    engine, recaller, index, held = house
    await _known(engine, recaller, lang)

    async def erase() -> None:
        erasure = await erase_user.request(engine, TENANT, "a", "test")
        assert (await erase_user.erase(engine, erasure.id)).status == "completed"
        await held.release()

    held.hold()
    index.then = erase
    answer = await ask(recaller, QUESTIONS[lang], user="a")
    assert (answer.items, answer.degraded) == ((), False)


async def test_a_survey_that_fails_leaves_no_question_behind(house, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, recaller, index, _ = house
    await _known(engine, recaller, "en")

    async def never() -> None:
        await asyncio.Event().wait()

    def away(*asked) -> Survey:
        raise LedgerUnavailable("away", retry_after_s=1)

    monkeypatch.setattr(recalling, "survey", away)
    index.then = never
    with pytest.raises(LedgerUnavailable):
        await ask(recaller, QUESTIONS["en"], user="a")
    left = [task for task in asyncio.all_tasks() if task.get_name() == "recall-ahead"]
    await asyncio.wait_for(asyncio.gather(*left, return_exceptions=True), 5)


async def test_marks_are_kept_of_so_many_spaces_and_the_latest_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "_SPACES", 3)
    marks = ahead.Ahead()
    for number in (1, 2, 3, 1, 4):
        marks.note(TENANT, Survey({f"user:{number}": Mark(number, number, None)}, ()))
    asked: list[str] = []

    async def of(name: str) -> list[object]:
        asked.append(name)
        return []

    begun = marks.begin(TENANT, [f"user:{number}" for number in range(5)], of)  # type: ignore[arg-type]
    await asyncio.sleep(0)
    assert asked == ["user:1", "user:3", "user:4"]
    assert begun.answer("user:1", Mark(1, 1, None)) is not None
    assert begun.answer("user:1", Mark(1, 1, 5)) is None
    assert begun.answer("user:2", Mark(2, 2, None)) is None
    assert marks.begin("another tenant", ["user:1"], of).answer("user:1", Mark(1, 1, None)) is None  # type: ignore[arg-type]
