"""Ledger, index or Temporal away, on Postgres and Weaviate: each told apart, refusals with a time to wait, nothing half done."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from api.sweeper import Sweeper
from hindwise.ledger.schema import episodes, memories, outbox, reflections, sessions, turns
from tests.api.front import Front, open_front
from tests.servers.postgres import Postgres
from tests.servers.weaviate import Weaviate

TURNS = [{"turn_id": "t1", "role": "user", "content": "以后都用中文回复我。"}, {"turn_id": "t2", "role": "assistant", "content": "好的。"}]
WRITES: dict[str, tuple[str, dict[str, Any]]] = {
    "turns": ("/v1/sessions/s1/turns", {"user_id": "ann", "turns": TURNS}),
    "an episode": ("/v1/episodes", {"user_id": "ann", "run_id": "r1", "turns": TURNS, "outcome": {"status": "success"}}),
    "a memory": ("/v1/memories", {"user_id": "ann", "kind": "preference", "content": "Ann prefers short answers"}),
}
TABLES = (sessions, turns, episodes, reflections, memories, outbox)


@pytest.fixture
async def front(own_postgres: Postgres, own_weaviate: Weaviate, tmp_path: Path) -> AsyncIterator[Front]:
    own_weaviate.start(wait=False)
    own_postgres.start()
    own_weaviate.wait_ready()
    servers = {name.lower(): value for name, value in own_weaviate.env().items()}
    settings = {"database_url": own_postgres.url, "index": "weaviate", "secret_key": "of-the-test", **servers}
    async with open_front(tmp_path, **settings) as opened:
        yield opened


async def parts(front: Front) -> tuple[int, dict[str, str], dict[str, float]]:
    """Status of /readyz, what it says, and the same from the metrics."""
    ready = await front.http.get("/readyz")
    lines = (await front.http.get("/metrics")).text.splitlines()
    up = {line.split('"')[1]: float(line.rpartition(" ")[2]) for line in lines if line.startswith("hindwise_up{")}
    return ready.status_code, ready.json(), up


async def rows(front: Front) -> list[int]:
    return await front.engine.ledger.read(
        lambda conn: [conn.execute(select(func.count()).select_from(table)).scalar_one() for table in TABLES]
    )


async def test_each_part_that_is_away_is_told_apart_and_nothing_is_half_done(
    front: Front, own_postgres: Postgres, own_weaviate: Weaviate
) -> None:
    assert await parts(front) == (
        200,
        {"status": "ready", "ledger": "ok", "index": "ok", "temporal": "ok"},
        {"ledger": 1.0, "index": 1.0, "temporal": 1.0},
    )
    await _without_the_ledger(front, own_postgres)
    await _without_temporal(front)
    await _without_the_index(front, own_weaviate)


async def _without_the_ledger(front: Front, postgres: Postgres) -> None:
    """Everything is refused with a time to wait; afterwards the same calls are done once."""
    postgres.kill()
    status, told, up = await parts(front)
    assert (status, told["status"], told["ledger"], told["index"]) == (503, "unavailable", "unavailable", "ok")
    assert up == {"ledger": 0.0, "index": 1.0, "temporal": 1.0}
    for what, (path, body) in {**WRITES, "a recall": ("/v1/recall", {"user_id": "ann", "query": "which language"})}.items():
        answer = await front.post(path, body)
        assert answer.status_code == 503, what
        assert answer.json()["type"] == "ledger-unavailable"
        assert int(answer.headers["Retry-After"]) > 0
        assert answer.headers["content-type"] == "application/problem+json"
    assert front.starter.turns == []
    assert front.starter.started == []
    postgres.start()
    assert await rows(front) == [0] * len(TABLES)
    for path, body in WRITES.values():
        assert (await front.post(path, body)).status_code in (200, 201, 202)
    await front.settled()
    before = await rows(front)
    for path, body in WRITES.values():
        await front.post(path, body)
    assert (await rows(front))[:4] == before[:4] == [1, 4, 1, 1]
    assert (await parts(front))[0] == 200


async def _without_temporal(front: Front) -> None:
    """Accepted and kept; the sweep starts it, once Temporal is back and the work is no longer young."""
    front.starter.down = True
    status, told, up = await parts(front)
    assert (status, told["status"], told["temporal"], up["temporal"]) == (200, "degraded", "unavailable", 0.0)
    queued = await front.post("/v1/sessions/s2/turns", {"user_id": "ann", "turns": TURNS})
    assert (queued.status_code, queued.json()["status"]) == (200, "queued")
    done = await front.post("/v1/episodes", {"user_id": "ann", "run_id": "r2", "turns": TURNS, "outcome": {"status": "failure"}})
    assert done.status_code == 202
    await front.settled()
    front.starter.down = False
    front.starter.started.clear()
    front.engine.clock.advance(seconds=30)  # type: ignore[attr-defined]
    assert await Sweeper(front.services.dispatch).sweep() >= 2
    assert done.json()["reflection_id"] in [started.reflection_id for started in front.starter.started]
    assert front.starter.turns[-1][1].count == len(TURNS)


async def _without_the_index(front: Front, weaviate: Weaviate) -> None:
    """Recall is answered from the ledger, and says so."""
    weaviate.kill()
    status, told, up = await parts(front)
    assert (status, told["status"], told["index"], up["index"]) == (200, "degraded", "unavailable", 0.0)
    found = (await front.post("/v1/recall", {"user_id": "ann", "query": "short answers"})).json()
    assert "short answers" in found["brief"]
