"""Spaces at rest on a real Weaviate: set INACTIVE when nobody uses them, woken by whoever does, removed whole when erased."""

import asyncio
import re
import secrets
from datetime import timedelta
from pathlib import Path

import httpx2
import pytest
from temporalio.testing import ActivityEnvironment

from activities.compare_index import compare_index
from hindwise.engine import open_engine
from hindwise.errors import IndexUnavailable
from hindwise.index import factory
from hindwise.index.base import Filters
from hindwise.index.weaviate_names import tenant_name
from hindwise.recall.recall import Recaller
from hindwise.settings import Settings
from hindwise.testing import FixedClock, HashedEmbedder
from tests.conformance.index.reference import DIM, make_item, unit
from tests.engine.recall.helpers import apply_outbox, ask, conclusions, fact, keep
from workflows.contracts import BatchInput

GENERATION = 5


@pytest.fixture
async def index(weaviate_server):
    """An index in a collection of its own, and nobody's else."""
    settings = Settings(_env_file=None, index_timeout_s=15, **weaviate_server.env())
    secret = secrets.token_bytes(16)
    opened = await factory.open_index(settings, "weaviate", GENERATION, DIM, secret)
    yield opened
    await opened.close()
    await factory.remove_index(settings, "weaviate", GENERATION, secret)


def states(server, collection: str) -> dict[str, str]:
    """What the server itself says of the tenants: name -> HOT (ACTIVE) or COLD (INACTIVE)."""
    answer = httpx2.get(
        f"{server.url}/v1/schema/{collection}/tenants", headers={"Authorization": f"Bearer {server.api_key}"}, trust_env=False
    )
    return {tenant["name"]: tenant["activityStatus"] for tenant in answer.raise_for_status().json()}


async def found_soon(index, space: str) -> list[str]:
    async with asyncio.timeout(20):
        while True:
            try:
                return [c.memory_id for c in await index.candidates(space, ["cancel"], unit(1), Filters())]
            except IndexUnavailable:
                await asyncio.sleep(0.05)


async def test_a_question_in_a_resting_space_fails_at_once_and_wakes_it(index, weaviate_server) -> None:
    await index.upsert([make_item("m1"), make_item("m2", space="user:b")])
    assert await index.rest(["user:a", "user:nobody"]) == {"user:a"}
    assert sorted(states(weaviate_server, index.collection).values()) == ["COLD", "HOT"]
    with pytest.raises(IndexUnavailable, match="being woken"):
        await index.candidates("user:a", ["cancel"], unit(1), Filters())
    assert await found_soon(index, "user:a") == ["m1"]
    assert set(states(weaviate_server, index.collection).values()) == {"HOT"}


async def test_writing_and_deleting_in_a_resting_space_wake_it(index) -> None:
    await index.upsert([make_item("m1"), make_item("m2")])
    await index.rest(["user:a"])
    await index.upsert([make_item("m3")])
    assert await index.ids("user:a") == {"m1", "m2", "m3"}
    await index.rest(["user:a"])
    await index.delete("user:a", ["m1"])
    assert await found_soon(index, "user:a") == ["m2", "m3"]


async def test_all_ids_of_a_resting_space_can_be_listed_and_it_counts_as_holding_something(index) -> None:
    await index.upsert([make_item("m1")])
    await index.rest(["user:a"])
    assert await index.without_anything(["user:a", "user:b"]) == {"user:b"}
    assert await index.ids("user:a") == {"m1"}


async def test_a_dropped_space_leaves_no_tenant_and_no_directory_awake_or_at_rest(index, weaviate_server) -> None:
    for rests in (False, True):
        await index.upsert([make_item("m1"), make_item("m2", space="user:b")])
        if rests:
            await index.rest(["user:a"])
        before = states(weaviate_server, index.collection)
        await index.drop("user:a")
        [gone] = set(before) - set(states(weaviate_server, index.collection))
        assert await index.ids("user:a") == set()
        assert await index.ids("user:b") == {"m2"}
        if data := getattr(weaviate_server, "data", None):
            assert [path.name for path in Path(data).rglob("s_*")], "the other space has its directory"
            assert not [path for path in Path(data).rglob("*") if gone.lower() in path.name.lower()]


async def test_a_space_whose_last_memory_is_deleted_leaves_no_tenant_and_can_be_used_again(index, weaviate_server) -> None:
    await index.upsert([make_item("m1"), make_item("m2")])
    await index.delete("user:a", ["m1"])
    assert len(states(weaviate_server, index.collection)) == 1
    await index.delete("user:a", ["m2", "m3"])
    assert states(weaviate_server, index.collection) == {}
    await index.upsert([make_item("m4")])
    assert await found_soon(index, "user:a") == ["m4"]


async def test_no_name_on_the_server_can_be_read(index, weaviate_server) -> None:
    await index.upsert([make_item("m1", space="tenant-one/user:li.na@example.com")])
    [tenant] = states(weaviate_server, index.collection)
    assert re.fullmatch(r"s_[A-Z2-7]{52}", tenant)
    assert re.fullmatch(rf"Hindwise_g{GENERATION}_[A-Z2-7]{{12}}", index.collection)
    # Whoever knows a space's name, but not the installation's secret, cannot tell that it is this one.
    assert tenant != tenant_name(b"a secret that somebody guessed", "tenant-one/user:li.na@example.com")


async def test_upkeep_rests_what_nobody_used_and_leaves_the_rest_alone(tmp_path, weaviate_server) -> None:
    settings = Settings(_env_file=None, data=tmp_path, index="weaviate", index_timeout_s=15, weaviate_idle_days=30, **weaviate_server.env())
    clock = FixedClock()
    async with open_engine(settings, clock, HashedEmbedder()) as engine:
        recaller = Recaller(engine)
        for user in ("idle", "asked", "written"):
            await keep(engine, f"user:{user}", fact("The spare key lies under the flowerpot"), fact("备用钥匙在花盆下面"))
        await apply_outbox(engine)
        collection = (await engine.index.opened(engine.index.generation)).collection
        clock.advance(days=20)
        assert not (await ask(recaller, "where is the spare key", user="asked")).degraded
        await keep(engine, "user:written", fact("Speaks Portuguese"))
        await apply_outbox(engine)
        await recaller.flush()
        clock.advance(timedelta(days=11))
        assert (await ActivityEnvironment().run(compare_index, engine, BatchInput())).changed == 0
        assert sorted(states(weaviate_server, collection).values()) == ["COLD", "HOT", "HOT"]
        # The next recall is answered at once by the ledger, and wakes it; once it was asked for it stays awake.
        first = await ask(recaller, "备用钥匙在哪里", user="idle")
        assert (first.degraded, conclusions(first)[:1]) == (True, ["备用钥匙在花盆下面"])
        async with asyncio.timeout(20):
            while (await ask(recaller, "备用钥匙在哪里", user="idle")).degraded:
                await asyncio.sleep(0.05)
        await recaller.flush()
        clock.advance(days=2)
        environment = ActivityEnvironment()
        await environment.run(compare_index, engine, BatchInput())
        assert set(states(weaviate_server, collection).values()) == {"HOT"}
        await recaller.close()


async def test_a_server_that_takes_no_writes_says_so_answers_and_lets_spaces_be_erased(index, weaviate_server) -> None:
    """As it does of each space that it holds while its disk is full."""
    await index.upsert([make_item("m1")])
    [tenant] = states(weaviate_server, index.collection)
    httpx2.put(
        f"{weaviate_server.url}/v1/schema/{index.collection}/shards/{tenant}",
        headers={"Authorization": f"Bearer {weaviate_server.api_key}"},
        json={"status": "READONLY"},
        trust_env=False,
    ).raise_for_status()
    with pytest.raises(IndexUnavailable, match="takes no writes: its disk is full"):
        await index.upsert([make_item("m2")])
    assert await found_soon(index, "user:a") == ["m1"]
    await index.drop("user:a")
    assert await index.ids("user:a") == set()
