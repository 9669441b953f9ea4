"""Another look over an episode that was looked at before: what the first concluded, and queueing the next run."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row

from hindwise.errors import NotAllowed, NotFound
from hindwise.ledger import episodes, intake, live, memories, reflections
from hindwise.ledger.intake import Accepted, ReflectorId, earlier_runs
from hindwise.model.ids import reflection_of
from hindwise.model.memory import LIVE, Memory
from hindwise.model.reflection import Reflection, ReflectionStatus
from hindwise.model.space import spaces_of


@dataclass(frozen=True, slots=True)
class Before:
    """What is looked at again: the newest reflection, its episode, and what all of them wrote that still holds."""

    newest: Row[Any]
    episode: Row[Any]
    concluded: tuple[Memory, ...]


def before(conn: Connection, tenant_id: str, reflection_id: str) -> Before:
    """Return what stands. Raises NotFound; NotAllowed while a look back is under way, or where the turns were purged."""
    row = reflections.row_of(conn, reflection_id, tenant_id=tenant_id)
    newest = reflections.newest_of_episode(conn, row.episode_id) or row
    episode = episodes.row_of(conn, tenant_id, row.episode_id)
    if not reflections.is_final(newest):
        raise NotAllowed(f"reflection {newest.id} of this task is {newest.status}: wait until it is final")
    if episode.purged_at is not None:
        raise NotAllowed("the turns of this task were purged (HINDWISE_RETAIN_TURNS_DAYS): there is nothing left to look back over")
    writers = [newest.id, *earlier_runs(conn, row.episode_id, newest.run_number)]
    writers += live.writers(conn, tenant_id, episode.session_id, row.episode_id)
    found = [memory for writer in writers for memory, _ in memories.of_reflection(conn, writer) if memory.status in LIVE]
    return Before(newest, episode, tuple(found))


def repeated(conn: Connection, tenant_id: str, reflection_id: str, reflector: ReflectorId) -> Accepted | None:
    """Tell again what was told when this run was queued: whoever lost the answer asks again. None where it was not queued yet.

    A run is known by the reflection that was named and by who looks back. So a later run starts from the newest reflection, and from no
    other. Raises NotFound; NotAllowed, with the newest one's id, for one that something else replaced.
    """
    row = reflections.row_of(conn, reflection_id, tenant_id=tenant_id)
    newest = reflections.newest_of_episode(conn, row.episode_id) or row
    if newest.id == row.id:
        return None
    try:
        queued = reflections.row_of(conn, _next_run(row.episode_id, reflector, row.run_number), tenant_id=tenant_id)
    except NotFound:
        raise NotAllowed(
            f"reflection {newest.id} of this task is newer ({newest.status}): wait until it is final, then name that one"
        ) from None
    known = intake.known_run(conn, tenant_id, row.episode_id, differs=False)
    return replace(known, reflection_id=queued.id, status=queued.status)


def _next_run(episode_id: str, reflector: ReflectorId, run_number: int) -> str:
    return reflection_of(episode_id, reflector.name, reflector.model, reflector.prompt_version, run_number + 1)


def queue(conn: Connection, tenant_id: str, reflection_id: str, reflector: ReflectorId, now: datetime) -> Accepted:
    """Queue the next run, which replaces the earlier ones as a corrected outcome does; asked again it is told again, as `duplicate`.

    Raises NotFound, NotAllowed.
    """
    row = reflections.row_of(conn, reflection_id, tenant_id=tenant_id)
    episodes.row_of(conn, tenant_id, row.episode_id, lock=True)  # of two that ask at once the later finds the first queued
    if (known := repeated(conn, tenant_id, reflection_id, reflector)) is not None:
        return known
    found = before(conn, tenant_id, reflection_id)
    number = found.newest.run_number + 1
    new_id = _next_run(row.episode_id, reflector, found.newest.run_number)
    again = Reflection(
        id=new_id,
        tenant_id=tenant_id,
        episode_id=row.episode_id,
        status=ReflectionStatus.QUEUED,
        reflector=reflector.name,
        run_number=number,
        replaces=found.newest.id,
        created_at=now,
    )
    reflections.queue(conn, again, reason=f"looked back again by {reflector.name} {reflector.model}".strip())
    spaces = spaces_of(found.episode.user_id, found.episode.agent_id)
    return Accepted(row.episode_id, new_id, "queued", False, spaces)
