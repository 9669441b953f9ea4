"""The tables of what is remembered. Words of a memory never change; lifecycle columns do, each change with a `memory_events` row."""

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    text,
)

from hindwise.ledger.table_parts import number, only
from hindwise.ledger.times import Utc

CONFIRMED = "confirmed_by <> '' AND status = 'active'"
SHARED_LESSON = "kind = 'lesson' AND substr(space, 1, 6) = 'agent:'"
"""Conditions of indexes. Whoever asks says them word for word, or the index is passed over."""
ONLY_LIVE = "CASE WHEN status IN ('active', 'pending') THEN 1 END IS NOT NULL"
"""One more, in a form that nobody says by chance: questions for live rows of one kind, and for pinned ones, have indexes of their own,
which either database may leave for this one while it knows little of the table. Postgres takes it to hold for nearly every row.
"""


def memory_tables(metadata: MetaData) -> tuple[Table, Table, Table, Table, Table]:
    """Add all to `metadata`: memories, their events and links, evidence, embeddings."""
    memories = Table(
        "memories",
        metadata,
        Column("id", String(36), primary_key=True),
        Column("tenant_id", String(64), nullable=False),
        Column("space_no", BigInteger, ForeignKey("spaces.no"), nullable=False),
        Column("space", String(300), nullable=False),
        Column("kind", String(16), nullable=False),
        Column("status", String(16), nullable=False),
        Column("head", Boolean, nullable=False),
        Column("slot_key", String(700)),
        Column("subject", String(200), nullable=False),
        Column("attribute", String(200), nullable=False),
        Column("scope", String(200), nullable=False),
        Column("value", Text, nullable=False),
        Column("conclusion", String(200), nullable=False),
        Column("language", String(8), nullable=False, server_default="en"),
        Column("words", JSON, nullable=False),
        Column("lex", Text, nullable=False),
        Column("text_hash", String(64), nullable=False),
        Column("duplicate_key", String(64), nullable=False),
        Column("importance", Integer, nullable=False),
        Column("confidence", Float, nullable=False),
        Column("valid_from", Utc, nullable=False),
        Column("valid_to", Utc),
        Column("said_at", Utc),
        Column("recorded_at", Utc, nullable=False),
        Column("closed_at", Utc),
        Column("close_reason", String(500), nullable=False),
        Column("version", Integer, nullable=False),
        Column("evidence_count", Integer, nullable=False),
        Column("hits", Integer, nullable=False),
        Column("last_recalled_at", Utc),
        Column("helpful", Integer, nullable=False),
        Column("harmful", Integer, nullable=False),
        Column("freshness", Float, nullable=False),
        Column("review_at", Utc),
        Column("expires_at", Utc),
        Column("pinned", Boolean, nullable=False),
        Column("disputed", Boolean, nullable=False),
        Column("confirmed_by", String(200), nullable=False),
        Column("reflection_id", String(36), nullable=False),
        Column("superseded_by", String(36), nullable=False),
        Index("uq_memories_head", "space_no", "slot_key", unique=True, sqlite_where=text("head"), postgresql_where=text("head")),
        Index("ix_memories_slot", "space_no", "slot_key"),
        Index("ix_memories_duplicate", "space_no", "duplicate_key"),
        Index("ix_memories_status", "space_no", "status", "kind"),
        Index("ix_memories_pinned", "space_no", "status", sqlite_where=text("pinned = 1"), postgresql_where=text("pinned")),
        Index("ix_memories_confirmed", "space_no", "language", "recorded_at", "id", **only(CONFIRMED)),
        Index("ix_memories_examples", "tenant_id", "language", "recorded_at", "id", **only(f"{CONFIRMED} AND {SHARED_LESSON}")),
        Index("ix_memories_newest", "space_no", "recorded_at", **only(ONLY_LIVE)),
        Index("ix_memories_waiting", "tenant_id", "recorded_at", **only("status IN ('pending', 'quarantined')")),
        Index("ix_memories_reflection", "reflection_id"),
        Index("ix_memories_expiry", "status", "expires_at"),
        Index("ix_memories_review", "status", "review_at"),
        Index("ix_memories_archive", "status", "last_recalled_at", "recorded_at"),
    )
    memory_events = Table(
        "memory_events",
        metadata,
        number(),
        Column("memory_id", String(36), nullable=False),
        Column("at", Utc, nullable=False),
        Column("actor", String(200), nullable=False),
        Column("action", String(40), nullable=False),
        Column("why", String(500), nullable=False),
        Column("before", JSON),
        Column("after", JSON),
        Index("ix_memory_events_memory", "memory_id", "no"),
    )
    memory_links = Table(
        "memory_links",
        metadata,
        Column("from_id", String(36), primary_key=True),
        Column("to_id", String(36), primary_key=True),
        Column("kind", String(20), primary_key=True),
        Column("reason", String(500), nullable=False),
        Column("at", Utc, nullable=False),
        Index("ix_memory_links_to", "to_id"),
    )
    evidence = Table(
        "evidence",
        metadata,
        Column("memory_id", String(36), primary_key=True),
        Column("ordinal", Integer, primary_key=True, autoincrement=False),
        Column("episode_id", String(36), nullable=False),
        Column("reflection_id", String(36), nullable=False),
        Column("seq", Integer),
        Column("turn_id", String(200), nullable=False),
        Column("quote", Text, nullable=False),
        Column("withdrawn_at", Utc),
        Index("ix_evidence_episode", "episode_id"),
        Index("ix_evidence_reflection", "reflection_id"),
    )
    embeddings = Table(
        "embeddings",
        metadata,
        Column("space_no", BigInteger, primary_key=True, autoincrement=False),
        Column("model", String(200), primary_key=True),
        Column("text_hash", String(64), primary_key=True),
        Column("vector", LargeBinary, nullable=False),
    )
    return memories, memory_events, memory_links, evidence, embeddings
