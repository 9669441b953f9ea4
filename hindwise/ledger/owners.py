"""Whose is a thing? The user behind a session, an episode and what hangs on it; for what is kept beside them and must go with them."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Select, select

from hindwise.ledger.schema import episodes, memories, recalls, reflections, sessions

_USER_SPACE = "user:"
NAMES = ("session_id", "episode_id", "reflection_id", "recall_id", "memory_id", "run_id")
"""What `owner_of` understands, in the order in which it asks."""


def owner_of(conn: Connection, tenant_id: str, named: Mapping[str, str]) -> str | None:
    """Return the user whose things are named (by `NAMES`), "" where they belong to no user; None where none of them exists."""
    for name in NAMES:
        if value := named.get(name):
            found = conn.execute(_query(name, tenant_id, value).limit(1)).scalar_one_or_none()
            if found is not None:
                return _user(found) if name == "memory_id" else str(found)
    return None


def _query(name: str, tenant_id: str, value: str) -> Select[Any]:
    if name == "session_id":
        return select(sessions.c.user_id).where(sessions.c.tenant_id == tenant_id, sessions.c.session_id == value)
    if name == "episode_id":
        return select(episodes.c.user_id).where(episodes.c.tenant_id == tenant_id, episodes.c.id == value)
    if name == "reflection_id":
        of = select(reflections.c.episode_id).where(reflections.c.id == value)
        return select(episodes.c.user_id).where(episodes.c.tenant_id == tenant_id, episodes.c.id.in_(of))
    if name == "recall_id":
        return select(recalls.c.user_id).where(recalls.c.tenant_id == tenant_id, recalls.c.id == value)
    if name == "memory_id":
        return select(memories.c.space).where(memories.c.tenant_id == tenant_id, memories.c.id == value)
    return select(episodes.c.user_id).where(episodes.c.tenant_id == tenant_id, episodes.c.run_id == value)


def _user(space: str) -> str:
    return space.removeprefix(_USER_SPACE) if space.startswith(_USER_SPACE) else ""
