"""The tables of what models cost, in a file of their own: they hold counts, and nothing of anybody's words."""

from typing import Any

from sqlalchemy import BigInteger, Column, Float, Index, Integer, MetaData, String, Table

from hindwise.ledger.times import Utc


def _counted() -> list[Column[Any]]:
    return [
        Column("calls", BigInteger, nullable=False, server_default="0"),
        Column("reasks", BigInteger, nullable=False, server_default="0"),
        Column("prompt_tokens", BigInteger, nullable=False, server_default="0"),
        Column("completion_tokens", BigInteger, nullable=False, server_default="0"),
        Column("lost_tokens", BigInteger, nullable=False, server_default="0"),
        Column("cost", Float, nullable=False, server_default="0"),
        Column("priced_calls", BigInteger, nullable=False, server_default="0"),
        Column("saved", BigInteger, nullable=False, server_default="0"),
        Column("refused", BigInteger, nullable=False, server_default="0"),
    ]


def spending_tables(metadata: MetaData) -> tuple[Table, Table, Table]:
    """Add all to `metadata`: the days by tenant and model, their sums by model, and what is held for questions under way."""
    days = Table(
        "model_days",
        metadata,
        Column("tenant_id", String(64), primary_key=True),
        Column("day", String(10), primary_key=True),
        Column("model", String(200), primary_key=True),
        *_counted(),
    )
    totals = Table(
        "model_totals",
        metadata,
        Column("model", String(200), primary_key=True),
        Column("shard", String(36), primary_key=True),
        *_counted(),
    )
    holds = Table(
        "model_holds",
        metadata,
        Column("id", String(36), primary_key=True),
        Column("tenant_id", String(64), nullable=False),
        Column("day", String(10), nullable=False),
        Column("tokens", Integer, nullable=False),
        Column("asked_by", String(36), nullable=False),
        Column("at", Utc, nullable=False),
        Index("ix_model_holds_day", "tenant_id", "day"),
    )
    return days, totals, holds
