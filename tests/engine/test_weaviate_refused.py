"""Weaviate without a key, with a wrong one, or without its client: refused at the start, with the way out. And a key keeps others out."""

import subprocess
import sys
import time

import grpc
import httpx2
import pytest

from hindwise.engine import open_engine
from hindwise.errors import IndexUnavailable, InvalidInput
from hindwise.index import factory
from hindwise.index.weaviate_client import Trouble, trouble_of
from hindwise.settings import Settings
from hindwise.testing import FixedClock, HashedEmbedder
from tests.nobody import nobody_at

SECRET = b"a secret of this test, and of no other one"


async def open_with(server, **changed):
    settings = Settings(_env_file=None, **{**server.env(), **changed})
    return await factory.open_index(settings, "weaviate", 1, 8, SECRET)


async def test_the_engine_does_not_start_without_a_key(tmp_path) -> None:
    settings = Settings(
        _env_file=None, data=tmp_path, index="weaviate", weaviate_url="http://127.0.0.1:1", weaviate_grpc_url="http://127.0.0.1:2"
    )
    with pytest.raises(InvalidInput, match="needs WEAVIATE_API_KEY; its gRPC port listens on every network"):
        async with open_engine(settings, FixedClock(), HashedEmbedder()):
            pass
    with pytest.raises(InvalidInput, match="WEAVIATE_URL and WEAVIATE_GRPC_URL and WEAVIATE_API_KEY"):
        factory.check_index_settings(Settings(_env_file=None, index="weaviate"))


def test_settings_are_understood_with_and_without_prefix(monkeypatch) -> None:
    monkeypatch.setenv("WEAVIATE_URL", "http://a:1")
    monkeypatch.setenv("HINDWISE_WEAVIATE_GRPC_URL", "http://b:2")
    monkeypatch.setenv("HINDWISE_WEAVIATE_API_KEY", "key")
    settings = Settings(_env_file=None)
    assert (settings.weaviate_url, settings.weaviate_grpc_url) == ("http://a:1", "http://b:2")
    assert settings.weaviate_api_key.get_secret_value() == "key"


async def test_a_wrong_key_is_told_apart_from_a_server_that_is_away(weaviate_server) -> None:
    with pytest.raises(InvalidInput, match="refuses our key"):
        await open_with(weaviate_server, WEAVIATE_API_KEY="another")
    began = time.monotonic()
    with pytest.raises(IndexUnavailable, match="is away"):
        await open_with(weaviate_server, WEAVIATE_URL=f"http://{nobody_at()}")
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    "url",
    [
        "",
        "   ",
        "http://",
        "ftp://somewhere:1",
        "http://host:port",
        "http://[::1:80",
        "http://host:0",
        "http://host:80/v1",
        "http://u:p@h:80",
    ],
)
async def test_an_address_that_is_none_is_refused(weaviate_server, url: str) -> None:
    with pytest.raises(InvalidInput, match="WEAVIATE_GRPC_URL"):
        await open_with(weaviate_server, WEAVIATE_GRPC_URL=url)


@pytest.mark.parametrize("key", ["ends in a line end\n", "密码", " padded "])
async def test_a_key_that_no_header_can_carry_is_refused_as_what_it_is(weaviate_server, key: str) -> None:
    with pytest.raises(InvalidInput, match="WEAVIATE_API_KEY is no key"):
        await open_with(weaviate_server, WEAVIATE_API_KEY=key)


async def test_one_port_for_both_is_refused(weaviate_server) -> None:
    with pytest.raises(InvalidInput, match="a port for each"):
        await open_with(weaviate_server, WEAVIATE_GRPC_URL=weaviate_server.url)


async def test_an_address_without_http_before_it_is_the_same_address(weaviate_server) -> None:
    bare = {name: weaviate_server.env()[name].removeprefix("http://") for name in ("WEAVIATE_URL", "WEAVIATE_GRPC_URL")}
    await (await open_with(weaviate_server, **bare)).close()


async def test_a_place_whose_second_port_is_closed_is_not_begun(weaviate_server) -> None:
    """A build that began there would hold up every change and erasure."""
    settings = Settings(_env_file=None, **weaviate_server.env())
    await factory.check_place(settings, "weaviate", 9_999, SECRET)
    closed = Settings(_env_file=None, **{**weaviate_server.env(), "WEAVIATE_GRPC_URL": f"http://{nobody_at()}"})
    with pytest.raises(IndexUnavailable, match="not at WEAVIATE_GRPC_URL"):
        await factory.check_place(closed, "weaviate", 9_999, SECRET)


def test_the_server_answers_nobody_without_a_key(weaviate_server) -> None:
    for path in ("/v1/schema", "/v1/meta", "/v1/objects"):
        assert httpx2.get(f"{weaviate_server.url}{path}", trust_env=False).status_code == httpx2.codes.UNAUTHORIZED
    assert httpx2.get(f"{weaviate_server.url}/v1/schema", headers={"Authorization": "Bearer no"}, trust_env=False).status_code == 401


def test_its_grpc_port_which_listens_on_every_network_answers_nobody_without_a_key_either(weaviate_server) -> None:
    with grpc.insecure_channel(weaviate_server.grpc_url.removeprefix("http://")) as channel:
        search = channel.unary_unary("/weaviate.v1.Weaviate/Search")

        def told(**headers: str) -> str:
            with pytest.raises(grpc.RpcError) as refused:
                search(b"\x0a\x03Any", metadata=list(headers.items()), timeout=20)
            return str(refused.value.details())

        assert "unauthorized" in told()
        assert "unauthorized" in told(authorization="Bearer no")
        assert "could not find class" in told(authorization=f"Bearer {weaviate_server.api_key}"), "with the key it looks for what is asked"


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)


def test_without_the_client_the_way_to_it_is_told() -> None:
    done = run(
        "import asyncio, sys\n"
        "sys.modules['weaviate'] = None\n"
        "from hindwise.index.factory import open_index\n"
        "from hindwise.settings import Settings\n"
        "s = Settings(_env_file=None, weaviate_url='http://a:1', weaviate_grpc_url='http://a:2', weaviate_api_key='k')\n"
        "asyncio.run(open_index(s, 'weaviate', 1, 8, b'secret'))\n"
    )
    assert "pip install 'hindwise[weaviate]'" in done.stderr


def test_who_does_not_use_weaviate_does_not_load_its_client() -> None:
    done = run(
        "import sys, hindwise.engine, hindwise.recall.recall\nprint([m for m in ('weaviate', 'grpc', 'authlib') if m in sys.modules])"
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_no_error_of_a_server_that_starts_is_taken_for_an_answer() -> None:
    for text in (
        "could not find class Hind in schema",
        "tried to browse non-existing index for Hind",
        "UNAVAILABLE: x",
        "Deadline Exceeded",
    ):
        assert trouble_of(Exception(text)) is Trouble.AWAY
    assert trouble_of(Exception('tenant not found: "s_x"')) is Trouble.MISSING
    assert trouble_of(Exception("tenant not active: 's_x'")) is Trouble.RESTING
    for text in (
        "extract auth: unauthorized: invalid api key",
        "rbac: authorization, forbidden action: user 'a' has insufficient permissions",
        "anonymous access not enabled",
    ):
        assert trouble_of(Exception(text)) is Trouble.REFUSED
    assert trouble_of(Exception("wrong vector length")) is Trouble.OTHER
