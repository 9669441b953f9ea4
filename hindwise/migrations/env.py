"""Runs migrations on the connection that `hindwise.ledger.migrate` hands over: one transaction, one lock, forward only."""

from typing import Any, Literal

from alembic import context

from hindwise.ledger.schema import metadata
from hindwise.ledger.times import Utc


def _render(kind: str, value: Any, _context: Any) -> str | Literal[False]:
    """A migration stands alone: our own column type is written as what it is in the database."""
    return "sa.BigInteger()" if kind == "type" and isinstance(value, Utc) else False


def _applied(ctx: Any, step: Any, heads: Any, run_args: Any) -> None:
    told = context.config.attributes.get("told")
    if told is not None:
        told(step.up_revision_id, step.up_revision.doc)


connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=metadata,
    render_as_batch=True,
    transactional_ddl=True,
    render_item=_render,
    on_version_apply=_applied,
)
with context.begin_transaction():
    context.run_migrations()
