"""languages, sums by model, marks of slot keys and of erased spaces"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_CONFIRMED = "confirmed_by <> '' AND status = 'active'"
_SHARED_LESSON = "kind = 'lesson' AND substr(space, 1, 6) = 'agent:'"
_COUNTED = ("calls", "reasks", "prompt_tokens", "completion_tokens", "lost_tokens", "priced_calls", "saved", "refused")


def upgrade() -> None:
    # Each column comes with a default: neither database writes a row anew for it, and a process of the version before can go on.
    op.add_column("spaces", sa.Column("slot_keys", sa.String(length=64), server_default="", nullable=False))
    op.add_column("erasures", sa.Column("index_name", sa.String(length=64), server_default="", nullable=False))
    op.create_index("ix_erasures_wiped", "erasures", ["wiped_at"])
    op.add_column("model_abilities", sa.Column("long_failures", sa.Integer(), server_default="0", nullable=False))
    _tell_languages()
    _index_examples()
    _shard_refusals()
    _sum_by_model()


def _tell_languages() -> None:
    op.add_column("memories", sa.Column("language", sa.String(length=8), server_default="en", nullable=False))
    rows = sa.table("memories", sa.column("words", sa.JSON()), sa.column("language", sa.String()))
    told = rows.c.words["language"].as_string()
    # What is told as "en", or not at all, stands there already.
    op.execute(sa.update(rows).where(told != "en").values(language=sa.func.substr(told, 1, 8)))


def _index_examples() -> None:
    op.drop_index("ix_memories_confirmed", "memories")
    _index("ix_memories_confirmed", "space_no", _CONFIRMED)
    _index("ix_memories_examples", "tenant_id", f"{_CONFIRMED} AND {_SHARED_LESSON}")


def _index(name: str, first: str, where: str) -> None:
    columns = [first, "language", "recorded_at", "id"]
    op.create_index(name, "memories", columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))


def _shard_refusals() -> None:
    """Each sum so far becomes the first row of its rule, in a table made anew: SQLite can change a key in no other way."""
    op.rename_table("refusals", "refusals_before")  # first, so that whoever counts at this moment waits, and nothing is lost
    op.create_table(
        "refusals",
        sa.Column("rule", sa.String(length=40), nullable=False),
        sa.Column("shard", sa.String(length=36), server_default="", nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("rule", "shard", name="pk_refusals"),  # Postgres would meet the name of the old one
    )
    op.execute("INSERT INTO refusals (rule, number) SELECT rule, number FROM refusals_before")
    op.drop_table("refusals_before")


def _sum_by_model() -> None:
    whole = [_whole(name) for name in _COUNTED]
    cost = sa.Column("cost", sa.Float(), server_default="0", nullable=False)
    op.create_table(
        "model_totals",
        sa.Column("model", sa.String(length=200), nullable=False),
        sa.Column("shard", sa.String(length=36), nullable=False),
        *whole[:5],
        cost,
        *whole[5:],
        sa.PrimaryKeyConstraint("model", "shard"),
    )
    names = [*_COUNTED, "cost"]
    sums = ", ".join(f"sum({name})" for name in names)
    # The row without a model is a lock, and counts nothing.
    op.execute(
        f"INSERT INTO model_totals (model, shard, {', '.join(names)}) "  # noqa: S608  our own words
        f"SELECT model, '', {sums} FROM model_days WHERE model <> '' GROUP BY model"
    )


def _whole(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.BigInteger(), server_default="0", nullable=False)
