"""how it is worked with: index, recalls, leases, erasures"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "credits",
        sa.Column("memory_id", sa.String(length=36), nullable=False),
        sa.Column("source_id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("verdict", sa.String(length=16), nullable=False),
        sa.Column("note", sa.String(length=2000), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("memory_id", "source_id", "kind"),
    )
    with op.batch_alter_table("credits", schema=None) as batch_op:
        batch_op.create_index("ix_credits_source", ["source_id"], unique=False)

    op.create_table(
        "embeddings",
        sa.Column("space_no", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("model", sa.String(length=200), nullable=False),
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("space_no", "model", "text_hash"),
    )

    op.create_table(
        "generations",
        sa.Column("no", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("index_kind", sa.String(length=20), nullable=False),
        sa.Column("embed_model", sa.String(length=200), nullable=False),
        sa.Column("dim", sa.Integer(), nullable=False),
        sa.Column("tokenizer_version", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("holes", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("phase", sa.String(length=24), server_default="", nullable=False),
        sa.Column("note", sa.String(length=1000), server_default="", nullable=False),
        sa.Column("done", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("total", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("space_no", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("memory_id", sa.String(length=36), server_default="", nullable=False),
        sa.Column("report", sa.JSON(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("switched_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("no"),
    )

    op.create_table(
        "idempotency_keys",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("path", sa.String(length=500), nullable=False),
        sa.Column("body_digest", sa.String(length=64), nullable=False),
        sa.Column("status_code", sa.Integer(), nullable=False),
        sa.Column("response", sa.JSON(), nullable=True),
        sa.Column("owner", sa.String(length=300), server_default="", nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "key"),
    )
    with op.batch_alter_table("idempotency_keys", schema=None) as batch_op:
        batch_op.create_index("ix_idempotency_created", ["created_at"], unique=False)
        batch_op.create_index("ix_idempotency_owner", ["tenant_id", "owner"], unique=False)

    op.create_table(
        "erasures",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("user_hash", sa.String(length=32), nullable=False),
        sa.Column("user_id", sa.String(length=300), nullable=False),
        sa.Column("space_no", sa.BigInteger(), nullable=True),
        sa.Column("epoch", sa.Integer(), nullable=True),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("error", sa.String(length=500), server_default="", nullable=False),
        sa.Column("counts", sa.JSON(), nullable=False),
        sa.Column("requested_by", sa.String(length=200), nullable=False),
        sa.Column("requested_at", sa.BigInteger(), nullable=False),
        sa.Column("dispatched_at", sa.BigInteger(), nullable=True),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("wiped_at", sa.BigInteger(), nullable=True),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("erasures", schema=None) as batch_op:
        batch_op.create_index("ix_erasures_status", ["status", "requested_at"], unique=False)
        batch_op.create_index("ix_erasures_user", ["tenant_id", "user_hash"], unique=False)

    op.create_table(
        "installation",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("value", sa.String(length=200), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )

    op.create_table(
        "model_abilities",
        sa.Column("endpoint", sa.String(length=64), nullable=False),
        sa.Column("model", sa.String(length=200), nullable=False),
        sa.Column("format", sa.Integer(), nullable=False),
        sa.Column("token_limit", sa.String(length=40), nullable=False),
        sa.Column("temperature", sa.Boolean(), nullable=False),
        sa.Column("learned_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("endpoint"),
    )

    op.create_table(
        "refusals",
        sa.Column("rule", sa.String(length=40), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("rule"),
    )

    op.create_table(
        "leases",
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("held_by", sa.String(length=64), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )

    op.create_table(
        "model_days",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("model", sa.String(length=200), nullable=False),
        sa.Column("calls", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("reasks", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("prompt_tokens", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("completion_tokens", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("lost_tokens", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("cost", sa.Float(), server_default="0", nullable=False),
        sa.Column("priced_calls", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("saved", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("refused", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "day", "model"),
    )

    op.create_table(
        "model_holds",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("asked_by", sa.String(length=36), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("model_holds", schema=None) as batch_op:
        batch_op.create_index("ix_model_holds_day", ["tenant_id", "day"], unique=False)

    op.create_table(
        "outbox",
        sa.Column("space_no", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("memory_id", sa.String(length=36), nullable=False),
        sa.Column("mark", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("space_no", "memory_id"),
    )

    op.create_table(
        "recalls",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(length=300), nullable=False),
        sa.Column("agent_id", sa.String(length=200), nullable=False),
        sa.Column("session_id", sa.String(length=200), nullable=False),
        sa.Column("run_id", sa.String(length=200), nullable=False),
        sa.Column("query", sa.Text(), nullable=False),
        sa.Column("memory_ids", sa.JSON(), nullable=False),
        sa.Column("degraded", sa.Boolean(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("recalls", schema=None) as batch_op:
        batch_op.create_index("ix_recalls_at", ["at"], unique=False)
        batch_op.create_index("ix_recalls_owner", ["tenant_id", "user_id"], unique=False)
        batch_op.create_index("ix_recalls_run", ["tenant_id", "run_id"], unique=False)
        batch_op.create_index("ix_recalls_session", ["tenant_id", "session_id"], unique=False)
