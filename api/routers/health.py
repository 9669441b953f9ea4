"""Is it there, is it ready, and its figures. The first two need no key."""

import asyncio

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST
from sqlalchemy import text

from api import auth
from api.answers import Health, Readiness
from api.services import Services, Use
from hindwise.errors import HindwiseError
from hindwise.files import is_full
from hindwise.index.live import LiveIndex

router = APIRouter(tags=["health"])

_CHECK_S = 2.0
_FULL = "the disk of the data directory is full: what is kept there is told, but nothing new may be accepted until there is room"


@router.head("/healthz", include_in_schema=False)
@router.get("/healthz", operation_id="healthz")
async def healthz() -> Health:
    """The process answers."""
    return Health()


@router.head("/readyz", include_in_schema=False)
@router.get(
    "/readyz",
    operation_id="readyz",
    response_model_exclude_none=True,
    responses={503: {"model": Readiness, "description": "The ledger does not answer."}},
)
async def readyz(services: Use, response: Response) -> Readiness:
    """Tell ledger, index and Temporal apart. Only a ledger that does not answer is a 503: without the others, calls are still accepted."""
    parts = await _parts(services)
    ledger, index, temporal = parts["ledger"], parts["index"], parts["temporal"]
    full = await asyncio.to_thread(is_full, services.engine.settings.data)
    if not ledger:
        response.status_code = 503
        response.headers["Retry-After"] = "5"
    return Readiness(
        status="unavailable" if not ledger else "ready" if index and temporal and not full else "degraded",
        ledger="ok" if ledger else "unavailable",
        index="ok" if index else "unavailable",
        temporal="ok" if temporal else "unavailable",
        note=_FULL if full else _note(services),
    )


def _note(services: Services) -> str | None:
    index = services.engine.index
    return (index.note or None) if isinstance(index, LiveIndex) else None


async def _parts(services: Services) -> dict[str, bool]:
    """Whether each answers, asked side by side, within its limit."""
    ledger, index, temporal = await asyncio.gather(_ledger(services), _index(services), services.dispatch.starter.check())
    return {"ledger": ledger, "index": index, "temporal": temporal}


async def _ledger(services: Services) -> bool:
    try:
        async with asyncio.timeout(_CHECK_S):
            await services.engine.ledger.read(lambda conn: conn.execute(text("SELECT 1")).scalar())
    except (HindwiseError, TimeoutError):
        return False
    return True


async def _index(services: Services) -> bool:
    try:
        async with asyncio.timeout(_CHECK_S):
            await services.engine.index.health()
    except (HindwiseError, TimeoutError):
        return False
    return True


@router.get("/metrics", operation_id="metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(request: Request, services: Use) -> Response:
    """Figures for Prometheus: counts and times, no names. Open while the API listens on loopback alone; else it needs an admin key."""
    if services.engine.settings.auth and not auth.is_loopback(services.engine.settings.host):
        auth.check_scope(await services.keyring.identify(request), "admin")
    return Response(await services.metrics.render(services.engine, await _parts(services)), media_type=CONTENT_TYPE_LATEST)
