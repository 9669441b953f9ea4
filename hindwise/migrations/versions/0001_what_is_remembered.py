"""what is remembered, and what it rests on"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "episodes",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(length=300), nullable=False),
        sa.Column("agent_id", sa.String(length=200), nullable=False),
        sa.Column("session_id", sa.String(length=200), nullable=False),
        sa.Column("run_id", sa.String(length=200), nullable=False),
        sa.Column("source", sa.String(length=64), nullable=False),
        sa.Column("goal", sa.Text(), nullable=False),
        sa.Column("inputs", sa.JSON(), nullable=False),
        sa.Column("session_key", sa.String(length=260), nullable=False),
        sa.Column("first_seq", sa.Integer(), nullable=False),
        sa.Column("last_seq", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.JSON(), nullable=False),
        sa.Column("outcome_status", sa.String(length=16), nullable=False),
        sa.Column("outcome_history", sa.JSON(), nullable=False),
        sa.Column("task_key", sa.String(length=500), nullable=False),
        sa.Column("body_digest", sa.String(length=64), nullable=False),
        sa.Column("recall_ids", sa.JSON(), nullable=False),
        sa.Column("closed_by", sa.String(length=16), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=False),
        sa.Column("recorded_at", sa.BigInteger(), nullable=False),
        sa.Column("purged_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("episodes", schema=None) as batch_op:
        batch_op.create_index("ix_episodes_owner", ["tenant_id", "user_id", "ended_at"], unique=False)
        batch_op.create_index(
            "ix_episodes_purge",
            ["ended_at"],
            unique=False,
            sqlite_where=sa.text("purged_at IS NULL"),
            postgresql_where=sa.text("purged_at IS NULL"),
        )
        batch_op.create_index("ix_episodes_run", ["tenant_id", "run_id"], unique=False)
        batch_op.create_index("ix_episodes_session", ["tenant_id", "session_id", "last_seq"], unique=False)
        batch_op.create_index("ix_episodes_task", ["tenant_id", "agent_id", "task_key"], unique=False)

    op.create_table(
        "evidence",
        sa.Column("memory_id", sa.String(length=36), nullable=False),
        sa.Column("ordinal", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("episode_id", sa.String(length=36), nullable=False),
        sa.Column("reflection_id", sa.String(length=36), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=True),
        sa.Column("turn_id", sa.String(length=200), nullable=False),
        sa.Column("quote", sa.Text(), nullable=False),
        sa.Column("withdrawn_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("memory_id", "ordinal"),
    )
    with op.batch_alter_table("evidence", schema=None) as batch_op:
        batch_op.create_index("ix_evidence_episode", ["episode_id"], unique=False)
        batch_op.create_index("ix_evidence_reflection", ["reflection_id"], unique=False)

    op.create_table(
        "memory_events",
        sa.Column("no", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("memory_id", sa.String(length=36), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("actor", sa.String(length=200), nullable=False),
        sa.Column("action", sa.String(length=40), nullable=False),
        sa.Column("why", sa.String(length=500), nullable=False),
        sa.Column("before", sa.JSON(), nullable=True),
        sa.Column("after", sa.JSON(), nullable=True),
        sa.PrimaryKeyConstraint("no"),
    )
    with op.batch_alter_table("memory_events", schema=None) as batch_op:
        batch_op.create_index("ix_memory_events_memory", ["memory_id", "no"], unique=False)

    op.create_table(
        "memory_links",
        sa.Column("from_id", sa.String(length=36), nullable=False),
        sa.Column("to_id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("reason", sa.String(length=500), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("from_id", "to_id", "kind"),
    )
    with op.batch_alter_table("memory_links", schema=None) as batch_op:
        batch_op.create_index("ix_memory_links_to", ["to_id"], unique=False)

    op.create_table(
        "sessions",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("session_id", sa.String(length=200), nullable=False),
        sa.Column("handle", sa.String(length=32), nullable=False),
        sa.Column("user_id", sa.String(length=300), nullable=False),
        sa.Column("agent_id", sa.String(length=200), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("last_seq", sa.Integer(), nullable=False),
        sa.Column("open_seq", sa.Integer(), nullable=False),
        sa.Column("seen_seq", sa.Integer(), nullable=False),
        sa.Column("checkpoint", sa.JSON(), nullable=True),
        sa.Column("opened_at", sa.BigInteger(), nullable=False),
        sa.Column("last_turn_at", sa.BigInteger(), nullable=False),
        sa.Column("closed_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "session_id"),
        sa.UniqueConstraint("handle"),
    )
    with op.batch_alter_table("sessions", schema=None) as batch_op:
        batch_op.create_index("ix_sessions_by_time", ["tenant_id", "last_turn_at"], unique=False)
        batch_op.create_index("ix_sessions_owner", ["tenant_id", "user_id"], unique=False)
        batch_op.create_index(
            "ix_sessions_unseen",
            ["tenant_id"],
            unique=False,
            sqlite_where=sa.text("seen_seq < last_seq"),
            postgresql_where=sa.text("seen_seq < last_seq"),
        )

    op.create_table(
        "spaces",
        sa.Column("no", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=300), nullable=False),
        sa.Column("epoch", sa.Integer(), server_default="0", nullable=False),
        sa.Column("ledger_no", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("index_no", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("leased_by", sa.String(length=64), server_default="", nullable=False),
        sa.Column("leased_until", sa.BigInteger(), nullable=True),
        sa.Column("used_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("no"),
        sa.UniqueConstraint("tenant_id", "name", name="uq_spaces_name"),
        sqlite_autoincrement=True,
    )

    op.create_table(
        "tenants",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )

    op.create_table(
        "turns",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("session_key", sa.String(length=260), nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("turn_id", sa.String(length=200), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("origin", sa.String(length=16), nullable=False),
        sa.Column("participant", sa.String(length=200), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("tool_calls", sa.JSON(), nullable=False),
        sa.Column("tool_call_id", sa.String(length=200), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("occurred_at", sa.BigInteger(), nullable=False),
        sa.Column("recorded_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "session_key", "seq"),
        sa.UniqueConstraint("tenant_id", "session_key", "turn_id", name="uq_turns_turn_id"),
    )

    op.create_table(
        "api_keys",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("key_hash", sa.String(length=64), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id"],
            ["tenants.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key_hash"),
    )

    op.create_table(
        "memories",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("space_no", sa.BigInteger(), nullable=False),
        sa.Column("space", sa.String(length=300), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("head", sa.Boolean(), nullable=False),
        sa.Column("slot_key", sa.String(length=700), nullable=True),
        sa.Column("subject", sa.String(length=200), nullable=False),
        sa.Column("attribute", sa.String(length=200), nullable=False),
        sa.Column("scope", sa.String(length=200), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("conclusion", sa.String(length=200), nullable=False),
        sa.Column("words", sa.JSON(), nullable=False),
        sa.Column("lex", sa.Text(), nullable=False),
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("duplicate_key", sa.String(length=64), nullable=False),
        sa.Column("importance", sa.Integer(), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("valid_from", sa.BigInteger(), nullable=False),
        sa.Column("valid_to", sa.BigInteger(), nullable=True),
        sa.Column("said_at", sa.BigInteger(), nullable=True),
        sa.Column("recorded_at", sa.BigInteger(), nullable=False),
        sa.Column("closed_at", sa.BigInteger(), nullable=True),
        sa.Column("close_reason", sa.String(length=500), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("evidence_count", sa.Integer(), nullable=False),
        sa.Column("hits", sa.Integer(), nullable=False),
        sa.Column("last_recalled_at", sa.BigInteger(), nullable=True),
        sa.Column("helpful", sa.Integer(), nullable=False),
        sa.Column("harmful", sa.Integer(), nullable=False),
        sa.Column("freshness", sa.Float(), nullable=False),
        sa.Column("review_at", sa.BigInteger(), nullable=True),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("pinned", sa.Boolean(), nullable=False),
        sa.Column("disputed", sa.Boolean(), nullable=False),
        sa.Column("confirmed_by", sa.String(length=200), nullable=False),
        sa.Column("reflection_id", sa.String(length=36), nullable=False),
        sa.Column("superseded_by", sa.String(length=36), nullable=False),
        sa.ForeignKeyConstraint(
            ["space_no"],
            ["spaces.no"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("memories", schema=None) as batch_op:
        batch_op.create_index("ix_memories_archive", ["status", "last_recalled_at", "recorded_at"], unique=False)
        batch_op.create_index("ix_memories_duplicate", ["space_no", "duplicate_key"], unique=False)
        batch_op.create_index("ix_memories_expiry", ["status", "expires_at"], unique=False)
        batch_op.create_index(
            "ix_memories_pinned",
            ["space_no", "status"],
            unique=False,
            sqlite_where=sa.text("pinned = 1"),
            postgresql_where=sa.text("pinned"),
        )
        batch_op.create_index(
            "ix_memories_confirmed",
            ["tenant_id", "recorded_at"],
            unique=False,
            sqlite_where=sa.text("confirmed_by <> ''"),
            postgresql_where=sa.text("confirmed_by <> ''"),
        )
        batch_op.create_index(
            "ix_memories_waiting",
            ["tenant_id", "recorded_at"],
            unique=False,
            sqlite_where=sa.text("status IN ('pending', 'quarantined')"),
            postgresql_where=sa.text("status IN ('pending', 'quarantined')"),
        )
        batch_op.create_index("ix_memories_reflection", ["reflection_id"], unique=False)
        batch_op.create_index("ix_memories_review", ["status", "review_at"], unique=False)
        batch_op.create_index("ix_memories_slot", ["space_no", "slot_key"], unique=False)
        batch_op.create_index("ix_memories_status", ["space_no", "status", "kind"], unique=False)
        batch_op.create_index(
            "uq_memories_head", ["space_no", "slot_key"], unique=True, sqlite_where=sa.text("head"), postgresql_where=sa.text("head")
        )

    op.create_table(
        "reflections",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("episode_id", sa.String(length=36), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("phase", sa.String(length=20), nullable=False),
        sa.Column("reflector", sa.String(length=40), nullable=False),
        sa.Column("written_by", sa.String(length=300), nullable=False),
        sa.Column("fallback_from", sa.String(length=500), nullable=False),
        sa.Column("run_number", sa.Integer(), nullable=False),
        sa.Column("replaces", sa.String(length=36), nullable=False),
        sa.Column("reason", sa.String(length=500), nullable=False),
        sa.Column("usage", sa.JSON(), nullable=False),
        sa.Column("decisions", sa.JSON(), nullable=False),
        sa.Column("rejected", sa.JSON(), nullable=False),
        sa.Column("due", sa.JSON(), nullable=False),
        sa.Column("epochs", sa.JSON(), nullable=False),
        sa.Column("index_pending", sa.Boolean(), nullable=False),
        sa.Column("error", sa.String(length=500), nullable=False),
        sa.Column("skip_reason", sa.String(length=500), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("dispatched_at", sa.BigInteger(), nullable=True),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["episode_id"],
            ["episodes.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("episode_id", "run_number", name="uq_reflections_run"),
    )
    with op.batch_alter_table("reflections", schema=None) as batch_op:
        batch_op.create_index("ix_reflections_status", ["tenant_id", "status", "created_at"], unique=False)

    op.create_table(
        "drafts",
        sa.Column("reflection_id", sa.String(length=36), nullable=False),
        sa.Column("attempt", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("reflector", sa.String(length=40), nullable=False),
        sa.Column("written_by", sa.String(length=300), nullable=False),
        sa.Column("answer", sa.JSON(), nullable=False),
        sa.Column("unusable", sa.String(length=500), nullable=False),
        sa.Column("grounded", sa.JSON(), nullable=True),
        sa.Column("recorded_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["reflection_id"],
            ["reflections.id"],
        ),
        sa.PrimaryKeyConstraint("reflection_id", "attempt"),
    )
