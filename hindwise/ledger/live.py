"""What was captured while a task was open: named by session and turn, until the task's episode takes it over.

A capture writes under a name of its own for each turn, so a repeated one finds the first; its evidence stands under a name of the session,
since the episode has none before it ends. The look back over the episode then confirms, refines or takes back what was captured.
"""

from sqlalchemy import Connection, bindparam, select, update

from hindwise.ledger.direct import Direct
from hindwise.ledger.schema import evidence
from hindwise.model.ids import derive

_TAKE_OVER = (
    update(evidence)
    .where(evidence.c.episode_id == bindparam("live"), evidence.c.seq.between(bindparam("first"), bindparam("last")))
    .values(episode_id=bindparam("episode"))
)
_OF_EPISODE = Direct(select(evidence.c.reflection_id, evidence.c.seq).where(evidence.c.episode_id == bindparam("episode")).distinct())


def episode_name(tenant_id: str, session_id: str) -> str:
    """Stands for the episode that an open task will be."""
    return derive("live-episode", tenant_id, session_id)


def writer_of(tenant_id: str, session_id: str, seq: int) -> str:
    """Names the capture of one turn, as a reflection's id names a reflection."""
    return derive("live", tenant_id, session_id, seq)


def take_over(conn: Connection, tenant_id: str, session_id: str, episode_id: str, first_seq: int, last_seq: int) -> None:
    """The evidence of what was captured in these turns is the episode's now."""
    name = episode_name(tenant_id, session_id)
    conn.execute(_TAKE_OVER, {"live": name, "first": first_seq, "last": last_seq, "episode": episode_id})


def writers(conn: Connection, tenant_id: str, session_id: str, episode_id: str) -> list[str]:
    """Names of the captures whose evidence an episode took over."""
    if not session_id:
        return []
    found = {(row.reflection_id, row.seq) for row in _OF_EPISODE.rows(conn, {"episode": episode_id}) if row.seq is not None}
    return sorted(name for name, seq in found if name == writer_of(tenant_id, session_id, seq))
