"""Nobody is told another user's memory, name, number or words: over many users of shared agents, in two languages, and on real runs.

Everything enters through the API and is reflected by the product's own steps; what a recall tells is read from its whole answer.
"""

import json
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, select

from activities import STEPS
from activities.reflect import reflect
from hindwise.engine import Engine
from hindwise.ledger import episodes, memories
from hindwise.ledger.schema import memories as memory_rows
from hindwise.ledger.schema import reflections
from hindwise.model.memory import Memory
from hindwise.reflect.rules import RuleReflector
from tests.api.front import Front, open_front
from tests.end_to_end.crowd import AIRLINE, DESK, Person, passengers, people
from workflows.contracts import FinishInput, GroundInput, ReflectInput, ResolveInput, StepInput

pytestmark = pytest.mark.asyncio(loop_scope="module")

MANY = 48
QUOTED_WORDS, QUOTED_CHARACTERS = 9, 13
"""So many words of a user in a row, in Chinese so many characters, are a quote; fewer may name a task."""


@dataclass(frozen=True)
class World:
    """Everybody, and the product that has learned from all of them."""

    front: Front
    everybody: dict[str, list[Person]]
    """By user id; a passenger may have flown more than once."""

    def marks(self, user_id: str) -> frozenset[str]:
        """What only this user is known by."""
        return frozenset(mark for person in self.everybody[user_id] for mark in person.marks)


async def look_back(engine: Engine, reflection_id: str) -> None:
    """The steps of a reflection, in the order of the workflow."""
    step = StepInput(reflection_id=reflection_id)
    if not (await STEPS["gather"](engine, step)).skip:
        await reflect(engine, ReflectInput(reflection_id=reflection_id, attempt=1, reflector="rules"), {"rules": RuleReflector()})
        await STEPS["ground"](engine, GroundInput(reflection_id=reflection_id, attempt=1))
        await STEPS["resolve"](engine, ResolveInput(reflection_id=reflection_id, attempt=1))
        await STEPS["index"](engine, step)
    await STEPS["finish"](engine, FinishInput(reflection_id=reflection_id, status="completed"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """48 users and the airline's passengers, each with a finished task, and each with a sentence written by hand."""
    crowd = [*people(MANY), *passengers()]
    everybody: dict[str, list[Person]] = {}
    for person in crowd:
        everybody.setdefault(person.user_id, []).append(person)
    async with open_front(tmp_path_factory.mktemp("crowd")) as front:
        for person in crowd:
            answer = await front.post("/v1/episodes", person.episode())
            assert answer.status_code == 202, answer.text
            await look_back(front.engine, answer.json()["reflection_id"])
        for user_id in everybody:
            words = {"user_id": user_id, "content": f"The locker of {user_id} is opened by knocking twice, says {user_id}"}
            assert (await front.post("/memory", words)).status_code == 201
        yield World(front, everybody)


async def _shared(front: Front) -> list[tuple[Memory, str]]:
    """Every lesson that stands in an agent's space, with the id of the episode that taught it."""

    def read(conn: Connection) -> list[tuple[Memory, str]]:
        query = select(memory_rows, reflections.c.episode_id).join(reflections, reflections.c.id == memory_rows.c.reflection_id)
        rows = conn.execute(query.where(memory_rows.c.space.startswith("agent:")))
        return [(memories.from_row(row), row.episode_id) for row in rows]

    return await front.engine.ledger.read(read)


def _words_of(memory: Memory) -> str:
    """All that a lesson tells, without its evidence."""
    return json.dumps(memory.model_dump(mode="json", exclude={"evidence", "id", "reflection_id", "superseded_by"}), ensure_ascii=False)


def _holds(text: str, mark: str) -> bool:
    """Whether a mark stands in a text, as a word of its own."""
    return re.search(rf"(?<![A-Za-z0-9]){re.escape(mark)}(?![A-Za-z0-9])", text) is not None


def _quotes(said: str, told: str) -> Iterator[str]:
    """What of `said` is told word for word."""
    folded = " ".join(re.findall(r"\w+", told.lower()))
    words = re.findall(r"\w+", said.lower())
    for start in range(len(words) - QUOTED_WORDS + 1):
        phrase = " ".join(words[start : start + QUOTED_WORDS])
        if re.search(r"[a-z]", phrase) and phrase in folded:
            yield phrase
    for run in re.findall(r"[\u4e00-\u9fff0-9A-Za-z]+", said):
        for start in range(len(run) - QUOTED_CHARACTERS + 1):
            piece = run[start : start + QUOTED_CHARACTERS]
            if re.search(r"[\u4e00-\u9fff]{6}", piece) and piece in told:
                yield piece


async def test_everybody_has_memories_and_the_agents_have_lessons(world: World) -> None:
    """So that what follows is not about nothing."""
    assert len(world.everybody) >= 40 + 20
    for user_id, persons in world.everybody.items():
        rows = await world.front.engine.ledger.read(lambda conn, own=f"user:{user_id}": memories.page(conn, "default", [own], limit=100))
        assert len(rows) >= 2, user_id
        assert persons
    spaces = [memory.space for memory, _ in await _shared(world.front)]
    assert spaces.count(f"agent:{DESK}") >= 2
    assert spaces.count(f"agent:{AIRLINE}") >= 20


async def test_a_shared_lesson_names_nobody_and_quotes_nobody(world: World) -> None:
    """No name, customer or reservation number of anybody, and no run of words of the user it came from."""
    everybodys = {mark for user_id in world.everybody for mark in world.marks(user_id)}
    for memory, episode_id in await _shared(world.front):
        told = _words_of(memory)
        assert memory.kind == "lesson"
        assert [mark for mark in everybodys if _holds(told, mark)] == [], told
        episode = await world.front.engine.ledger.read(lambda conn, at=episode_id: episodes.row_of(conn, "default", at))
        said = "\n".join(person.said() for person in world.everybody[episode.user_id])
        assert list(_quotes(said, told)) == [], told


async def test_the_words_behind_a_shared_lesson_are_shown_to_their_user_alone(world: World) -> None:
    """The evidence of a lesson stays readable with the space of the user it came from, and with no other."""
    seen = 0
    for memory, episode_id in await _shared(world.front):
        owner = (await world.front.engine.ledger.read(lambda conn, at=episode_id: episodes.row_of(conn, "default", at))).user_id
        other = next(user_id for user_id in world.everybody if user_id != owner)
        own = (await world.front.http.get(f"/v1/memories/{memory.id}", params={"user_id": owner})).json()
        theirs = (await world.front.http.get(f"/v1/memories/{memory.id}", params={"user_id": other})).json()
        nobodys = (await world.front.http.get(f"/v1/memories/{memory.id}")).json()
        seen += sum(1 for item in own["evidence"] if item["quote"])
        for shown, reader in ((theirs, other), (nobodys, "")):
            foreign = [item for item in shown["evidence"] if item["quote"] and not await _is_of(world, item["episode_id"], reader)]
            assert foreign == []
    assert seen > 0


async def _is_of(world: World, episode_id: str, user_id: str) -> bool:
    row = await world.front.engine.ledger.read(lambda conn: episodes.row_of(conn, "default", episode_id))
    return bool(row.user_id == user_id)


async def _ask(world: World, asker: str, query: str, agent: str) -> dict[str, Any]:
    body: dict[str, Any] = {"user_id": asker, "query": query, "limit": 50, "budget_tokens": 8_000, "include": ["retrospective"]}
    answer = await world.front.post("/v1/recall", body | ({"agent_id": agent} if agent else {}))
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def _foreign(world: World, asker: str, told: dict[str, Any]) -> list[str]:
    """Marks of others in an answer. What an asker shares with somebody (a common family name) is the asker's own."""
    text = json.dumps({"brief": told["brief"], "items": told["items"]}, ensure_ascii=False)
    own = world.marks(asker)
    others = {mark for user_id in world.everybody if user_id != asker for mark in (*world.marks(user_id), user_id)} - own
    return [mark for mark in others if mark in text and _holds(text, mark)]


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(draw=st.data())
async def test_a_recall_tells_of_the_asker_and_of_the_agent_and_of_nobody_else(world: World, draw: st.DataObject) -> None:
    """Whoever asks, with another one's very words, in either language, with or without an agent."""
    users = sorted(world.everybody)
    asker, other = draw.draw(st.sampled_from(users)), draw.draw(st.sampled_from(users))
    about = draw.draw(st.sampled_from(world.everybody[other]))
    query = draw.draw(st.sampled_from([about.topic, about.said()[:2_000], f"the locker of {other}", "refund a reservation", "退掉订单"]))
    agent = draw.draw(st.sampled_from(["", DESK, AIRLINE]))
    told = await _ask(world, asker, query, agent)
    assert {item["space"] for item in told["items"]} <= {f"user:{asker}", *([f"agent:{agent}"] if agent else [])}
    assert _foreign(world, asker, told) == []
    for item in told["items"]:
        for place in item["evidence"]:
            if place["quote"] or place["session_id"] or place["turn_id"]:
                assert await _is_of(world, place["episode_id"], asker)


async def test_each_one_finds_the_own_and_only_the_own(world: World) -> None:
    """Everybody asks for what everybody has: the sentence about the locker comes from one space alone."""
    for user_id, persons in world.everybody.items():
        found = (await world.front.http.get("/memory/search", params={"q": "locker knocking", "user_id": user_id, "limit": 50})).json()
        lockers = [item["content"] for item in found["results"] if "locker" in item["content"]]
        assert [content for content in lockers if user_id not in content] == []
        assert len(lockers) == 1, user_id
        told = await _ask(world, user_id, persons[0].topic, "")
        # A passenger's first words may be a greeting, about which nothing is relevant.
        assert told["items"] or persons[0].agent_id == AIRLINE, user_id
        assert {item["space"] for item in told["items"]} <= {f"user:{user_id}"}
        assert _foreign(world, user_id, told) == []


async def test_an_agent_alone_and_a_stranger_are_told_lessons_and_no_person(world: World) -> None:
    """A user without history, and a call that names no user."""
    for owner in ({"agent_id": DESK}, {"agent_id": AIRLINE}, {"agent_id": AIRLINE, "user_id": "stranger"}):
        for query in ("refund a reservation", "退掉订单", "cancel the flight and get a refund"):
            answer = await world.front.post("/v1/recall", {**owner, "query": query, "limit": 50, "include": ["retrospective"]})
            told = answer.json()
            assert {item["space"] for item in told["items"]} <= {f"agent:{owner['agent_id']}"}
            assert {item["kind"] for item in told["items"]} <= {"lesson"}
            text = json.dumps(told["items"], ensure_ascii=False)
            assert [mark for user_id in world.everybody for mark in world.marks(user_id) if _holds(text, mark)] == []
            assert [place for item in told["items"] for place in item["evidence"] if place["quote"]] == []
