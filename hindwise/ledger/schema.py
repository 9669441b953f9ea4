"""The tables. Words of a memory never change; lifecycle columns do, each change with a `memory_events` row."""

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
    UniqueConstraint,
    text,
)

from hindwise.ledger.erasures_table import erasures_table
from hindwise.ledger.partial import only
from hindwise.ledger.reflector_tables import reflector_tables
from hindwise.ledger.spending_tables import spending_tables
from hindwise.ledger.times import Utc


def _number() -> Column[int]:
    """A rising row number: 64 bits on Postgres, the rowid on SQLite."""
    return Column("no", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True)


metadata = MetaData()

tenants = Table("tenants", metadata, Column("id", String(64), primary_key=True), Column("created_at", Utc, nullable=False))

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("tenant_id", String(64), ForeignKey("tenants.id"), nullable=False),
    Column("name", String(200), nullable=False),
    Column("key_hash", String(64), nullable=False, unique=True),
    Column("scopes", JSON, nullable=False),
    Column("created_at", Utc, nullable=False),
    Column("revoked_at", Utc),
)

spaces = Table(
    "spaces",
    metadata,
    _number(),
    Column("tenant_id", String(64), nullable=False),
    Column("name", String(300), nullable=False),
    Column("epoch", Integer, nullable=False, server_default="0"),
    Column("ledger_no", BigInteger, nullable=False, server_default="0"),
    Column("index_no", BigInteger, nullable=False, server_default="0"),
    Column("leased_by", String(64), nullable=False, server_default=""),
    Column("leased_until", Utc),
    Column("used_at", Utc),
    Column("slot_keys", String(64), nullable=False, server_default=""),
    UniqueConstraint("tenant_id", "name", name="uq_spaces_name"),
    # The number of an erased space is never given again: what began before the erasure must not fit the space that follows.
    sqlite_autoincrement=True,
)

sessions = Table(
    "sessions",
    metadata,
    Column("tenant_id", String(64), primary_key=True),
    Column("session_id", String(200), primary_key=True),
    Column("handle", String(32), nullable=False, unique=True),
    Column("user_id", String(300), nullable=False),
    Column("agent_id", String(200), nullable=False),
    Column("state", String(16), nullable=False),
    Column("last_seq", Integer, nullable=False),
    Column("open_seq", Integer, nullable=False),
    Column("seen_seq", Integer, nullable=False),
    Column("checkpoint", JSON),
    Column("opened_at", Utc, nullable=False),
    Column("last_turn_at", Utc, nullable=False),
    Column("closed_at", Utc),
    Index("ix_sessions_unseen", "tenant_id", sqlite_where=text("seen_seq < last_seq"), postgresql_where=text("seen_seq < last_seq")),
    Index("ix_sessions_by_time", "tenant_id", "last_turn_at"),
    Index("ix_sessions_owner", "tenant_id", "user_id"),
)

turns = Table(
    "turns",
    metadata,
    Column("tenant_id", String(64), primary_key=True),
    Column("session_key", String(260), primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("turn_id", String(200), nullable=False),
    Column("role", String(16), nullable=False),
    Column("origin", String(16), nullable=False),
    Column("participant", String(200), nullable=False),
    Column("content", Text, nullable=False),
    Column("name", String(200), nullable=False),
    Column("tool_calls", JSON, nullable=False),
    Column("tool_call_id", String(200), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("occurred_at", Utc, nullable=False),
    Column("recorded_at", Utc, nullable=False),
    UniqueConstraint("tenant_id", "session_key", "turn_id", name="uq_turns_turn_id"),
)

episodes = Table(
    "episodes",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("tenant_id", String(64), nullable=False),
    Column("user_id", String(300), nullable=False),
    Column("agent_id", String(200), nullable=False),
    Column("session_id", String(200), nullable=False),
    Column("run_id", String(200), nullable=False),
    Column("source", String(64), nullable=False),
    Column("goal", Text, nullable=False),
    Column("inputs", JSON, nullable=False),
    Column("session_key", String(260), nullable=False),
    Column("first_seq", Integer, nullable=False),
    Column("last_seq", Integer, nullable=False),
    Column("outcome", JSON, nullable=False),
    Column("outcome_status", String(16), nullable=False),
    Column("outcome_history", JSON, nullable=False),
    Column("task_key", String(500), nullable=False),
    Column("body_digest", String(64), nullable=False),
    Column("recall_ids", JSON, nullable=False),
    Column("closed_by", String(16), nullable=False),
    Column("started_at", Utc, nullable=False),
    Column("ended_at", Utc, nullable=False),
    Column("recorded_at", Utc, nullable=False),
    Column("purged_at", Utc),
    Index("ix_episodes_owner", "tenant_id", "user_id", "ended_at"),
    Index("ix_episodes_run", "tenant_id", "run_id"),
    Index("ix_episodes_session", "tenant_id", "session_id", "last_seq"),
    Index("ix_episodes_task", "tenant_id", "agent_id", "task_key"),
    Index("ix_episodes_purge", "ended_at", sqlite_where=text("purged_at IS NULL"), postgresql_where=text("purged_at IS NULL")),
)

reflections = Table(
    "reflections",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("tenant_id", String(64), nullable=False),
    Column("episode_id", String(36), ForeignKey("episodes.id"), nullable=False),
    Column("status", String(20), nullable=False),
    Column("phase", String(20), nullable=False),
    Column("reflector", String(40), nullable=False),
    Column("written_by", String(300), nullable=False),
    Column("fallback_from", String(500), nullable=False),
    Column("run_number", Integer, nullable=False),
    Column("replaces", String(36), nullable=False),
    Column("reason", String(500), nullable=False),
    Column("usage", JSON, nullable=False),
    Column("decisions", JSON, nullable=False),
    Column("rejected", JSON, nullable=False),
    Column("due", JSON, nullable=False),
    Column("epochs", JSON, nullable=False),
    Column("index_pending", Boolean, nullable=False),
    Column("error", String(500), nullable=False),
    Column("skip_reason", String(500), nullable=False),
    Column("created_at", Utc, nullable=False),
    Column("dispatched_at", Utc),
    Column("started_at", Utc),
    Column("finished_at", Utc),
    UniqueConstraint("episode_id", "run_number", name="uq_reflections_run"),
    Index("ix_reflections_status", "tenant_id", "status", "created_at"),
)

drafts = Table(
    "drafts",
    metadata,
    Column("reflection_id", String(36), ForeignKey("reflections.id"), primary_key=True),
    Column("attempt", Integer, primary_key=True, autoincrement=False),
    Column("reflector", String(40), nullable=False),
    Column("written_by", String(300), nullable=False),
    Column("answer", JSON, nullable=False),
    Column("unusable", String(500), nullable=False),
    Column("grounded", JSON),
    Column("recorded_at", Utc, nullable=False),
)

CONFIRMED = "confirmed_by <> '' AND status = 'active'"
SHARED_LESSON = "kind = 'lesson' AND substr(space, 1, 6) = 'agent:'"
"""Conditions of indexes. Whoever asks says them word for word, or the index is passed over."""
ONLY_LIVE = "CASE WHEN status IN ('active', 'pending') THEN 1 END IS NOT NULL"
"""One more, in a form that nobody says by chance: questions for live rows of one kind, and for pinned ones, have indexes of their own,
which either database may leave for this one while it knows little of the table. Postgres takes it to hold for nearly every row.
"""

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
    _number(),
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

outbox = Table(
    "outbox",
    metadata,
    Column("space_no", BigInteger, primary_key=True, autoincrement=False),
    Column("memory_id", String(36), primary_key=True),
    Column("mark", BigInteger, nullable=False),
    Column("at", Utc, nullable=False),
)

recalls = Table(
    "recalls",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("tenant_id", String(64), nullable=False),
    Column("user_id", String(300), nullable=False),
    Column("agent_id", String(200), nullable=False),
    Column("session_id", String(200), nullable=False),
    Column("run_id", String(200), nullable=False),
    Column("query", Text, nullable=False),
    Column("memory_ids", JSON, nullable=False),
    Column("degraded", Boolean, nullable=False),
    Column("at", Utc, nullable=False),
    Index("ix_recalls_session", "tenant_id", "session_id"),
    Index("ix_recalls_run", "tenant_id", "run_id"),
    Index("ix_recalls_at", "at"),
    Index("ix_recalls_owner", "tenant_id", "user_id"),
)

credits = Table(
    "credits",
    metadata,
    Column("memory_id", String(36), primary_key=True),
    Column("source_id", String(36), primary_key=True),
    Column("kind", String(16), primary_key=True),
    Column("verdict", String(16), nullable=False),
    Column("note", String(2000), nullable=False),
    Column("at", Utc, nullable=False),
    Index("ix_credits_source", "source_id"),
)

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    Column("tenant_id", String(64), primary_key=True),
    Column("key", String(255), primary_key=True),
    Column("path", String(500), nullable=False),
    Column("body_digest", String(64), nullable=False),
    Column("status_code", Integer, nullable=False),  # below 0: so many requests run, and there is no answer yet
    Column("response", JSON),
    Column("owner", String(300), nullable=False, server_default=""),
    Column("created_at", Utc, nullable=False),
    Index("ix_idempotency_created", "created_at"),
    Index("ix_idempotency_owner", "tenant_id", "owner"),
)

generations = Table(
    "generations",
    metadata,
    _number(),
    Column("index_kind", String(20), nullable=False),
    Column("embed_model", String(200), nullable=False),
    Column("dim", Integer, nullable=False),
    Column("tokenizer_version", Integer, nullable=False),
    Column("state", String(16), nullable=False),
    Column("holes", Boolean, nullable=False, server_default=text("false")),
    Column("phase", String(24), nullable=False, server_default=""),
    Column("note", String(1000), nullable=False, server_default=""),
    Column("done", BigInteger, nullable=False, server_default="0"),
    Column("total", BigInteger, nullable=False, server_default="0"),
    Column("space_no", BigInteger, nullable=False, server_default="0"),
    Column("memory_id", String(36), nullable=False, server_default=""),
    Column("report", JSON),
    Column("created_at", Utc, nullable=False),
    Column("switched_at", Utc),
)

installation = Table(
    "installation",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("value", String(200), nullable=False),
)
"""What all processes must agree on."""

leases = Table(
    "leases",
    metadata,
    Column("name", String(100), primary_key=True),
    Column("held_by", String(64), nullable=False),
    Column("until", Utc, nullable=False),
)

model_days, model_totals, model_holds = spending_tables(metadata)
model_abilities, refusals = reflector_tables(metadata)
erasures = erasures_table(metadata)
