"""The same erasure where the ledger is on Postgres and the index on Weaviate: no row, no object, no tenant of the user is left."""

from pathlib import Path
from typing import Any

import httpx2
import pytest

from hindwise.clock import SystemClock
from hindwise.engine import open_engine
from hindwise.index import factory
from hindwise.index.projection import index_space
from hindwise.index.weaviate_names import collection_name, tenant_name
from hindwise.ledger import generations
from hindwise.ledger.engine import Ledger
from hindwise.model.space import user_space
from hindwise.privacy import erase_user
from hindwise.settings import Settings
from hindwise.testing import HashedEmbedder
from tests.build import TENANT
from tests.privacy.living import USER, WORD, ZH, live_briefly, tables_with


@pytest.fixture
async def settings(weaviate_server: Any, postgres_url: str, tmp_path: Path) -> Any:
    """Both servers; what was made in Weaviate is removed afterwards."""
    chosen = Settings(
        _env_file=None,
        data=tmp_path,
        index="weaviate",
        database_url=postgres_url,
        secret_key="one secret for this installation",
        **weaviate_server.env(),
    )
    yield chosen
    ledger = Ledger.of(chosen)
    for kept in await ledger.read(generations.kept):
        await factory.remove_index(chosen, kept.kind, kept.no, chosen.secret_key.get_secret_value().encode())
    await ledger.close()


def tenants(settings: Settings, generation: int) -> set[str]:
    """What the server itself lists."""
    headers = {"Authorization": f"Bearer {settings.weaviate_api_key.get_secret_value()}"}
    collection = collection_name(generation, settings.secret_key.get_secret_value().encode())
    answer = httpx2.get(f"{settings.weaviate_url}/v1/schema/{collection}/tenants", headers=headers, trust_env=False)
    return {tenant["name"] for tenant in answer.raise_for_status().json()}


def directories(server: Any) -> set[str]:
    """Names of all that lies in the data directory; nothing of a server that the environment names."""
    data = getattr(server, "data", None)
    return {path.name.lower() for path in Path(data).rglob("*")} if data else set()


async def test_nothing_of_an_erased_user_is_left_on_the_servers(settings: Settings, weaviate_server: Any) -> None:
    async with open_engine(settings, SystemClock(), HashedEmbedder(16)) as engine:
        await live_briefly(engine)
        await live_briefly(engine, "bo", word="other")
        mine, theirs = index_space(TENANT, user_space(USER)), index_space(TENANT, user_space("bo"))
        [number] = [kept.no for kept in await engine.ledger.read(generations.kept)]
        before, others = await engine.index.ids(mine), await engine.index.ids(theirs)
        assert before
        assert others
        my_tenant, their_tenant = tenant_name(engine.secret, mine), tenant_name(engine.secret, theirs)
        assert {my_tenant, their_tenant} <= tenants(settings, number)
        assert USER.lower() not in " ".join(tenants(settings, number) | directories(weaviate_server)).lower()

        done = await erase_user.erase(engine, (await erase_user.request(engine, TENANT, USER, "test")).id)

        assert done.status == "completed"
        assert done.counts["index"] == {f"weaviate {number}": len(before)}
        assert await engine.index.ids(mine) == set()
        assert await engine.index.ids(theirs) == others
        assert my_tenant not in tenants(settings, number)
        assert their_tenant in tenants(settings, number)
        left = directories(weaviate_server)
        assert not left or their_tenant.lower() in left
        assert not [name for name in left if my_tenant.lower() in name]
        assert await engine.ledger.read(lambda conn: tables_with(conn, WORD)) == set()
        assert "memories" in await engine.ledger.read(lambda conn: tables_with(conn, "other", ZH))
