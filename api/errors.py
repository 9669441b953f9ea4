"""What an error is on the wire: RFC 9457 problems, one table from error class to status.

Texts tell the field, what was expected and the next step; never a value that may be content, and of our own faults nothing at all.
"""

import math
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.responses import Response

from hindwise import errors

MEDIA_TYPE = "application/problem+json"


class Unauthorized(errors.CallerError):
    """No key, or one that is not known."""

    type = "unauthorized"


class Forbidden(errors.CallerError):
    """The key lacks the scope, or the request comes from a foreign web page."""

    type = "forbidden"


class RateLimited(errors.Unavailable):
    """More requests than the key may make."""

    type = "rate-limited"


class TooLarge(errors.CallerError):
    """A turn or a request is larger than the limit."""

    type = "too-large"


class UnsupportedMedia(errors.CallerError):
    """The body's content type is not JSON, or it is compressed."""

    type = "unsupported-media-type"


class WorkflowsUnavailable(errors.Unavailable):
    """Temporal did not answer. What was accepted stands in the ledger; a sweep starts it."""

    type = "workflows-unavailable"


STATUS: dict[type[errors.HindwiseError], int] = {
    errors.InvalidInput: 422,
    errors.NotFound: 404,
    errors.SessionOwner: 409,
    errors.TurnConflict: 409,
    errors.EpisodeConflict: 409,
    errors.IdempotencyMismatch: 422,
    errors.NotAllowed: 409,
    errors.SpaceErased: 409,
    errors.DimensionMismatch: 500,
    errors.LedgerMismatch: 503,
    errors.ModelRefused: 503,
    errors.WindowTooSmall: 503,
    errors.AnswerUnusable: 502,
    errors.LedgerUnavailable: 503,
    errors.LedgerDamaged: 503,
    errors.IndexUnavailable: 503,
    errors.IndexRefused: 503,
    errors.IndexDamaged: 503,
    errors.ModelUnavailable: 503,
    errors.ModelTimeout: 503,
    errors.BudgetSpent: 429,
    Unauthorized: 401,
    Forbidden: 403,
    RateLimited: 429,
    TooLarge: 413,
    UnsupportedMedia: 415,
    WorkflowsUnavailable: 503,
    errors.CallerError: 400,
    errors.Unavailable: 503,
    errors.HindwiseError: 500,
}
"""Class to status. A class missing here is a failing test, not a silent 500."""

_BY_STATUS = {
    400: ("bad-request", "the request could not be read"),
    404: ("not-found", "no such path: /docs lists them all"),
    405: ("method-not-allowed", "the path knows other methods: see the `Allow` header and /docs"),
    408: ("request-timeout", "the body did not come in time: send it again"),
    413: ("too-large", "the request is too large"),
}


def problem(
    status: int, kind: str, detail: str, *, extra: Mapping[str, Any] | None = None, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """Return a problem+json response. `kind`: the stable name, e.g. turn-conflict."""
    content = {"type": kind, "title": HTTPStatus(status).phrase, "status": status, "detail": detail, **(extra or {})}
    return JSONResponse(content, status, headers=dict(headers or {}), media_type=MEDIA_TYPE)


def status_of(error: errors.HindwiseError) -> int:
    """The status of the nearest class in the table."""
    return next(STATUS[cls] for cls in type(error).__mro__ if cls in STATUS)


def problem_of(error: errors.HindwiseError) -> JSONResponse:
    """Return the problem that an engine error is on the wire."""
    status = status_of(error)
    headers = {}
    if isinstance(error, errors.Unavailable):
        headers["Retry-After"] = str(max(1, math.ceil(error.retry_after_s or 5)))
    elif status == 503:
        headers["Retry-After"] = "60"
    if status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="hindwise"'
    return problem(status, error.type, error.detail, extra=error.extra, headers=headers)


def invalid(found: Sequence[Mapping[str, Any]]) -> JSONResponse:
    """Return the 422 of a body or parameter that does not fit; tells where and what, never the value."""
    items = [{"where": _where(item["loc"]), "message": str(item["msg"])[:300]} for item in found[:20]]
    first = items[0] if items else {"where": "request", "message": "not usable"}
    more = f" (and {len(found) - 1} more, see `errors`)" if len(found) > 1 else ""
    return problem(422, errors.InvalidInput.type, f"{first['where']}: {first['message']}{more}"[:500], extra={"errors": items})


def _where(location: Sequence[Any]) -> str:
    path = ""
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else f".{str(part)[:100]}" if path else str(part)
    return path[:300]


def install(app: FastAPI) -> None:
    """Answer every error of the app as a problem."""

    async def engine_error(_: Request, error: Exception) -> Response:
        assert isinstance(error, errors.HindwiseError)  # noqa: S101  registered for this class alone
        return problem_of(error)

    async def not_valid(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)  # noqa: S101  registered for this class alone
        return invalid(error.errors())

    async def http_error(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # noqa: S101  registered for this class alone
        kind, detail = _BY_STATUS.get(error.status_code, ("http-error", str(error.detail)[:300]))
        return problem(error.status_code, kind, detail, headers=error.headers)

    app.add_exception_handler(errors.HindwiseError, engine_error)
    app.add_exception_handler(RequestValidationError, not_valid)
    app.add_exception_handler(HTTPException, http_error)
