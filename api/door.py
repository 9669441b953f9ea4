"""What happens before and after every route: key, rate, scope, size, content type, and the answer under an Idempotency-Key.

A route says what it needs by `openapi_extra=needs("write")`; so what is checked and what /docs tells are the same words.
"""

import asyncio
import hashlib
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from api import auth, kept_answers
from api.errors import UnsupportedMedia
from api.reading import parse_json, read_body
from api.services import Services, services_of
from hindwise.errors import InvalidInput
from hindwise.ledger import idempotency
from hindwise.ledger.keys import KeyRow
from hindwise.model.ids import digest

_MAX_IDEMPOTENCY_KEY = 255
_LARGE_BODY = 256 * 1024
"""From here on parsing would hold the loop for more than a few milliseconds."""
_KEPT_HEADERS = ("location", "retry-after")
_ERASURES = "/v1/erasures"

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


def needs(scope: str, *, raw_body: bool = False) -> dict[str, Any]:
    """Return the `openapi_extra` of a route: the scope its key must have; `raw_body`: it reads the bytes itself, whatever their type."""
    return {"x-scope": scope, "x-raw-body": raw_body, "security": [{"bearer": []}, {"apiKey": []}]}


class Door(APIRoute):
    """A route behind the door."""

    def get_route_handler(self) -> Handler:
        """Wrap FastAPI's handler."""
        inner = super().get_route_handler()
        extra = self.openapi_extra or {}
        scope, raw_body = str(extra["x-scope"]), bool(extra["x-raw-body"])
        takes_json = self.body_field is not None

        async def handle(request: Request) -> Response:
            services = services_of(request)
            caller = await services.keyring.identify(request)
            services.rate.take(caller.id)
            auth.check_scope(caller, scope)
            request.state.caller = caller
            if request.method not in {"POST", "PATCH"}:
                return await inner(request)
            _check_coding(request)
            body = await read_body(request, services.engine.settings.max_request_bytes)
            request._body = body
            if takes_json and not raw_body:
                await _read_json(request, body)
            # An edit needs no key: its memory's id derives from the words.
            key = request.headers.get("idempotency-key", "").strip() if request.method == "POST" else ""
            # A hook's runs have ids, and a refusal would fail the sender's run: there the key only names a run that brings none.
            if not key or raw_body:
                return await inner(request)
            return await _once(services, caller, request, body, key, inner, keep_answer=scope != "read")

        return handle


def _check_coding(request: Request) -> None:
    coding = request.headers.get("content-encoding", "").strip().lower()
    # A charset is what some senders take it for: the body is as it is.
    if coding not in {"", "identity", "utf-8", "utf8"}:
        raise UnsupportedMedia(f"the body is encoded as {coding[:40]!r}: send it as it is, without `Content-Encoding`")


async def _read_json(request: Request, body: bytes) -> None:
    """Parse once, under our limits, and leave the value where FastAPI looks for it."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind and kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        raise UnsupportedMedia(f"the body is {kind[:100]!r}: send JSON with the header `Content-Type: application/json`")
    if body:
        large = len(body) > _LARGE_BODY
        request._json = await asyncio.to_thread(parse_json, body) if large else parse_json(body)


async def _once(
    services: Services, caller: KeyRow, request: Request, body: bytes, key: str, inner: Handler, *, keep_answer: bool
) -> Response:
    """Answer a repeated request as the first time. A second one that comes to this process while the first runs waits for it.

    In another process the same body runs beside the first, whose writing it finds, and another body is refused.
    """
    if len(key) > _MAX_IDEMPOTENCY_KEY or not key.isprintable():
        raise InvalidInput(f"Idempotency-Key: at most {_MAX_IDEMPOTENCY_KEY} printable characters")
    path = request.url.path[:500]
    digested = digest([request.url.path, request.url.query, hashlib.sha256(body).hexdigest()])
    engine, tenant = services.engine, caller.tenant_id
    # Of an erasure the receipt is kept, not the user: who asks again under the same key is shown the same one.
    user = None if path == _ERASURES else kept_answers.user_in(getattr(request, "_json", None))
    this = kept_answers.Kept(key, path, digested, user, kept_answers.named_in(request))
    lock = f"{tenant}\n{key}"
    await services.locks.acquire(lock)
    try:
        kept, asked = await engine.ledger.write(lambda conn: kept_answers.begin(conn, engine, tenant, this))
        if kept is not None:
            # Of a read the key alone was kept.
            return await inner(request) if kept.response is None else _replay(kept)
        try:
            response = await inner(request)
        except Exception:
            await kept_answers.release(engine, tenant, asked)
            raise
        if response.status_code >= 400:
            await kept_answers.release(engine, tenant, asked)
        else:
            # Of reads only the key is kept: their answers hold words that an erasure must not have to look for here.
            answer, named = _portable(response) if keep_answer else None, kept_answers.named_in(request, response)
            await engine.ledger.write(lambda conn: kept_answers.keep(conn, engine, caller, asked, named, response.status_code, answer))
        return response
    finally:
        services.locks.release(lock)


def _portable(response: Response) -> dict[str, Any]:
    return {
        "body": bytes(response.body).decode(),
        "media_type": response.media_type or "application/json",
        "headers": {name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers},
    }


def _replay(kept: idempotency.Kept) -> Response:
    answer = kept.response
    headers = {**answer["headers"], "Idempotent-Replayed": "true"}
    return Response(answer["body"], kept.status_code, headers=headers, media_type=answer["media_type"])
