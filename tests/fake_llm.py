"""A real HTTP server that speaks /v1/chat/completions and misbehaves on demand. No model, no outside network.

    async with FakeLlm() as llm:                 # or `with FakeLlm() as llm:`
        llm.script("rate_limited:7", "ok")       # queue: one behaviour for each request
        llm.mode = "server_error"                # after the queue; default "ok"
        ... HINDWISE_LLM_BASE_URL=llm.url, any LLM_MODEL ...
        llm.requests                             # the bodies of the questions so far

From another process: POST {url without /v1}/control {"script": [...], "mode": "ok"}; GET /requests. `python -m tests.fake_llm --port N`
serves until it is ended.

Behaviours (`name` or `name:argument`):
    ok                       a valid answer about the transcript in the prompt, quoting a real span, in its language
    fenced, prose            the same in a Markdown fence; the same with talk before and after
    think, think_open        the same after thoughts that hold JSON of their own; after thoughts whose first tag is missing
    wide                     the same with the punctuation of Chinese typing: ｛“key”：［1，2］｝
    parts                    the same as a list of content parts
    nothing                  an empty answer with its reason
    rate_limited:S           429 with Retry-After: S (default 1)
    server_error:N           status N (default 500)
    unauthorized, unknown_model, no_credit, too_long     401; 404; 429 insufficient_quota; 400 context_length_exceeded
    half_json                a content that ends in the middle;  broken_body: an HTTP body that does
    unclosed                 a content that lacks its last brackets only
    cut                      a content that stopped at the token limit
    says:TEXT                this content, as it is
    invented_quote           valid, but quoting what nobody said
    obeys                    does what tools and pages say: a lesson and each sort of item in their words, quoted from them
    obeys_beside_user        the same, naming the user's first turn beside them
    bad_item                 valid but for one lesson without conclusion
    other_language           valid, in Chinese about an English transcript and the other way round
    nan, wrong_types         NaN where a number belongs; texts, objects and lists where others belong
    empty, empty_success     no content; valid JSON with nothing in it and no reason
    empty_choices, no_choices, odd_choices               a completion without, with null, or with a text for its choices
    odd_usage                ok, with words and negative numbers for its usage
    html, stream             200 with a web page; 200 with the events of a stream nobody asked for
    huge:N                   a content of N million characters (default 5), valid JSON in its beginning
    slow:S                   ok, byte by byte over S seconds (default 1)
    refuses_json_schema      400 to json_schema, else ok;  refuses_json_schema_500: 500 to it;  refuses_formats: 400 to any format
    refuses_json_object      400 to json_object and 500 to json_schema, else ok
    refuses_max_tokens, refuses_temperature              400 to that parameter, else ok
    hangs, drops             no answer until the server is closed; connection closed without one
"""

import argparse
import json
import threading
import time
from collections import deque
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.request import Request, urlopen

from tests.fake_answers import INVENTED, content_of, turns_in

__all__ = ["INVENTED", "FakeLlm", "control", "turns_in"]


class FakeLlm:
    """The server. Behaviours may be set before it starts and while it runs; safe from any thread."""

    def __init__(self, script: Sequence[str] = (), *, mode: str = "ok", port: int = 0) -> None:
        self.mode = mode
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.came: list[float] = []
        """When each of them came, by time.monotonic."""
        self.closing = threading.Event()
        self._queue = deque(script)
        self._lock = threading.Lock()
        self._port = port
        self._server: ThreadingHTTPServer | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The base URL for LLM_BASE_URL."""
        assert self._server is not None, "start it first"
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def script(self, *behaviours: str) -> None:
        """Queue behaviours, one for each request to come."""
        with self._lock:
            self._queue.extend(behaviours)

    def take(self) -> str:
        """The behaviour of the next request."""
        with self._lock:
            return self._queue.popleft() if self._queue else self.mode

    def control(self, wish: dict[str, Any]) -> None:
        """What POST /control does: `script` replaces the queue, `mode` what follows it."""
        with self._lock:
            if "script" in wish:
                self._queue = deque(wish["script"])
            self.mode = str(wish.get("mode", self.mode))

    def start(self) -> "FakeLlm":
        """Begin to listen on a free loopback port."""
        fake = self

        class Handler(_Handler):
            llm = fake

        self._server = ThreadingHTTPServer(("127.0.0.1", self._port), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, name="fake-llm", daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """End the server and what hangs in it; every thread is joined."""
        self.closing.set()
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._thread.join(timeout=5)
            self._server.server_close()

    def __enter__(self) -> "FakeLlm":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    async def __aenter__(self) -> "FakeLlm":
        return self.start()

    async def __aexit__(self, *_: object) -> None:
        self.stop()


class _Handler(BaseHTTPRequestHandler):
    llm: FakeLlm
    timeout = 30

    def log_message(self, *_: object) -> None:
        """Silent: tests read `requests`."""

    def do_GET(self) -> None:
        self._send(200, self.llm.requests if self.path == "/requests" else {"ok": True})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", "0"))) or b"{}")
        if self.path == "/control":
            self.llm.control(body)
            self._send(200, {"ok": True})
        elif self.path.endswith("/chat/completions"):
            self.llm.came.append(time.monotonic())
            self.llm.requests.append(body)
            self.llm.keys.append(self.headers.get("authorization", ""))
            name, _, argument = self.llm.take().partition(":")
            self._behave(name, argument, body)
        else:
            self._send(404, {"error": {"message": "no such path"}})

    def _behave(self, name: str, argument: str, body: dict[str, Any]) -> None:
        if name == "hangs":
            self.llm.closing.wait(timeout=600)
        elif name == "drops":
            self.close_connection = True
        elif refusal := _refusal(name, argument, body):
            status, error, headers = refusal
            self._send(status, {"error": error}, headers)
        elif name == "html":
            self._send_bytes(200, b"<html>hello</html>", {"content-type": "text/html"})
        elif name == "broken_body":
            self._send_bytes(200, b'{"id": "x", "choices": [{"mess', {"content-type": "application/json"})
        elif name == "stream":
            self._send_bytes(
                200, b'data: {"choices": [{"delta": {"content": "{"}}]}\n\ndata: [DONE]\n\n', {"content-type": "text/event-stream"}
            )
        elif name == "slow":
            self._drip(_answered(name, argument, body), float(argument or 1))
        else:
            self._send(200, _answered(name, argument, body))

    def _drip(self, value: object, seconds: float) -> None:
        """In fifty pieces, until whoever asked goes away."""
        data = json.dumps(value, ensure_ascii=False).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        step = len(data) // 50 + 1
        try:
            for start in range(0, len(data), step):
                self.wfile.write(data[start : start + step])
                self.wfile.flush()
                time.sleep(seconds / 50)
        except OSError:
            self.close_connection = True

    def _send(self, status: int, value: object, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
        self._send_bytes(status, data, {"content-type": "application/json"} | (headers or {}))

    def _send_bytes(self, status: int, data: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _refusal(name: str, argument: str, body: dict[str, Any]) -> tuple[int, dict[str, Any], dict[str, str]] | None:
    asked = (body.get("response_format") or {}).get("type", "")
    echo = str(body.get("messages"))[:300]  # as some servers do: it must not come out in our errors
    table: dict[str, tuple[bool, int, dict[str, Any], dict[str, str]]] = {
        "rate_limited": (True, 429, {"message": "slow down", "code": "rate_limit_exceeded"}, {"retry-after": argument or "1"}),
        "server_error": (True, int(argument) if argument.isdigit() else 500, {"message": f"oops {echo}"}, {}),
        "unauthorized": (True, 401, {"message": "Incorrect API key provided: sk-tes***", "code": "invalid_api_key"}, {}),
        "unknown_model": (True, 404, {"message": "The model does not exist", "code": "model_not_found"}, {}),
        "no_credit": (True, 429, {"message": "quota", "code": "insufficient_quota"}, {}),
        "too_long": (True, 400, {"message": "maximum context length", "code": "context_length_exceeded"}, {}),
        "bad_request": (True, 400, {"message": f"cannot read {echo}"}, {}),
        "refuses_json_schema": (asked == "json_schema", 400, {"message": "response_format: json_schema is not supported"}, {}),
        "refuses_json_schema_500": (asked == "json_schema", 500, {"message": "Internal Server Error"}, {}),
        "refuses_formats": (bool(asked), 422, {"message": "unknown field `response_format`"}, {}),
        "refuses_json_object": (
            bool(asked),
            500 if asked == "json_schema" else 400,
            {"message": "Internal Server Error" if asked == "json_schema" else "response_format: json_object is not supported"},
            {},
        ),
        "refuses_max_tokens": ("max_tokens" in body, 400, {"message": "Unsupported parameter: 'max_tokens'"}, {}),
        "refuses_temperature": ("temperature" in body, 400, {"message": "Unsupported value: 'temperature'"}, {}),
    }
    applies, status, error, headers = table.get(name, (False, 0, {}, {}))
    return (status, error, headers) if applies else None


def _answered(name: str, argument: str, body: dict[str, Any]) -> dict[str, Any]:
    """The body of a 200, with what is wrong about its frame."""
    content = argument if name == "says" else content_of(name, body)
    if name == "huge":
        content = f"{content} {'and so on ' * (int(argument or 5) * 100_000)}"
    answer = _completion(content, body, "length" if name == "cut" else "stop")
    match name:
        case "empty_choices":
            answer["choices"] = []
        case "no_choices":
            answer["choices"] = None
        case "odd_choices":
            answer["choices"] = {"first": "a text"}
        case "odd_usage":
            answer["usage"] = {"prompt_tokens": "many", "completion_tokens": -7, "total_tokens": None}
        case "parts":
            answer["choices"][0]["message"]["content"] = [{"type": "text", "text": content}]
    return answer


def _completion(content: str | None, body: dict[str, Any], reason: str) -> dict[str, Any]:
    prompt = sum(len(str(message["content"])) for message in body["messages"]) // 4
    return {
        "id": "chatcmpl-fake",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [{"index": 0, "finish_reason": reason, "message": {"role": "assistant", "content": content}}],
        "usage": {"prompt_tokens": prompt, "completion_tokens": len(content or "") // 4, "total_tokens": prompt + len(content or "") // 4},
    }


def control(url: str, *script: str, mode: str = "ok") -> None:
    """Set the behaviours of a server in another process; `url` as FakeLlm.url."""
    wish = json.dumps({"script": list(script), "mode": mode}).encode()
    with urlopen(Request(f"{url.removesuffix('/v1')}/control", data=wish, method="POST"), timeout=5) as answer:
        answer.read()


def main() -> None:
    """Serve until ended; prints the base URL."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--mode", default="ok")
    chosen = parser.parse_args()
    with FakeLlm(mode=chosen.mode, port=chosen.port) as llm:
        print(llm.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
