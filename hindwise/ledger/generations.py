"""Which index is live: one row per build, named by what it was built with. Another embedder or tokeniser means another build."""

from datetime import datetime

from sqlalchemy import Connection, insert, select, update

from hindwise.ledger import outbox, spaces
from hindwise.ledger.schema import generations, memories
from hindwise.model.memory import LIVE


def live(conn: Connection, index_kind: str, embed_model: str, dim: int, tokenizer_version: int, now: datetime) -> int:
    """Return the number of the live generation for this embedder and tokeniser.

    Where they changed, a new one begins: every live memory is marked dirty and the dispatcher fills it.
    """
    query = select(generations).where(generations.c.state == "live").order_by(generations.c.no.desc()).limit(1)
    row = conn.execute(query.with_for_update()).first()
    wanted = (index_kind, embed_model, dim, tokenizer_version)
    if row is not None and (row.index_kind, row.embed_model, row.dim, row.tokenizer_version) == wanted:
        return int(row.no)
    conn.execute(update(generations).where(generations.c.state == "live").values(state="old"))
    made = conn.execute(
        insert(generations)
        .values(index_kind=index_kind, embed_model=embed_model, dim=dim, tokenizer_version=tokenizer_version, state="live", created_at=now)
        .returning(generations.c.no)
    )
    number = int(made.scalar_one())
    mark_all_dirty(conn, now)
    return number


def mark_all_dirty(conn: Connection, now: datetime) -> None:
    """Mark every live memory, so that the dispatcher writes it into the index anew."""
    by_space: dict[int, list[str]] = {}
    for row in conn.execute(select(memories.c.space_no, memories.c.id).where(memories.c.status.in_([str(s) for s in LIVE]))):
        by_space.setdefault(row.space_no, []).append(row.id)
    for space_no, ids in sorted(by_space.items()):
        outbox.mark_dirty(conn, space_no, ids, spaces.bump(conn, space_no), now)
