"""Tables about reflectors, in a file of their own: what an endpoint accepts, and how often each rule refused. No words of anybody."""

from sqlalchemy import BigInteger, Boolean, Column, Integer, MetaData, String, Table

from hindwise.ledger.times import Utc


def reflector_tables(metadata: MetaData) -> tuple[Table, Table]:
    """Add both tables to `metadata`: abilities by endpoint, and refusals by rule."""
    abilities = Table(
        "model_abilities",
        metadata,
        Column("endpoint", String(64), primary_key=True),
        Column("model", String(200), nullable=False),
        Column("format", Integer, nullable=False),
        Column("token_limit", String(40), nullable=False),
        Column("temperature", Boolean, nullable=False),
        Column("long_failures", Integer, nullable=False, server_default="0"),
        Column("learned_at", Utc, nullable=False),
    )
    refusals = Table(
        "refusals",
        metadata,
        Column("rule", String(40), primary_key=True),
        Column("shard", String(36), primary_key=True, server_default=""),
        Column("number", BigInteger, nullable=False),
    )
    return abilities, refusals
