"""The table of receipts, in a file of its own: what was asked to be erased, how far it came, and in the end whose hash it was."""

from sqlalchemy import JSON, BigInteger, Column, Index, Integer, MetaData, String, Table

from hindwise.ledger.times import Utc


def erasures_table(metadata: MetaData) -> Table:
    """Add the table to `metadata`."""
    return Table(
        "erasures",
        metadata,
        Column("id", String(36), primary_key=True),
        Column("tenant_id", String(64), nullable=False),
        Column("user_hash", String(32), nullable=False),
        Column("user_id", String(300), nullable=False),
        Column("space_no", BigInteger),
        Column("epoch", Integer),
        Column("index_name", String(64), nullable=False, server_default=""),
        Column("status", String(20), nullable=False),
        Column("error", String(500), nullable=False, server_default=""),
        Column("counts", JSON, nullable=False),
        Column("requested_by", String(200), nullable=False),
        Column("requested_at", Utc, nullable=False),
        Column("dispatched_at", Utc),
        Column("started_at", Utc),
        Column("wiped_at", Utc),
        Column("finished_at", Utc),
        Index("ix_erasures_user", "tenant_id", "user_hash"),
        Index("ix_erasures_wiped", "wiped_at"),
        Index("ix_erasures_status", "status", "requested_at"),
    )
