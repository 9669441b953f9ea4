"""The product on a Temporal that is reached as in the cloud: TLS, a client certificate, an API key. And what is said when one is wrong."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from api.app import create_app
from api.temporal import TemporalStarter
from hindwise.cli.worker_process import run_worker
from hindwise.errors import InvalidInput
from hindwise.settings import Settings
from tests.nobody import nobody_at
from tests.temporal_access.conftest import KEY, NAMESPACE
from tests.tls_temporal import SERVER_NAME, Front, Papers
from workflows import connection

pytestmark = pytest.mark.asyncio(loop_scope="module")


def settings_for(front: Front, papers: Papers, **values: Any) -> Settings:
    """Everything right, but for what the test changes."""
    return Settings(
        _env_file=None,
        **{
            "temporal_address": front.address,
            "temporal_namespace": NAMESPACE,
            "temporal_api_key": KEY,
            "temporal_tls_ca_file": str(papers.ca),
            "temporal_tls_cert_file": str(papers.client_cert),
            "temporal_tls_key_file": str(papers.client_key),
            "temporal_tls_server_name": SERVER_NAME,
            "embed": "none",
            "reflector": "rules",
            **values,
        },
    )


async def test_a_turn_becomes_a_reflection_and_a_brief(front: Front, papers: Papers, tmp_path: Path) -> None:
    settings = settings_for(front, papers, data=tmp_path / "data", task_queue_prefix="cloud-test")
    stop, ready = asyncio.Event(), asyncio.Event()
    worker = asyncio.create_task(run_worker(settings, stop, ready.set))
    try:
        await asyncio.wait([worker, asyncio.create_task(ready.wait())], timeout=60, return_when=asyncio.FIRST_COMPLETED)
        assert ready.is_set(), worker
        app = create_app(settings)
        async with app.router.lifespan_context(app):
            headers = {"Authorization": f"Bearer {(settings.data / 'api_key').read_text().strip()}"}
            transport = httpx2.ASGITransport(app=app)
            async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", headers=headers) as http:
                await _until(lambda: _status(http, "/readyz", "ready"))
                await _task(http)
    finally:
        stop.set()
        await worker
    assert front.refused == 0
    assert {"ExecuteMultiOperation", "PollWorkflowTaskQueue", "CreateSchedule"} <= set(front.passed)


async def _task(http: httpx2.AsyncClient) -> None:
    """A refused refund and a wish, in a session that Temporal keeps; then what is known before the next."""
    turns = [
        {"role": "user", "content": "以后都用中文回复我。Please refund order 7."},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "function": {"name": "refund", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "Error: refund window closed"},
    ]
    told = (await http.post("/v1/sessions/s1/turns", json={"user_id": "ana", "agent_id": "desk", "turns": turns})).json()
    assert told["status"] == "recorded", told  # acknowledged by the workflow, not only kept
    done = (await http.post("/v1/sessions/s1/complete", json={"outcome": {"status": "failure", "note": "refund refused"}})).json()
    await _until(lambda: _status(http, done["status_url"], "completed"))
    brief = (await http.post("/v1/recall", json={"user_id": "ana", "agent_id": "desk", "query": "refund an order"})).json()
    assert "中文" in brief["brief"]


async def _status(http: httpx2.AsyncClient, path: str, wanted: str) -> bool:
    return bool((await http.get(path)).json().get("status") == wanted)


async def _until(condition: Callable[[], Any], seconds: float = 30.0) -> None:
    async with asyncio.timeout(seconds):
        while not await condition():
            await asyncio.sleep(0.05)


# What is changed, and what the error must name: the setting that cures it.
WRONG: dict[str, tuple[Callable[[Front, Papers, Path], dict[str, Any]], str]] = {
    "a wrong key": (lambda *_: {"temporal_api_key": "another"}, "HINDWISE_TEMPORAL_API_KEY is wrong"),
    "no key": (lambda *_: {"temporal_api_key": ""}, "wants HINDWISE_TEMPORAL_API_KEY"),
    "another authority": (lambda _, other, __: {"temporal_tls_ca_file": str(other.ca)}, "HINDWISE_TEMPORAL_TLS_CA_FILE"),
    "another name": (lambda *_: {"temporal_tls_server_name": "other.test"}, "HINDWISE_TEMPORAL_TLS_SERVER_NAME"),
    "a namespace that is not there": (lambda *_: {"temporal_namespace": "nobody.x"}, "correct HINDWISE_TEMPORAL_NAMESPACE"),
    "a port that is none": (lambda *_: {"temporal_address": "127.0.0.1:99999"}, "is no address"),
    "a broken IPv6 address": (lambda *_: {"temporal_address": "[:::1:]:7233"}, "is no address"),
    "a key with a line end": (lambda *_: {"temporal_api_key": f"{KEY}\n"}, "HINDWISE_TEMPORAL_API_KEY"),
    "no file": (lambda _, __, tmp: {"temporal_tls_ca_file": str(tmp / "none.pem")}, "CA_FILE=.*cannot be read"),
    "no PEM": (lambda _, other, __: {"temporal_tls_cert_file": str(other.client_key)}, "CERT_FILE=.*holds no certificate"),
    "a certificate without its key": (lambda *_: {"temporal_tls_key_file": ""}, "belong together"),
    "keys of another pair": (lambda _, other, __: {"temporal_tls_key_file": str(other.client_key)}, "are no pair"),
    "files, but TLS off": (lambda *_: {"temporal_tls": "off"}, "does not go with"),
}


@pytest.mark.parametrize("what", WRONG)
async def test_what_is_wrong_is_told_at_once_with_the_setting_that_cures_it(
    front: Front, papers: Papers, strangers: Papers, tmp_path: Path, what: str
) -> None:
    """And a worker does not start with it: no waiting puts it right."""
    change, told = WRONG[what]
    settings = settings_for(front, papers, **change(front, strangers, tmp_path), data=tmp_path / "data")
    began = time.monotonic()
    with pytest.raises(connection.NotConnected, match=told) as failure:
        await connection.connect(settings)
    assert failure.value.lasting
    assert KEY not in str(failure.value)
    with pytest.raises(InvalidInput, match=told):
        await run_worker(settings, asyncio.Event())
    assert time.monotonic() - began < 10


PASSING: dict[str, tuple[Callable[[Front, Papers], dict[str, Any]], str]] = {
    "no client certificate": (lambda *_: {"temporal_tls_cert_file": "", "temporal_tls_key_file": ""}, "client certificate"),
    "a stranger's certificate": (
        lambda _, other: {"temporal_tls_cert_file": str(other.client_cert), "temporal_tls_key_file": str(other.client_key)},
        "refuse ours",
    ),
    "no TLS where it is wanted": (
        lambda *_: {
            "temporal_tls": "off",
            **dict.fromkeys(("temporal_tls_ca_file", "temporal_tls_cert_file", "temporal_tls_key_file"), ""),
            "temporal_tls_server_name": "",
        },
        "HINDWISE_TEMPORAL_TLS=on",
    ),
    "nobody there": (lambda *_: {"temporal_address": nobody_at()}, f"nothing listens at {nobody_at()}"),
    "an unknown host": (lambda *_: {"temporal_address": "temporal.invalid:7233"}, "not known"),
}


@pytest.mark.parametrize("what", PASSING)
async def test_what_may_pass_is_told_too_but_waited_for(front: Front, papers: Papers, strangers: Papers, what: str) -> None:
    change, told = PASSING[what]
    began = time.monotonic()
    with pytest.raises(connection.NotConnected, match=told) as failure:
        await connection.connect(settings_for(front, papers, **change(front, strangers)))
    assert not failure.value.lasting
    assert time.monotonic() - began < connection.CONNECT_S + 1


async def test_a_plain_server_asked_with_tls_says_so(front: Front, papers: Papers) -> None:
    with pytest.raises(connection.NotConnected, match="speaks no TLS"):
        await connection.connect(settings_for(front, papers, temporal_address=front.plain))
    plain = {"temporal_address": front.plain, "temporal_tls": "on", "temporal_tls_ca_file": str(papers.ca)}
    with pytest.raises(connection.NotConnected, match="speaks no TLS"):
        await connection.connect(Settings(_env_file=None, **plain))


async def test_a_key_alone_switches_tls_on(papers: Papers) -> None:
    settings = Settings(_env_file=None, temporal_api_key=KEY)
    assert connection.tls_of(settings) is True
    assert connection.tls_of(settings.model_copy(update={"temporal_tls": "off"})) is False
    assert connection.tls_of(Settings(_env_file=None)) is False


async def test_an_api_that_is_refused_says_so_once_and_goes_on_trying(
    front: Front, papers: Papers, capsys: pytest.CaptureFixture[str]
) -> None:
    """It accepts everything meanwhile; whoever reads its log finds the setting."""
    starter = TemporalStarter(settings_for(front, papers, temporal_api_key="of-yesterday"))
    refused = front.refused
    starter.open()
    try:
        async with asyncio.timeout(30):
            while front.refused < refused + 3:
                await asyncio.sleep(0.05)
        assert not starter.available()
        assert not await starter.check()
    finally:
        await starter.close()
    told = [line for line in capsys.readouterr().out.splitlines() if "temporal.refused" in line]
    assert len(told) == 1
    assert "HINDWISE_TEMPORAL_API_KEY is wrong" in told[0]
    assert "of-yesterday" not in told[0]
