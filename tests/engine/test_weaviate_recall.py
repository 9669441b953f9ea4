"""Recall on a file and a Weaviate server: what is written is found at once, and both indexes answer alike in both languages."""

import secrets
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Connection

from hindwise.engine import Engine, open_engine
from hindwise.errors import IndexUnavailable
from hindwise.index import factory, weaviate_search, weaviate_writes
from hindwise.index.base import Candidate, Filters, Index
from hindwise.ledger import memories, spaces
from hindwise.ledger.outbox import Lease
from hindwise.model.memory import Memory, Retrospective
from hindwise.recall.recall import Recaller
from hindwise.settings import Settings
from hindwise.testing import FixedClock, HashedEmbedder, hashed_vector
from hindwise.text.tokens import query_tokens
from tests.conformance.index.reference import DIM, assert_same, make_item, naive, random_items, unit
from tests.engine.recall.helpers import TENANT, apply_outbox, ask, fact, ids, keep, lesson

THINGS_EN = (
    "violin",
    "canoe",
    "stamp album",
    "fountain pen",
    "kite",
    "lantern",
    "porcelain bowl",
    "bamboo chair",
    "bronze mirror",
    "umbrella",
)
THINGS_ZH = ("小提琴", "木船", "邮票册", "钢笔", "风筝", "灯笼", "瓷碗", "竹椅", "铜镜", "纸伞")
PLACES_EN = ("cellar", "attic", "garage", "kitchen", "garden shed", "office")
PLACES_ZH = ("地窖", "阁楼", "车库", "厨房", "花园小屋", "办公室")


def corpus() -> list[str]:
    """120 sentences, each its own, half of them Chinese."""
    english = [f"Keeps the {thing} in the {place} since {2000 + n}" for n, thing in enumerate(THINGS_EN) for place in PLACES_EN]
    chinese = [f"从{2000 + n}年起把{thing}放在{place}" for n, thing in enumerate(THINGS_ZH) for place in PLACES_ZH]
    return english + chinese


def questions() -> list[str]:
    """40 questions in both languages: about a thing, a place, both, or nothing that is known."""
    asked = [f"where is the {thing}" for thing in THINGS_EN] + [f"{thing}放在哪里？" for thing in THINGS_ZH]
    asked += [f"what is kept in the {place}" for place in PLACES_EN] + [f"{place}里放着什么" for place in PLACES_ZH]
    asked += [f"is the {thing} in the {place}" for thing, place in zip(THINGS_EN, PLACES_EN, strict=False)]
    return [*asked, "recipe for pancakes", "煎饼怎么做"]


@asynccontextmanager
async def running(path: Path, server=None):
    """An engine and its recaller; server: of Weaviate, None = the embedded index."""
    more = {"index": "weaviate", "index_timeout_s": 15, **server.env()} if server else {}
    path.mkdir(exist_ok=True)
    async with open_engine(
        Settings(_env_file=None, data=path, secret_key="one secret for both", **more), FixedClock(), HashedEmbedder()
    ) as engine:
        recaller = Recaller(engine)
        try:
            yield engine, recaller
        finally:
            await recaller.close()
    if server:
        await factory.remove_index(engine.settings, "weaviate", 1, engine.secret)


async def fill(engine: Engine) -> None:
    await keep(engine, "user:a", *map(fact, corpus()))
    await apply_outbox(engine)


async def test_both_indexes_give_the_same_candidates_and_recall_tells_the_same(tmp_path, weaviate_server) -> None:
    """One ledger, two indexes: exact cosines, the same order of words up to ties, the same five told."""
    async with running(tmp_path) as (engine, recaller):
        await fill(engine)
        settings = Settings(_env_file=None, index_timeout_s=15, **weaviate_server.env())
        other = await factory.open_index(settings, "weaviate", 1, engine.embedder.dim, engine.secret)
        try:
            await copy(engine, other)
            of_other = Recaller(replace(engine, index=other))
            told = 0
            for text in questions():
                asked = "default/user:a", query_tokens(text), hashed_vector(text), Filters()
                assert_same(await other.candidates(*asked, k=20), await engine.index.candidates(*asked, k=20))
                first, second = await ask(recaller, text, user="a", limit=5), await ask(of_other, text, user="a", limit=5)
                assert not first.degraded
                assert not second.degraded
                assert ids(first) == ids(second), text
                told += len(ids(first))
            assert told > 100, "the questions find something"
            await of_other.close()
        finally:
            await other.close()
            await factory.remove_index(settings, "weaviate", 1, engine.secret)


async def copy(engine: Engine, other: Index) -> None:
    """Write the ledger's live memories of user:a into another index, as the projection does."""

    def read(conn: Connection) -> tuple[int, list[Memory]]:
        number = spaces.find(conn, TENANT, ["user:a"])["user:a"].no
        return number, [memories.from_row(row) for row in memories.newest_live(conn, [number], 1_000)]

    number, live = await engine.ledger.read(read)
    await other.upsert(await engine.projection.items(Lease(number, "user:a", TENANT, 0, 0), live))


async def test_what_was_written_is_found_at_once_with_nothing_dispatched_and_after_it(tmp_path, weaviate_server) -> None:
    async with running(tmp_path, weaviate_server) as (engine, recaller):
        await fill(engine)
        for text, question in (
            ("The violin teacher is called Ms. Orlova", "who is the violin teacher"),
            ("钢琴老师姓欧阳", "钢琴老师姓什么"),
        ):
            [memory_id] = await keep(engine, "user:a", fact(text))
            assert ids(await ask(recaller, question, user="a"))[:1] == [memory_id]
            await apply_outbox(engine)
            after = await ask(recaller, question, user="a")
            assert (ids(after)[:1], after.degraded) == ([memory_id], False)


class Lean:
    """The index of an engine, leaving out the cosines of what only the words found."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self.left_out = 0

    async def candidates_lean(self, *asked: object, k: int = 50) -> list[Candidate]:
        found = await self._index.candidates(*asked, k=k)
        near = {one.memory_id for one in sorted(found, key=lambda one: -(one.cosine or 0.0))[:k]}
        self.left_out += len(found) - len(near)
        return [one if one.memory_id in near else one._replace(cosine=None) for one in found]


async def test_cosines_that_an_index_leaves_out_come_from_the_ledger(tmp_path) -> None:
    async with running(tmp_path) as (engine, recaller):
        await fill(engine)
        lean = Lean(engine.index)
        other = Recaller(replace(engine, index=lean))
        for text in questions():
            first, second = await ask(recaller, text, user="a", explain=True), await ask(other, text, user="a", explain=True)
            assert ids(first) == ids(second)
            for one, two in zip(first.items, second.items, strict=True):
                assert abs(one.score - two.score) < 5e-3
        assert lean.left_out > 10
        await other.close()


async def test_the_lean_answer_holds_the_same_finds_and_scores(index) -> None:
    items = random_items(300)
    await index.upsert(items)
    for seed in range(5):
        asked = "user:a", [f"w{seed * 7 + 1}", f"w{seed * 11 + 3}"], unit(seed), Filters()
        exact, lean = await index.candidates(*asked, k=5), await index.candidates_lean(*asked, k=5)
        known = {one.memory_id: one for one in exact}
        # At the edge of a pool one of two equal finds may stand for the other.
        assert len(known.keys() & {two.memory_id for two in lean}) >= len(exact) - 2
        for two in lean:
            if (one := known.get(two.memory_id)) is not None:
                assert two.lexical == one.lexical
                assert two.cosine in (None, one.cosine)


async def test_people_who_look_into_the_server_see_what_is_remembered(tmp_path, weaviate_server) -> None:
    async with running(tmp_path, weaviate_server) as (engine, _):
        told = lesson(
            "Ask for the booking code first", retrospective=Retrospective(what_worked="asking for the code", next_time="先问预订号")
        )
        await keep(engine, "agent:x", told)
        await apply_outbox(engine)
        index = await engine.index.opened(engine.index.generation)
        tenant = index._tenant("default/agent:x")
        found = await index._connection.call(lambda client: index._tenants.use(client, tenant).query.fetch_objects(limit=5), 10)
        [kept] = [one.properties for one in found.objects if one.properties["is_memory"]]
        assert kept["conclusion"] == "Ask for the booking code first"
        assert "先问预订号" in kept["retrospective"]
        assert kept["kind"] == "lesson"


@pytest.fixture
async def index(weaviate_server):
    settings = Settings(_env_file=None, index_timeout_s=15, **weaviate_server.env())
    secret = secrets.token_bytes(16)
    opened = await factory.open_index(settings, "weaviate", 1, DIM, secret)
    yield opened
    await opened.close()
    await factory.remove_index(settings, "weaviate", 1, secret)


async def test_a_refused_memory_fails_the_write_and_no_word_of_it_is_told(index, weaviate_server, caplog, capsys) -> None:
    await index.upsert([make_item("m1")])
    # A word that the server cannot keep: it refuses this one, and takes the other.
    bad = make_item("m2", "Canary7q")
    object.__setattr__(bad, "recorded_at_ms", "no number, Canary7q")
    with pytest.raises(IndexUnavailable) as told:
        await index.upsert([make_item("m3"), bad])
    written = f"{told.value} {told.value.__cause__} {caplog.text} {''.join(capsys.readouterr())}".lower()
    assert "canary7q" not in written


async def test_more_is_deleted_than_one_call_takes(index, monkeypatch) -> None:
    monkeypatch.setattr(weaviate_writes, "_DELETED_AT_ONCE", 50)
    items = random_items(260)
    await index.upsert(items)
    await index.delete("user:a", [item.memory_id for item in items[:240]])
    assert await index.ids("user:a") == {item.memory_id for item in items[240:]}


async def test_a_large_space_is_counted_anew_behind_the_answer(index, monkeypatch) -> None:
    monkeypatch.setattr(weaviate_search, "_COUNT_AT_ONCE", 10)
    monkeypatch.setattr(weaviate_search, "_COUNT_EVERY_S", 0.0)
    items = random_items(150)
    await index.upsert(items)
    query = ["w3", "w9", "w20"]
    assert_same(await index.candidates("user:a", query, unit(1), Filters()), naive(items, query, unit(1)))
    await index.delete("user:a", [item.memory_id for item in items[:60]])
    at_once = await index.candidates("user:a", query, unit(1), Filters())
    left = items[60:]
    assert {c.memory_id for c in at_once} <= {item.memory_id for item in left}
    await index._searcher.counted()
    assert_same(await index.candidates("user:a", query, unit(1), Filters()), naive(left, query, unit(1)))


async def test_a_space_too_large_to_count_in_time_is_answered_by_the_servers_own_scores(index, monkeypatch) -> None:
    monkeypatch.setattr(weaviate_search, "_COUNT_WAIT_S", 0.0)
    items = random_items(150)
    await index.upsert(items)
    query = ["w30", "w20"]
    first = await index.candidates("user:a", query, unit(1), Filters())
    expected = naive(items, query, unit(1))
    assert {c.memory_id for c in first} == {c.memory_id for c in expected}
    assert max(first, key=lambda c: c.lexical).memory_id == max(expected, key=lambda c: c.lexical).memory_id
    await index._searcher.counted()
    assert_same(await index.candidates("user:a", query, unit(1), Filters()), expected)
