"""The tables come to today's shape once, whoever starts first and however many start at once."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from alembic import command
from sqlalchemy import event, func, select, text

from hindwise.cli import exits
from hindwise.errors import InvalidInput
from hindwise.ledger.databases import alone_in_migrating, make_engine
from hindwise.ledger.engine import Ledger
from hindwise.ledger.migrate import config, migrate, revisions
from hindwise.ledger.schema import metadata, tenants
from tests.processes import until

ROOT = Path(__file__).resolve().parents[3]
LIMIT_S = 120


def command_line(data, url, *words):
    env = {name: value for name, value in os.environ.items() if not name.startswith("HINDWISE_")}
    env |= {"HINDWISE_DATA": str(data), "HINDWISE_DATABASE_URL": url, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-m", "hindwise.cli", "migrate", *words],
        env=env,
        cwd=data,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


START = """
import asyncio, sys
from hindwise.ledger.engine import Ledger
from hindwise.ledger.migrate import migrate
async def main():
    ledger = Ledger(sys.argv[1])
    print(len((await migrate(ledger)).missing))
    await ledger.close()
asyncio.run(main())
"""


def test_six_processes_may_migrate_one_ledger_at_once_and_one_of_them_does_it(empty_ledger_url):
    started = [
        subprocess.Popen([sys.executable, "-c", START, empty_ledger_url], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(6)
    ]
    told = [process.communicate(timeout=LIMIT_S) for process in started]
    assert [process.returncode for process in started] == [0] * 6, told
    applied = sorted(int(out) for out, _ in told)
    assert applied[:5] == [0] * 5
    assert applied[5] > 0


def test_the_command_tells_each_step_and_the_check_changes_nothing(empty_ledger_url, tmp_path):
    before, done, after = (
        (process.communicate(timeout=LIMIT_S), process.returncode)
        for process in (command_line(tmp_path, empty_ledger_url, *words) for words in (("--check",), (), ("--check",)))
    )
    assert (before[1], "missing" in before[0][0]) == (1, True)
    assert (done[1], "0001  what is remembered" in done[0][1], "0002  how it is worked with" in done[0][1]) == (0, True, True)
    assert (after[1], "Nothing to do" in after[0][0]) == (0, True)


def test_its_help_shows_how_to_use_it():
    done = subprocess.run([sys.executable, "-m", "hindwise.cli", "migrate", "--help"], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert "HINDWISE_DATABASE_URL=postgresql+psycopg://" in done.stdout


async def test_the_migrated_shape_is_the_one_the_code_knows(ledger):
    await ledger.write(lambda conn: command.check(config(conn)))


async def test_all_the_tables_can_be_asked(ledger):
    for table in metadata.sorted_tables:
        assert await ledger.read(lambda conn, table=table: conn.execute(select(func.count()).select_from(table)).scalar_one()) == 0


async def test_migrating_twice_changes_nothing(ledger):
    assert (await migrate(ledger)).missing == ()


async def test_what_is_up_to_date_is_not_locked_and_needs_no_right_to_change_tables(ledger):
    asked = []
    event.listen(ledger.engine, "before_cursor_execute", lambda conn, cursor, statement, *rest: asked.append(statement))
    await migrate(ledger)
    assert asked
    assert not [
        statement for statement in asked if "advisory" in statement or not statement.lstrip().upper().startswith(("SELECT", "PRAGMA"))
    ]


async def test_a_ledger_of_a_newer_release_is_left_alone(empty_ledger_url):
    ledger = Ledger(empty_ledger_url)
    await migrate(ledger)
    await ledger.write(lambda conn: conn.execute(text("UPDATE alembic_version SET version_num = '9999'")))
    with pytest.raises(InvalidInput, match="newer Hindwise"):
        await migrate(ledger)
    await ledger.close()


async def test_a_failing_migration_leaves_nothing_behind(empty_ledger_url):
    ledger = Ledger(empty_ledger_url)

    def stop(revision, title):
        if revision == "0002":  # the first has been applied by then
            raise RuntimeError("the power went")

    with pytest.raises(RuntimeError, match="power"):
        await migrate(ledger, stop)
    found = await ledger.read(revisions)
    assert (found.present, len(found.missing)) == ("", 4)
    await migrate(ledger)
    assert await ledger.read(lambda conn: conn.execute(select(func.count()).select_from(tenants)).scalar_one()) == 0
    await ledger.close()


async def test_postgres_restarted_under_two_that_migrate_leaves_all_or_nothing(own_postgres, tmp_path):
    """Both say in a sentence that the ledger went away, and the next start does it, once."""
    server = await asyncio.to_thread(own_postgres.start)
    engine = make_engine(server.url)
    with engine.connect() as conn:
        conn.begin()
        alone_in_migrating(conn)  # so that both wait when the server goes
        started = [command_line(tmp_path, server.url) for _ in range(2)]
        try:
            async with asyncio.timeout(60):
                while waiting(conn) < 2:
                    await asyncio.sleep(0.1)
        finally:
            await asyncio.to_thread(server.kill)
            conn.invalidate()
    told = [await asyncio.to_thread(process.communicate, timeout=LIMIT_S) for process in started]
    for process, (_, error) in zip(started, told, strict=True):
        assert process.returncode != 0
        assert "ledger" in error
        assert "Traceback" not in error
    await asyncio.to_thread(server.start)
    again = [command_line(tmp_path, server.url) for _ in range(2)]
    done = [await asyncio.to_thread(process.communicate, timeout=LIMIT_S) for process in again]
    assert [process.returncode for process in again] == [0, 0], done
    assert sorted("0001" in steps for _, steps in done) == [False, True]
    engine.dispose()


def waiting(conn):
    return conn.execute(text("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")).scalar_one()


def test_who_waits_for_another_to_migrate_ends_with_ctrl_c_and_leaves_nobody_waiting(empty_postgres_url, tmp_path):
    engine = make_engine(empty_postgres_url)
    waiting = text("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'")

    def wait_for(number):
        # In a transaction the server would tell each time what it told first.
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as look:
            until(lambda: look.execute(waiting).scalar_one() == number, f"{number} waiting", LIMIT_S, every=0.2)

    with engine.begin() as other:
        alone_in_migrating(other)
        started = command_line(tmp_path, empty_postgres_url)
        try:
            wait_for(1)
            started.send_signal(signal.SIGINT)
            _, told = started.communicate(timeout=20)
        finally:
            started.kill()
            started.communicate()
        assert (started.returncode, told) == (exits.INTERRUPTED, "")
        wait_for(0)
    engine.dispose()


async def test_a_migration_that_is_called_off_changes_nothing_and_ends_at_once(empty_ledger_url):
    slow = {
        "sqlite": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
        "postgresql": "SELECT pg_sleep(600)",
    }
    ledger = Ledger(empty_ledger_url)
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()

    def told(revision, _title):
        if revision == "0002":
            loop.call_soon_threadsafe(begun.set)
            connection.execute(text(slow[connection.dialect.name]))

    connection = None

    @event.listens_for(ledger.engine, "begin")
    def _noted(conn):
        nonlocal connection
        connection = conn

    task = asyncio.create_task(migrate(ledger, told))
    await begun.wait()
    await asyncio.sleep(0.5)  # until the statement is at work
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with asyncio.timeout(10):
        await ledger.close()
    again = Ledger(empty_ledger_url)
    assert (await again.read(revisions)).present == ""
    await again.close()
