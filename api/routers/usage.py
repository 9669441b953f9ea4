"""What the tenant's models cost, day by day, and what is left of today."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Query
from sqlalchemy import Connection

from api.answers import Answer, Time
from api.door import Door, needs
from api.services import Caller, Use
from hindwise.ledger import spending
from hindwise.ledger.spending import Room, Spent
from hindwise.reflect.budget import day_of, next_day

router = APIRouter(prefix="/v1/usage", tags=["reflections"], route_class=Door)


class UsageAnswer(Answer):
    """Today's tokens and the days before, the newest first. `ceiling`, `left`: null where there is none. `held`: questions under way."""

    today: str
    used_tokens: int
    held_tokens: int
    ceiling: int | None
    left: int | None
    resumes_at: Time
    """When the next day's tokens may be used."""
    days: list[Spent]


@router.get("", operation_id="get_usage", openapi_extra=needs("read"))
async def get_usage(
    services: Use, caller: Caller, days: Annotated[int, Query(ge=1, le=366, description="So many days back, today included.")] = 7
) -> UsageAnswer:
    """Tell what models cost your tenant: tokens, calls and money by day and model, and what is left of the daily ceiling."""
    now, ceiling = services.engine.clock.now(), services.engine.settings.llm_daily_tokens

    def read(conn: Connection) -> tuple[Room, list[Spent]]:
        first = day_of(now - timedelta(days=days - 1))
        return spending.room(conn, caller.tenant_id, day_of(now)), spending.by_day(conn, caller.tenant_id, first)

    room, spent = await services.engine.ledger.read(read)
    return UsageAnswer(
        today=day_of(now),
        used_tokens=room.used,
        held_tokens=room.held,
        ceiling=ceiling or None,
        left=max(0, ceiling - room.used - room.held) if ceiling else None,
        resumes_at=next_day(now),
        days=spent,
    )
