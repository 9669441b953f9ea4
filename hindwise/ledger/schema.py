"""All tables. Those of one question stand in a file of their own, which adds them here; who asks takes them from here."""

from sqlalchemy import JSON, BigInteger, Boolean, Column, ForeignKey, Index, Integer, MetaData, String, Table, Text, UniqueConstraint, text

from hindwise.ledger.erasures_table import erasures_table
from hindwise.ledger.memory_tables import memory_tables
from hindwise.ledger.reflector_tables import reflector_tables
from hindwise.ledger.run_tables import run_tables
from hindwise.ledger.spending_tables import spending_tables
from hindwise.ledger.table_parts import number
from hindwise.ledger.times import Utc

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
    number(),
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

sessions, turns, episodes, reflections, drafts = run_tables(metadata)
memories, memory_events, memory_links, evidence, embeddings = memory_tables(metadata)

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
    number(),
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
