"""One Idempotency-Key with two bodies, sent at the same moment to two API processes on one ledger: one is done, the other refused."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest

from hindwise.cli.readiness import ask_ready, first_key
from hindwise.cli.supervisor import ports
from hindwise.embed.none import NoEmbedder
from hindwise.engine import open_engine
from hindwise.index.factory import remove_index
from hindwise.ledger import generations
from hindwise.settings import Settings
from tests.processes import Process, environment, until

ROUNDS = 12


@pytest.fixture(params=["sqlite", "postgres"])
async def two(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[list[httpx2.AsyncClient]]:
    """Two processes that answer, without Temporal."""
    numbers = ports.free_ports(3)
    given = {"HINDWISE_TEMPORAL_ADDRESS": f"127.0.0.1:{numbers[2]}"}
    if request.param == "postgres":
        given |= {"HINDWISE_DATABASE_URL": request.getfixturevalue("postgres_url"), "HINDWISE_INDEX": "weaviate"}
        given |= request.getfixturevalue("weaviate_server").env()
    env = environment(tmp_path, given)
    running = [Process(f"api-{n}", [sys.executable, "-m", "hindwise.cli", "api", "--port", str(n)], env, tmp_path) for n in numbers[:2]]
    async with AsyncExitStack() as stack:
        clients = []
        for process in running:
            stack.callback(process.stop)
            process.start()
        for number in numbers[:2]:
            url = f"http://127.0.0.1:{number}"
            await asyncio.to_thread(until, lambda url=url: ask_ready(url)[1].get("status"), "an API that answers")
            headers = {"Authorization": f"Bearer {first_key(tmp_path)}"}
            clients.append(await stack.enter_async_context(httpx2.AsyncClient(base_url=url, headers=headers, timeout=30, trust_env=False)))
        yield clients
    await _remove_indexes(tmp_path, {name.removeprefix("HINDWISE_").lower(): value for name, value in given.items()})


async def _remove_indexes(data: Path, fields: dict[str, Any]) -> None:
    settings = Settings(_env_file=None, data=data, **fields)
    async with open_engine(settings, embedder=NoEmbedder()) as engine:
        built = await engine.ledger.read(generations.kept)
    for generation in built:
        await remove_index(settings, generation.kind, generation.no, engine.secret)


async def test_of_two_bodies_at_once_one_is_kept_and_the_other_refused(two: list[httpx2.AsyncClient]) -> None:
    for n in range(ROUNDS):
        bodies = [{"user_id": "ann", "content": f"{words} {n}"} for words in ("The gate code of house", "门的密码是")]
        answers = await asyncio.gather(
            *(each.post("/v1/memories", json=body, headers={"Idempotency-Key": f"k{n}"}) for each, body in zip(two, bodies, strict=True))
        )
        assert sorted(answer.status_code for answer in answers) == [201, 422]
        [refused] = [answer for answer in answers if answer.status_code == 422]
        assert refused.json()["type"] == "idempotency-mismatch"
    listed = (await two[0].get("/v1/memories", params={"user_id": "ann", "limit": 100})).json()["items"]
    assert len(listed) == ROUNDS


async def test_one_body_at_once_is_done_once_and_answered_alike(two: list[httpx2.AsyncClient]) -> None:
    for n in range(ROUNDS):
        body = {"user_id": "ann", "content": f"The gate code of house {n}"}
        answers = await asyncio.gather(*(each.post("/v1/memories", json=body, headers={"Idempotency-Key": f"k{n}"}) for each in two))
        assert {(answer.status_code, answer.json()["id"]) for answer in answers} == {(201, answers[0].json()["id"])}
    listed = (await two[0].get("/v1/memories", params={"user_id": "ann", "limit": 100})).json()["items"]
    assert len(listed) == ROUNDS
