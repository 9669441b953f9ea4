"""A commit that reached Postgres and whose answer did not reach us: the caller hears of what was kept, and nothing counts twice."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.engine import make_url

from hindwise.ledger import reflections
from hindwise.ledger.schema import episodes, evidence, memories, memory_events, turns
from hindwise.ledger.schema import reflections as reflection_rows
from hindwise.model.reflection import ReflectionStatus
from tests.api.front import Front, open_front
from tests.build import NOON
from tests.servers.lossy import LossyWire
from tests.servers.weaviate import NamedWeaviate, Weaviate

SAID = {
    "en": ["Please refund order 4410", "I prefer window seats", "I live in Bern", "I live in Basel now"],
    "zh": ["请退掉订单 4410", "我喜欢靠窗的座位", "我住在苏州", "我现在住在杭州"],
}
TABLES = (turns, episodes, reflection_rows, memories, memory_events, evidence)


class Wired:
    """A front whose ledger lies behind a wire."""

    def __init__(self, front: Front, wire: LossyWire) -> None:
        self.front, self.wire = front, wire

    async def twice(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[Any, Any]:
        """Ask with the answer of the commit lost, and then once more, as a caller would who heard nothing either. Rows stay the same."""
        lost = self.wire.lost
        await self.lose_the_next_commit()
        first = await self.front.http.request(method, path, json=body, headers=headers)
        assert self.wire.lost == lost + 1, f"{method} {path} committed nothing"
        before = await self._rows()
        second = await self.front.http.request(method, path, json=body, headers=headers)
        assert await self._rows() == before, f"{method} {path} again added something: {first.text}"
        return first, second

    async def lose_the_next_commit(self) -> None:
        """With connections at hand: one that is only being opened commits its settings too, and fails before anything was written."""
        wait = select(func.pg_sleep(0.05))
        await asyncio.gather(*(self.front.engine.ledger.write(lambda conn: conn.execute(wait).all()) for _ in range(4)))
        self.wire.lose_answer_to(b"COMMIT")

    async def _rows(self) -> list[int]:
        await self.front.settled()
        return await self.front.engine.ledger.read(
            lambda conn: [conn.execute(select(func.count()).select_from(table)).scalar_one() for table in TABLES]
        )


@pytest.fixture
async def wired(postgres_url: str, weaviate_server: Weaviate | NamedWeaviate, tmp_path: Path) -> AsyncIterator[Wired]:
    url = make_url(postgres_url)
    with LossyWire(url.port or 0) as wire:
        servers = {name.lower(): value for name, value in weaviate_server.env().items()}
        behind = url.set(port=wire.port).render_as_string(hide_password=False)
        settings = {"database_url": behind, "index": "weaviate", "secret_key": f"of {tmp_path.name}", **servers}
        async with open_front(tmp_path, **settings) as front:
            yield Wired(front, wire)


def codes(*answers: Any) -> list[int]:
    return [answer.status_code for answer in answers]


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_every_door_confirms_what_it_kept_and_refuses_other_content_alone(wired: Wired, lang: str) -> None:
    request, wish, home, next_home = SAID[lang]
    await _turns_and_tasks(wired, request)
    await _memories(wired, wish, home, next_home)


async def _turns_and_tasks(wired: Wired, request: str) -> None:
    turn = {"turn_id": "t1", "role": "user", "content": request}
    body: dict[str, Any] = {"user_id": "ann", "turns": [turn, {"role": "assistant", "content": "ok"}]}
    first, second = await wired.twice("POST", "/v1/sessions/s1/turns", body)
    assert (codes(first, second), second.json()["duplicates"]) == ([200, 200], 2)
    other = {**body, "turns": [{**turn, "content": f"{request}!"}]}
    assert (await wired.front.post("/v1/sessions/s1/turns", other)).status_code == 409

    done = {"user_id": "ann", "outcome": {"status": "success", "source": "user"}}
    first, second = await wired.twice("POST", "/v1/sessions/s1/complete", done)
    assert codes(first, second) == [202, 202]
    assert first.json()["reflection_id"] == second.json()["reflection_id"]

    run = {"user_id": "ann", "run_id": "r1", "turns": [turn], "outcome": {"status": "success", "source": "env"}}
    first, second = await wired.twice("POST", "/v1/episodes", run)
    assert (codes(first, second), second.json()["duplicate"]) == ([202, 202], True)
    assert (await wired.front.post("/v1/episodes", {**run, "goal": "other"})).status_code == 409

    worse = {"status": "failure", "source": "env"}
    first, second = await wired.twice("POST", f"/v1/episodes/{first.json()['episode_id']}/outcome", worse)
    assert codes(first, second) == [202, 202]
    corrected = first.json()["reflection_id"]
    assert corrected == second.json()["reflection_id"]

    ended = ReflectionStatus.COMPLETED
    await wired.front.engine.ledger.write(lambda conn: reflections.finish(conn, corrected, ended, NOON))
    first, second = await wired.twice("POST", f"/v1/reflections/{corrected}/rerun", {"apply": True})
    assert (codes(first, second), first.json()["reflection_id"]) == ([200, 200], second.json()["reflection_id"])


async def _memories(wired: Wired, wish: str, home: str, next_home: str) -> None:
    body = {"user_id": "ben", "content": wish}
    first, second = await wired.twice("POST", "/v1/memories", body, **{"Idempotency-Key": "k1"})
    assert (codes(first, second), first.json()["action"], first.json()["id"]) == ([201, 201], "add", second.json()["id"])
    wish_id = first.json()["id"]

    slot = {"kind": "fact", "subject": "user", "attribute": "home"}
    # Without a key a repetition says it once more; that the answer to one commit was lost does not.
    await wired.lose_the_next_commit()
    kept = await wired.front.post("/v1/memories", {"user_id": "ben", "content": home, **slot})
    assert kept.status_code == 201, kept.text
    assert kept.json()["action"] == "add"
    kept_id = kept.json()["id"]
    await wired.lose_the_next_commit()
    kept = await wired.front.post("/v1/memories", {"user_id": "ben", "content": next_home, **slot})
    assert (kept.status_code, kept.json()["action"], kept.json()["supersedes"]) == (201, "supersede", [kept_id]), kept.text

    url = f"/v1/memories/{wish_id}"
    assert codes(*await wired.twice("POST", f"{url}/confirm", {"reason": "on the phone"})) == [200, 200]
    first, second = await wired.twice("PATCH", url, {"conclusion": f"{wish} (2)"})
    assert (codes(first, second), first.json()["id"]) == ([200, 200], second.json()["id"])
    edited = f"/v1/memories/{first.json()['id']}"
    assert codes(*await wired.twice("POST", f"{edited}/reject", {"reason": "no"})) == [200, 200]

    await wired.lose_the_next_commit()
    assert (await wired.front.http.delete(edited)).status_code == 204
    assert (await wired.front.http.delete(edited)).status_code == 404, "somebody else's deletion is none of ours"


async def test_feedback_counts_once(wired: Wired) -> None:
    kept = (await wired.front.post("/v1/memories", {"user_id": "ann", "content": "I prefer window seats"})).json()["id"]
    recall = (await wired.front.post("/v1/recall", {"user_id": "ann", "query": "which seat, window or aisle"})).json()
    assert [item["memory_id"] for item in recall["items"]] == [kept]
    await wired.front.settled()
    first, second = await wired.twice("POST", f"/v1/recalls/{recall['recall_id']}/feedback", {"verdict": "helpful"})
    assert codes(first, second) == [200, 200]
    assert (await wired.front.http.get(f"/v1/memories/{kept}")).json()["helpful"] == 1
