"""What comes before a request is one: headers bounded in size and time, and whatever is no HTTP answered as a problem."""

import contextlib
import json
import socket
import time
from collections.abc import Iterator

import pytest

from api import wire
from tests.api.front import Front
from tests.api.live import Live, live_server

_SHORT_S = 0.5


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """One server that waits half a second for headers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wire, "HEAD_LIMIT_S", _SHORT_S)
        with live_server(tmp_path_factory.mktemp("wire")) as serving:
            yield serving


def _sent(live: Live, *pieces: bytes, pause: float = 0.0) -> bytes:
    """All that comes back until the server ends the connection, ten seconds at most."""
    host, _, port = live.url.removeprefix("http://").partition(":")
    answer = b""
    with socket.create_connection((host, int(port)), timeout=10) as conn:
        for piece in pieces:
            conn.sendall(piece)
            time.sleep(pause)
        while part := conn.recv(65_536):
            answer += part
    return answer


def _problem(answer: bytes) -> tuple[int, str]:
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"content-type: application/problem+json" in head
    told = json.loads(body)
    return told["status"], told["type"]


def test_a_connection_that_says_nothing_is_ended(live: Live) -> None:
    assert _sent(live) == b""


@pytest.mark.parametrize("pieces", [(b"GET /healthz HTTP/1.1\r\nHost",), (b"GET /healthz HTTP/1.1\r\n", *[b"X-A: b\r\n"] * 4)])
def test_headers_that_do_not_come_to_an_end_are_408(live: Live, pieces: tuple[bytes, ...]) -> None:
    assert _problem(_sent(live, *pieces, pause=0.05)) == (408, "request-timeout")


def test_a_further_request_on_the_same_connection_has_its_own_time(live: Live) -> None:
    whole = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    answer = _sent(live, whole, whole, b"GET /heal", pause=0.35)
    assert answer.count(b"HTTP/1.1 200 OK") == 2
    assert answer.count(b"HTTP/1.1 408") == 1


@pytest.mark.parametrize("request_line", [b"GET /healthz HTTP/1.1", b"POST /v1/memories HTTP/1.1"])
def test_a_body_that_goes_on_after_its_answer_holds_no_connection(live: Live, request_line: bytes) -> None:
    began = time.monotonic()
    answer = b""
    host, _, port = live.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=10) as conn, contextlib.suppress(ConnectionError):
        conn.sendall(request_line + b"\r\nHost: x\r\nContent-Length: 100\r\n\r\n")
        answer = conn.recv(65_536)
        for _ in range(90):
            conn.sendall(b"x")
            time.sleep(0.1)
    assert answer.startswith((b"HTTP/1.1 200", b"HTTP/1.1 401"))
    assert time.monotonic() - began < 8


@pytest.mark.parametrize("header", [b"X-A: " + b"a" * 70_000, b"X-A: a\r\n" * 9_000])
def test_headers_without_measure_are_431(live: Live, header: bytes) -> None:
    assert _problem(_sent(live, b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + header)) == (431, "request-header-fields-too-large")


def test_what_is_no_http_is_400(live: Live) -> None:
    assert _problem(_sent(live, b"HELO there\r\n\r\n")) == (400, "bad-request")


def test_a_large_body_is_no_large_head(live: Live) -> None:
    body = json.dumps({"user_id": "ann", "turns": [{"role": "user", "content": "好" * 60_000}]}).encode()
    head = f"POST /v1/sessions/s1/turns HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {live.key}\r\nConnection: close\r\n"
    answer = _sent(live, f"{head}Content-Length: {len(body)}\r\n\r\n".encode(), body[:90_000], body[90_000:], pause=0.3)
    assert answer.startswith(b"HTTP/1.1 200 OK")


async def test_a_compressed_body_is_refused_in_words_that_say_so(front: Front) -> None:
    for path in ("/v1/memories", "/v1/hooks/dify"):
        answer = await front.http.post(path, content=b"\x1f\x8b\x08", headers={"Content-Encoding": "gzip"})
        assert (answer.status_code, answer.json()["type"]) == (415, "unsupported-media-type")
        assert "gzip" in answer.json()["detail"]
        as_it_is = await front.http.post(path, content=b"[]", headers={"Content-Encoding": "UTF-8"})
        assert as_it_is.status_code != 415


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
async def test_a_probe_may_ask_for_the_head_alone(front: Front, path: str) -> None:
    assert (await front.http.head(path)).status_code == 200
