"""A real HTTP server on a free loopback port that speaks /v1/embeddings and misbehaves on demand. No model, no outside network."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from hindwise.testing import hashed_vector

DIM = 64


class FakeEmbeddings:
    """`mode`: "ok", an HTTP status, "hang", "html", "short" (a vector too few), "wide" (another dimension), "zero" or "shuffled"."""

    def __init__(self) -> None:
        self.mode: str | int = "ok"
        self.error_code = ""
        self.retry_after = ""
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.closing = threading.Event()
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                fake.requests.append(body)
                fake.keys.append(self.headers.get("authorization", ""))
                fake.answer(self, body)

            def log_message(self, format: str, *args: Any) -> None:
                """Tests stay quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def close(self) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def answer(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        if self.mode == "hang":
            self.closing.wait(30)
            return
        if self.mode == "html":
            return _send(handler, 200, b"<html>hello</html>", "text/html")
        if isinstance(self.mode, int):
            error = {"error": {"message": "refused on demand", "code": self.error_code}}
            return _send(handler, self.mode, json.dumps(error).encode(), retry_after=self.retry_after)
        texts = body["input"]
        dim = DIM + 1 if self.mode == "wide" else DIM
        # Three times as long as a unit vector: making it one is the embedder's part.
        rows = [[0.0] * dim if self.mode == "zero" else (3 * hashed_vector(text, dim)).tolist() for text in texts]
        data = [{"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(rows)]
        if self.mode == "short":
            data = data[:-1]
        if self.mode == "shuffled":
            data.reverse()
        answer = {"object": "list", "model": body["model"], "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}}
        return _send(handler, 200, json.dumps(answer).encode())


def _send(handler: BaseHTTPRequestHandler, status: int, body: bytes, kind: str = "application/json", *, retry_after: str = "") -> None:
    handler.send_response(status)
    handler.send_header("content-type", kind)
    handler.send_header("content-length", str(len(body)))
    if retry_after:
        handler.send_header("retry-after", retry_after)
    handler.end_headers()
    handler.wfile.write(body)
