"""A question asked by a message of our own finds what the client library's own way finds, and goes that way where the library changed."""

import secrets
from types import SimpleNamespace

import pytest
from weaviate.exceptions import WeaviateQueryError

from hindwise.index import factory
from hindwise.index.weaviate_asking import Asking
from hindwise.index.weaviate_client import Address, make_client
from hindwise.index.weaviate_names import collection_name, tenant_name
from hindwise.index.weaviate_schema import vector_name
from hindwise.settings import Settings
from tests.conformance.index.reference import DIM, make_item, random_items, unit

SPACE = "t/user:a"
KINDS = (frozenset(), frozenset({"fact"}), frozenset({"fact", "lesson"}), frozenset({"nothing"}))
TERMS = (["w1", "w2"], ["钥匙"], ["w3", "w4", "w5"])


@pytest.fixture
async def here(weaviate_server):
    """One tenant as the library gives it, with 150 memories in it, 30 of them Chinese."""
    env, secret = weaviate_server.env(), secrets.token_bytes(16)
    settings = Settings(_env_file=None, index_timeout_s=20, **env)
    index = await factory.open_index(settings, "weaviate", 1, DIM, secret)
    chinese = [make_item(f"zh-{number}", f"钥匙在第{number}个花盆下", space=SPACE) for number in range(30)]
    await index.upsert(random_items(120, space=SPACE) + chinese)
    client = make_client(
        Address(*(env[name] for name in ("WEAVIATE_URL", "WEAVIATE_GRPC_URL", "WEAVIATE_API_KEY"))), query_s=20, insert_s=20
    )
    await client.connect()
    yield client.collections.use(collection_name(1, secret)).with_tenant(tenant_name(secret, SPACE))
    await client.close()
    await index.close()
    await factory.remove_index(settings, "weaviate", 1, secret)


async def all_hits(asking: Asking, here) -> list:
    found = [await asking.by_words(here, terms, kinds, 40) for terms in TERMS for kinds in KINDS]
    return found + [await asking.by_meaning(here, unit(number), kinds, 40) for number in (1, 2, 3) for kinds in KINDS]


async def test_a_message_of_our_own_finds_what_the_library_finds(here) -> None:
    ours, theirs = Asking(vector_name(DIM)), Asking(vector_name(DIM), bare=False)
    found = await all_hits(ours, here)
    assert found == await all_hits(theirs, here)
    assert ours.bare, "the message was understood"
    assert sum(map(len, found)) > 100


async def test_an_inside_that_is_gone_is_not_asked_for(here) -> None:
    older = SimpleNamespace(name=here.name, tenant=here.tenant, consistency_level=None, query=here.query)
    assert await all_hits(Asking(vector_name(DIM)), older) == await all_hits(Asking(vector_name(DIM)), here)


async def test_an_inside_that_is_another_one_is_given_up_at_once_and_for_good(here) -> None:
    async def search(request, consistency):
        """Wants more than it did."""

    other = SimpleNamespace(
        name=here.name, tenant=here.tenant, consistency_level=None, query=here.query, _connection=SimpleNamespace(grpc_search=search)
    )
    asking = Asking(vector_name(DIM))
    assert await all_hits(asking, other) == await all_hits(Asking(vector_name(DIM)), here)
    assert not asking.bare


async def test_a_tenant_that_is_not_there_is_told_alike(here) -> None:
    missing = here.with_tenant("s_nobody")
    for asking in (Asking(vector_name(DIM)), Asking(vector_name(DIM), bare=False)):
        with pytest.raises(WeaviateQueryError, match="tenant not found"):
            await asking.by_words(missing, ["w1"], frozenset(), 5)
