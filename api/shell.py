"""The outermost layer: names each request, counts it, and turns what nobody caught into a problem without its words."""

import time
import traceback
from uuid import uuid4

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.errors import problem

_log = structlog.get_logger("hindwise.api")


class Shell:
    """Pure ASGI, so that it costs little and sees every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id, began, status = uuid4().hex, time.perf_counter(), 0

        async def named_send(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", []), (b"x-request-id", request_id.encode())]
            await send(message)

        try:
            await self._app(scope, receive, named_send)
        except Exception as error:  # the last place: the caller gets a problem, the log the place but not the words
            _log.error("request.failed", request=request_id, error=type(error).__name__, at=_places(error))
            if status:
                raise ConnectionError("the answer broke off after it had begun") from None
            answer = problem(500, "internal", f"our fault, not yours; the log has it under request {request_id}")
            await answer(scope, receive, named_send)
        finally:
            services = getattr(scope["app"].state, "services", None) if "app" in scope else None
            if services is not None:
                services.metrics.request(_method(scope), _route(scope), status or 500, time.perf_counter() - began)


def _places(error: BaseException) -> list[str]:
    """File and line of the innermost frames: messages of errors may quote what was stored."""
    frames = traceback.extract_tb(error.__traceback__)[-8:]
    return [f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno} {frame.name}" for frame in frames]


def _method(scope: Scope) -> str:
    method = str(scope["method"])
    return method if method in {"GET", "POST", "DELETE", "HEAD", "OPTIONS"} else "other"


def _route(scope: Scope) -> str:
    return str(getattr(scope.get("route"), "path", "unknown"))
