"""Counts that every reflection adds to: exact, told from a few rows, and nobody waits for who adds to the same one."""

import asyncio

import pytest
from sqlalchemy import event, func, insert, select, text

from hindwise.ledger import refusals, spending
from hindwise.ledger.engine import Ledger
from hindwise.ledger.schema import model_days, model_totals
from hindwise.ledger.schema import refusals as refusal_rows
from tests.build import TENANT

RULES = ["quote-occurs", "form", "quote-occurs"]


async def rows_of(ledger, table):
    return await ledger.read(lambda conn: conn.execute(select(func.count()).select_from(table)).scalar_one())


async def test_many_who_count_at_once_are_counted_exactly_and_leave_few_rows(open_ledger):
    one, other = await open_ledger(), await open_ledger()
    for _ in range(3):
        await asyncio.gather(*(ledger.write(lambda conn: refusals.count(conn, RULES)) for ledger in (one, other) for _ in range(20)))
    assert await one.read(refusals.counted) == {"quote-occurs": 240, "form": 120}
    # As many as wrote in one moment: the writing threads of both, for either rule.
    assert await rows_of(one, refusal_rows) <= 2 * 2 * 6


async def test_what_is_taken_back_was_not_counted(ledger):
    def work(conn):
        refusals.count(conn, RULES)
        spending.count_saved(conn, TENANT, "2026-05-01", "m")
        raise ValueError("the work fails after it counted")

    with pytest.raises(ValueError):
        await ledger.write(work)
    assert await ledger.read(refusals.counted) == {}
    assert await ledger.read(spending.by_model) == []


async def test_nobody_waits_for_a_transaction_that_counted_the_same_and_is_still_open(postgres_url):
    """On Postgres; on SQLite all writing waits in one queue anyway."""
    one, other = Ledger(postgres_url), Ledger(postgres_url)

    await one.write(lambda conn: refusals.count(conn, RULES))
    with one.engine.begin() as held:
        refusals.count(held, reversed(RULES))

        def quick(conn):
            conn.execute(text("SET LOCAL lock_timeout = '300ms'"))
            refusals.count(conn, RULES)
            spending.count_saved(conn, "another tenant", "2026-05-01", "m")

        await other.write(quick)
        spending.count_saved(held, TENANT, "2026-05-01", "m")
        await other.write(quick)
    assert await other.read(refusals.counted) == {"quote-occurs": 8, "form": 4}
    assert [told.saved for told in await other.read(spending.by_model)] == [3]
    await one.close()
    await other.close()


async def test_figures_of_models_are_told_without_reading_the_days(ledger):
    """However many tenants and days there are."""
    days = [{"tenant_id": f"tenant {n}", "day": f"2026-01-{day:02}", "model": "m"} for n in range(40) for day in range(1, 29)]

    def work(conn):
        conn.execute(insert(model_days), days)
        spending.count_refused(conn, "tenant 7", "2026-01-05", "m")
        spending.count_refused(conn, "tenant 8", "2026-01-06", "m")

    await ledger.write(work)
    asked = []
    event.listen(ledger.engine, "before_cursor_execute", lambda conn, cursor, statement, *rest: asked.append(statement))
    [told] = await ledger.read(spending.by_model)
    assert (told.model, told.refused) == ("m", 2)
    assert asked and not [statement for statement in asked if "model_days" in statement]
    assert await rows_of(ledger, model_totals) == 1
