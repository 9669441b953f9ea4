"""A lean HTTP/1.1 client: one kept connection for each lane, so that what is measured is the server and not the client."""

import asyncio
import json
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

_LIMIT_S = 30.0


class Refused(RuntimeError):
    """The API answered with an error; its problem document is the message."""


class Door:
    """One connection to the API. Not for concurrent use: a lane has its own."""

    def __init__(self, url: str, key: str) -> None:
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 80
        self._head = f"Host: {self._host}:{self._port}\r\nAuthorization: Bearer {key}\r\n"
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def __aenter__(self) -> Self:
        self._reader, self._writer = await asyncio.open_connection(self._host, self._port)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._writer is not None:
            self._writer.close()

    async def post(self, path: str, body: Any) -> Any:
        """Send JSON, return JSON. Raises Refused for a status of 400 and more, TimeoutError after 30 s."""
        payload = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
        return await self._ask(
            f"POST {path} HTTP/1.1\r\n{self._head}Content-Type: application/json\r\nContent-Length: {len(payload)}\r\n\r\n", payload
        )

    async def get(self, path: str) -> Any:
        """Return JSON. Raises as post."""
        return await self._ask(f"GET {path} HTTP/1.1\r\n{self._head}\r\n", b"")

    async def _ask(self, head: str, payload: bytes) -> Any:
        assert self._reader is not None and self._writer is not None
        async with asyncio.timeout(_LIMIT_S):
            self._writer.write(head.encode() + payload)
            first, *lines = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            text = await self._reader.readexactly(int(headers.get("content-length", "0")))
        status = int(first.split(" ", 2)[1])
        if status >= 400:
            raise Refused(f"{head.splitlines()[0]} -> {status}: {text.decode(errors='replace')[:500]}")
        return json.loads(text) if text else None
