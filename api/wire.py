"""How bytes of a connection become a request: bounded in size and time before there is one that the door could judge."""

import asyncio
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from api.errors import problem

MAX_HEAD_BYTES = 64 * 1024
"""Request line and headers."""
HEAD_LIMIT_S = 30.0
"""From the connection, or from the first byte of a further request on it, until its headers are whole; and from an answer that came early,
until the rest of its request has come."""


class Wire(HttpToolsProtocol):
    """uvicorn's protocol, which would hold headers of any size, and a connection that sends none for ever."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._in_head, self._head_bytes = True, 0
        self._patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn's
        """See asyncio.Protocol."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio.Protocol."""
        self._wait_no_more()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """See asyncio.Protocol."""
        self._head_bytes += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        if not self._in_head:
            if self.cycle.response_complete and self._patience is None:
                self._wait()  # the rest of a body that was answered before it had come: nobody reads it, and nobody else bounds it
        elif self._head_bytes > MAX_HEAD_BYTES:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, f"request line and headers hold more than {MAX_HEAD_BYTES} bytes")
        elif self._head_bytes and self._patience is None:
            self._wait()

    def on_headers_complete(self) -> None:
        """See uvicorn."""
        self._in_head, self._head_bytes = False, 0
        self._wait_no_more()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """See uvicorn."""
        self._in_head, self._head_bytes = True, 0
        self._wait_no_more()
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP is answered as a problem, too."""
        self._refuse(HTTPStatus.BAD_REQUEST, "the request could not be read: it is no HTTP/1.1")

    def _wait(self) -> None:
        self._patience = self.loop.call_later(HEAD_LIMIT_S, self._give_up)

    def _wait_no_more(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _give_up(self) -> None:
        self._patience = None
        if self.transport.is_closing():
            return
        if self.cycle is not None and not self.cycle.response_complete:
            self._wait()  # the answer to the request before is under way: what follows it is not read until then
        elif self._in_head and self._head_bytes:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, "the headers did not come in time: send the request again")
        else:
            self.transport.close()

    def _refuse(self, status: HTTPStatus, detail: str) -> None:
        self._wait_no_more()
        answer = problem(status, status.phrase.lower().replace(" ", "-"), detail, headers={"connection": "close"})
        head = b"".join(b"%s: %s\r\n" % header for header in answer.raw_headers)
        self.transport.write(f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() + head + b"\r\n" + answer.body)
        self.transport.close()
