"""The command line as a process of its own, and an API that answers from a script."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("HINDWISE_", "LLM_", "EMBEDDING_"))}


def hindwise(*arguments: str, cwd: Path, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hindwise.cli", *arguments],
        cwd=cwd,
        env={**CLEAN, **env},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


class FakeApi(BaseHTTPRequestHandler):
    """Answers what the test scripted, and notes what was asked."""

    def _answer(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length) or b"null")
        self.server.asked.append((self.command, self.path, body, self.headers.get("Authorization")))
        scripted = self.server.script[(self.command, self.path.partition("?")[0])]
        status, document = scripted(body) if callable(scripted) else scripted
        payload = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    do_GET = do_POST = _answer

    def log_message(self, *_: Any) -> None:
        return


@contextmanager
def fake_api(script: dict[tuple[str, str], Any]) -> Iterator[Any]:
    with ThreadingHTTPServer(("127.0.0.1", 0), FakeApi) as server:
        server.script, server.asked = script, []
        server.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
