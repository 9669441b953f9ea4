"""Reflections: where they stand, what they decided, and the way out for those that wait for a person."""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import TypeAdapter, ValidationError
from sqlalchemy import Connection, Row

from api.answers import ReflectionAnswer, ReflectionDetail, ReflectionPage, RerunAnswer, SignalAnswer
from api.bodies import ReflectionsQuery, RerunBody
from api.door import Door, needs
from api.fields import Moment
from api.paging import decode, page
from api.rerunning import rerun
from api.services import Caller, Services, Use
from hindwise.errors import InvalidInput, NotAllowed, NotFound
from hindwise.ledger import reflections, refusals
from hindwise.ledger.newest_first import Place
from hindwise.model.reflection import Decision, ReflectionStatus

router = APIRouter(prefix="/v1/reflections", tags=["reflections"], route_class=Door)

_MOMENT: TypeAdapter[datetime] = TypeAdapter(Moment)


@router.get("", operation_id="list_reflections", openapi_extra=needs("read"))
async def list_reflections(query: Annotated[ReflectionsQuery, Query()], services: Use, caller: Caller) -> ReflectionPage:
    """List reflections, the newest first."""
    after, since = decode(query.cursor), _since(query.since)
    rows, following = await services.engine.ledger.read(
        lambda conn: page(
            lambda place, n: reflections.page(conn, caller.tenant_id, status=str(query.status or ""), since=since, after=place, limit=n),
            lambda row: Place(row.created_at, row.id),
            after,
            query.limit,
        )
    )
    return ReflectionPage(items=[ReflectionAnswer(**_plain(row, services)) for row in rows], next_cursor=following)


def _since(text: str) -> datetime | None:
    if not text:
        return None
    try:
        return _MOMENT.validate_python(text.replace(" ", "+"))  # an unescaped + of a zone comes as a blank
    except ValidationError as error:
        raise InvalidInput("since: not a time with a zone, e.g. 2026-05-01T00:00:00Z") from error


@router.get("/{reflection_id}", operation_id="get_reflection", openapi_extra=needs("read"))
async def get_reflection(reflection_id: str, services: Use, caller: Caller) -> ReflectionDetail:
    """Tell where a reflection stands, what it wrote, and why each draft was kept or not."""
    return await services.engine.ledger.read(lambda conn: _detail(conn, caller.tenant_id, reflection_id, services))


@router.post("/{reflection_id}/rerun", operation_id="rerun_reflection", openapi_extra=needs("write"))
async def rerun_reflection(reflection_id: str, body: RerunBody, services: Use, caller: Caller) -> RerunAnswer:
    """Look back over the same task again: compared side by side, or with `apply` as a run that replaces the earlier ones."""
    return await rerun(services, caller.tenant_id, reflection_id, body)


@router.post("/{reflection_id}/{step}", status_code=202, operation_id="release_reflection", openapi_extra=needs("write"))
async def release_reflection(
    reflection_id: str, step: Literal["retry", "use_rules", "skip"], services: Use, caller: Caller
) -> SignalAnswer:
    """Tell a reflection that waits for a person (`needs_attention`) to go on: ask again, let rules reflect, or leave it."""
    row = await services.engine.ledger.read(lambda conn: reflections.row_of(conn, reflection_id, tenant_id=caller.tenant_id))
    if row.status != ReflectionStatus.NEEDS_ATTENTION:
        raise NotAllowed(f"the reflection is {row.status}: only one that needs attention takes `{step}`")
    try:
        await services.dispatch.starter.signal_reflection(reflection_id, step)
    except NotFound as error:
        raise NotAllowed(
            "its workflow does not run any more: it cannot be told anything; post the outcome again to look back anew"
        ) from error
    return SignalAnswer(reflection_id=reflection_id, signal=step, workflow_id=services.reflection_workflow(reflection_id))


def _plain(row: Row[Any], services: Services) -> dict[str, Any]:
    reflection = reflections.from_row(row)
    workflow_id = services.reflection_workflow(reflection.id)
    return {
        **reflection.model_dump(exclude={"id", "tenant_id", "replaces"}),
        "reflection_id": reflection.id,
        "workflow_id": workflow_id,
        "workflow_url": services.workflow_url(workflow_id),
    }


def _detail(conn: Connection, tenant_id: str, reflection_id: str, services: Services) -> ReflectionDetail:
    row = reflections.row_of(conn, reflection_id, tenant_id=tenant_id)
    return ReflectionDetail(
        **_plain(row, services),
        reason=row.reason,
        replaces=row.replaces,
        episodes=[row.episode_id],
        memories=reflections.memory_ids(conn, reflection_id),
        decisions=[Decision(**item) for item in row.decisions],
        rejected=refusals.of_reflection(conn, row, services.engine.settings.contacts()),
        due=row.due,
    )
