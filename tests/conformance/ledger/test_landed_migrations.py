"""A ledger that a landed version made comes to today's shape with all its rows, and no landed migration is edited."""

import asyncio
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from alembic import command
from sqlalchemy import MetaData, insert, select, text

from hindwise.errors import LedgerMismatch
from hindwise.ledger import abilities, erasures, memories, memory_changes, refusals, review, spaces, spending
from hindwise.ledger.engine import Ledger
from hindwise.ledger.migrate import config, migrate, revisions
from hindwise.model.memory import Status
from hindwise.resolve.slots import key_version
from tests.build import NOON, TENANT, make_memory

ROOT = Path(__file__).resolve().parents[3]
VERSIONS = ROOT / "hindwise" / "migrations" / "versions"
LANDED = {
    "0001_what_is_remembered": "eed342484b6aeda0f9827532ef31e190201445d4284c7f0896954f02f4b776f6",
    "0002_how_it_is_worked_with": "f280c00de8d3678a17495f3c11551851b0fc565d4a0bf73258e9d3140cbd01d6",
    "0003_what_is_counted_and_told_apart": "74d67209d37aa41e45782845f1c9e33f23ea9fa9c53bf0cbe81bbf01f799031a",
    "0004_what_was_learned_last": "78d2a222ed6379363cfcf8a2f7667866e1fbd08976bb2a754f6ff7ef3eddce22",
}
LANGUAGES = {"en": "en", "zh": "zh", "none": "en"}
"""Each memory, and the language it has afterwards; one was kept before languages were told."""
CONCLUSIONS = {"en": "Ask for the booking number first", "zh": "先问订单号", "none": "Say the price before booking"}
MICROS = int(NOON.timestamp() * 1_000_000)


@pytest.mark.parametrize("name", LANDED)
def test_no_landed_migration_is_edited(name):
    found = sha256((VERSIONS / f"{name}.py").read_bytes()).hexdigest()
    assert found == LANDED[name], (
        f"{name}.py is not what landed. Ledgers that hold its number never run it again, so they would lack what was edited into it, and"
        " stop at the first statement that asks for it: put it back (git log -- hindwise/migrations) and write a new migration"
    )


def lesson(name):
    """A lesson that a person confirmed, shared by the agent."""
    fields = {"kind": "lesson", "space": "agent:desk", "attribute": name, "confirmed_by": "api:k", "status": Status.ACTIVE}
    return make_memory(CONCLUSIONS[name], id=name, language=LANGUAGES[name], **fields)


async def rows_of_lessons(path):
    """The rows that today's code keeps for a space with the lessons, by table."""

    def keep(conn):
        no = spaces.lock(conn, TENANT, ["agent:desk"])["agent:desk"].no
        for name in LANGUAGES:
            memory_changes.insert_memory(conn, no, lesson(name), actor="test", why="set up")
        tables = MetaData()
        tables.reflect(conn)
        told = {name: conn.execute(select(tables.tables[name])).mappings().all() for name in ("spaces", "memories")}
        return {name: [dict(row) for row in rows] for name, rows in told.items()}

    ledger = Ledger(f"sqlite:///{path}")
    await migrate(ledger)
    try:
        return await ledger.write(keep)
    finally:
        await ledger.close()


def spent(tenant, day, model, **counts):
    return {"tenant_id": tenant, "day": day, "model": model, **{"calls": 0, "prompt_tokens": 0, "cost": 0.0, "priced_calls": 0, **counts}}


OTHERS = {
    "refusals": [{"rule": "form", "number": 3}, {"rule": "owner", "number": 2}],
    "model_days": [
        spent("a", "2026-05-01", ""),
        spent("a", "2026-05-01", "m", calls=2, prompt_tokens=70, cost=0.25, priced_calls=2),
        spent("b", "2026-05-02", "m", calls=3, prompt_tokens=30, cost=0.5, priced_calls=3),
        spent("b", "2026-05-02", "free", calls=1),
    ],
    "model_abilities": [
        {"endpoint": "e", "model": "m", "format": 1, "token_limit": "max_tokens", "temperature": True, "learned_at": MICROS}
    ],
    "erasures": [
        {
            "id": "receipt",
            "tenant_id": TENANT,
            "user_hash": "h",
            "user_id": "",
            "status": "completed",
            "counts": {"ledger": {"turns": 2}},
            "requested_by": "api:k",
            "requested_at": MICROS,
            "wiped_at": MICROS,
        }
    ],
}


def make_as_landed(conn, rows):
    """The tables as 0002 left them, with rows."""
    command.upgrade(config(conn), "0002")
    before = MetaData()
    before.reflect(conn)
    for name, each in rows.items():
        table = before.tables[name]
        conn.execute(insert(table), [{column: value for column, value in row.items() if column in table.columns} for row in each])


@pytest.fixture
async def landed(empty_ledger_url, tmp_path):
    """A ledger of the landed version with something in each table that has changed since."""
    rows = {**await rows_of_lessons(tmp_path / "today.db"), **OTHERS}
    for row in rows["memories"]:
        if row["id"] == "none":
            row["words"] = {name: value for name, value in row["words"].items() if name != "language"}
    ledger = Ledger(empty_ledger_url)
    await ledger.write(lambda conn: make_as_landed(conn, rows))
    yield ledger
    await ledger.close()


async def test_a_ledger_of_the_landed_version_keeps_every_row(landed):
    def told(conn):
        kept = {name: memories.load(conn, TENANT, name)[0] for name in LANGUAGES}
        examples = {lang: {one.id for one in review.confirmed_examples(conn, TENANT, lang, 9, own="")} for lang in ("en", "zh")}
        return kept, examples, refusals.counted(conn), spending.by_model(conn), erasures.get(conn, "receipt"), abilities.find(conn, "e")

    assert [revision for revision, _ in (await migrate(landed)).missing] == ["0003", "0004"]
    kept, examples, refused, (free, paid), receipt, ability = await landed.read(told)
    assert {name: memory.conclusion for name, memory in kept.items()} == CONCLUSIONS
    assert examples == {"en": {"en", "none"}, "zh": {"zh"}}
    assert refused == {"form": 3, "owner": 2}
    assert (free.model, free.calls, free.cost) == ("free", 1, None)
    assert (paid.model, paid.calls, paid.prompt_tokens, paid.cost, paid.priced_calls) == ("m", 5, 100, 0.75, 5)
    assert (receipt.counts, receipt.wiped_at) == ({"ledger": {"turns": 2}}, NOON)
    assert (ability.model, ability.long_failures) == ("m", 0)
    await landed.write(lambda conn: command.check(config(conn)))


async def test_it_is_worked_with_as_a_new_one(landed):
    """Sums go on from where they were, and keys of slots are made anew by whoever writes the space next."""

    def work(conn):
        refusals.count(conn, ["form", "new"])
        spending.count_saved(conn, "a", "2026-05-03", "m")
        memory_changes.change(conn, memories.load(conn, TENANT, "zh")[0], actor="test", action="pinned", why="test", at=NOON, pinned=True)
        spaces.lock(conn, TENANT, ["agent:desk"])

    def told(conn):
        return refusals.counted(conn), spending.by_model(conn)[1], spaces.find(conn, TENANT, ["agent:desk"])["agent:desk"]

    await migrate(landed)
    await landed.write(work)
    refused, paid, space = await landed.read(told)
    assert refused == {"form": 4, "owner": 2, "new": 1}
    assert (paid.calls, paid.saved) == (5, 1)
    assert space.slot_keys == key_version()


async def test_a_worker_of_the_landed_version_may_still_count_what_it_refused(landed):
    """Workers are exchanged one after the other: until then the old one writes rows without the columns that are new."""

    def as_it_did(conn):
        conn.execute(text("UPDATE refusals SET number = number + 1 WHERE rule = 'form'"))
        conn.execute(text("INSERT INTO refusals (rule, number) VALUES ('seen', 1)"))

    await migrate(landed)
    await landed.write(as_it_did)
    assert await landed.read(refusals.counted) == {"form": 4, "owner": 2, "seen": 1}


def command_line(url, data):
    env = {name: value for name, value in os.environ.items() if not name.startswith("HINDWISE_")}
    env |= {"HINDWISE_DATA": str(data), "HINDWISE_DATABASE_URL": url, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-m", "hindwise.cli", "migrate"]
    return subprocess.run(words, env=env, cwd=data, capture_output=True, text=True, timeout=120)


async def test_the_command_upgrades_it(landed, empty_ledger_url, tmp_path):
    done = await asyncio.to_thread(command_line, empty_ledger_url, tmp_path)
    assert (done.returncode, [one in done.stderr for one in ("0002", "0003", "0004")]) == (0, [False, True, True]), done.stderr
    assert (await landed.read(revisions)).missing == ()


async def test_what_is_asked_before_it_is_migrated_is_told_as_another_version_and_not_tried_again(landed):
    with pytest.raises(LedgerMismatch, match=r"slot_keys.*hindwise migrate") as told:
        await landed.read(lambda conn: spaces.find(conn, TENANT, ["agent:desk"]))
    assert not told.value.retryable


async def test_a_table_that_is_not_there_is_told_so_too(landed):
    with pytest.raises(LedgerMismatch, match=r"model_totals.*hindwise migrate"):
        await landed.read(spending.by_model)


async def test_a_start_refuses_tables_that_are_not_what_their_number_says(landed, empty_ledger_url, tmp_path):
    """As a build between two versions left them."""
    await landed.write(lambda conn: conn.execute(text("UPDATE alembic_version SET version_num = '0003'")))
    with pytest.raises(LedgerMismatch, match="restore"):
        await migrate(landed)
    done = await asyncio.to_thread(command_line, empty_ledger_url, tmp_path)
    assert (done.returncode != 0, "restore a copy" in done.stderr.replace("\n", " "), "Traceback" in done.stderr) == (True, True, False)


async def test_tables_that_hold_what_a_migration_would_add_are_left_alone(landed):
    await landed.write(lambda conn: conn.execute(text("ALTER TABLE memories ADD COLUMN language VARCHAR(8)")))
    with pytest.raises(LedgerMismatch, match="language"):
        await migrate(landed)
    assert (await landed.read(revisions)).present == "0002"
