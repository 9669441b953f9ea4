"""After an erasure no byte of the user is left: not in a table, not in a file of ledger or index, not in their logs."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import select

from hindwise.ledger.schema import memories, memory_events
from hindwise.privacy import erase_user
from tests.api.front import Front, open_front
from tests.privacy.living import USER, WORD, ZH, files_with, live, rows, tables_with

TENANT = "default"


@pytest.fixture
async def front(tmp_path: Path) -> AsyncIterator[Front]:
    """An installation of its own."""
    async with open_front(tmp_path / "data") as opened:
        yield opened


async def test_no_byte_of_an_erased_user_is_left_in_any_file(front: Front) -> None:
    await live(front)
    data = front.engine.settings.data
    planted = await front.engine.ledger.read(lambda conn: tables_with(conn, WORD, ZH))
    assert planted >= {"sessions", "turns", "episodes", "reflections", "drafts", "memories", "evidence", "recalls"}
    assert planted >= {"credits", "idempotency_keys", "spaces"}
    assert {"ledger.db", "index-1.db"} <= {name.removesuffix("-wal") for name in files_with(data)}

    asked = await erase_user.request(front.engine, TENANT, USER, "test")
    done = await erase_user.erase(front.engine, asked.id)

    assert done.status == "completed"
    assert await front.engine.ledger.read(lambda conn: tables_with(conn, WORD, ZH)) == set()
    assert files_with(data) == {}
    assert set(await front.engine.ledger.read(rows)) <= {"tenants", "api_keys", "installation", "generations", "erasures", "leases"}
    assert sum(done.counts["index"].values()) > 0
    assert done.counts["ledger"]["turns"] == 15
    assert done.counts["searched"]["ledger"] == 0
    assert done.counts["shared_lessons_kept"] == 0


async def test_a_shared_lesson_stays_without_the_user_it_came_from(front: Front) -> None:
    """It passed the scrub; quotes, turns and the reflection that wrote it are gone."""
    await live(front, agent="clerk")
    asked = await erase_user.request(front.engine, TENANT, USER, "test")
    done = await erase_user.erase(front.engine, asked.id)
    left = await front.engine.ledger.read(lambda conn: conn.execute(select(memories)).all())
    assert {row.space for row in left} == {"agent:clerk"}
    assert done.counts["shared_lessons_kept"] == len(left) > 0
    assert {row.reflection_id for row in left} == {""}
    kept = await front.engine.ledger.read(rows)
    shared = {"spaces", "memories", "memory_events", "embeddings"}
    assert set(kept) <= {"tenants", "api_keys", "installation", "generations", "erasures", "leases"} | shared
    actors = await front.engine.ledger.read(lambda conn: set(conn.execute(select(memory_events.c.actor)).scalars()))
    assert actors == {"reflection:erased"}
    assert files_with(front.engine.settings.data, [USER.encode(), f"user:{WORD}".encode(), b"seats"]) == {}


async def test_the_forgotten_memory_leaves_no_byte_in_the_index_or_its_log(front: Front) -> None:
    """Erasing one memory cuts the log of the index too."""
    written = (await front.post("/v1/memories", {"user_id": "ann", "content": "My hotel is the Adlon. 我住在北京饭店"})).json()
    while await front.engine.projection.one_space():
        pass
    planted = [written["id"].encode()]
    assert "index-1.db" in {name.removesuffix("-wal") for name in files_with(front.engine.settings.data, planted)}
    assert (await front.http.delete(f"/v1/memories/{written['id']}")).status_code == 204
    assert [name for name in files_with(front.engine.settings.data, planted) if name.startswith("index")] == []
