"""Postgres refused, killed, started again, locked, slow, or cut off in the middle: told at once, never half done, never twice."""

import asyncio
import subprocess
import sys
import time
import traceback

import pytest
from sqlalchemy import func, insert, select, text
from sqlalchemy.engine import make_url

from hindwise.cli.supervisor.ports import free_ports
from hindwise.engine import open_engine
from hindwise.errors import InvalidInput, LedgerUnavailable
from hindwise.ledger import intake, recalls, reflections, sessions, spaces
from hindwise.ledger.databases import Limits, make_engine
from hindwise.ledger.engine import Ledger
from hindwise.ledger.migrate import migrate
from hindwise.ledger.schema import api_keys, episodes, memories, tenants, turns
from hindwise.settings import Settings
from hindwise.testing import FixedClock, HashedEmbedder
from tests.build import NOON, TENANT, make_draft, make_episode, make_turn
from tests.conformance.ledger.conftest import RULES
from tests.conformance.ledger.test_resolution import resolve
from tests.servers.lossy import LossyWire

AT_ONCE_S = 3.0
SECRET_WORD = "geheim-4711"


@pytest.fixture
async def postgres(postgres_url):
    ledger = Ledger(postgres_url)
    yield ledger
    await ledger.close()


def count(table):
    return lambda conn: conn.execute(select(func.count()).select_from(table)).scalar_one()


def keep_tenant(name):
    return lambda conn: conn.execute(insert(tenants).values(id=name, created_at=NOON))


async def refused(call):
    """The error of a call that must fail at once."""
    started = time.monotonic()
    with pytest.raises(LedgerUnavailable) as error:
        await call
    assert time.monotonic() - started < AT_ONCE_S
    return error.value


async def test_where_nothing_listens_it_is_told_at_once_and_without_the_password():
    [port] = free_ports(1)
    ledger = Ledger(f"postgresql://hindwise:{SECRET_WORD}@127.0.0.1:{port}/hindwise")
    error = await refused(ledger.read(count(tenants)))
    assert "nothing listens there" in error.detail
    assert SECRET_WORD not in "".join(traceback.format_exception(error)) + repr(ledger.engine)
    await ledger.close()


async def test_a_killed_server_is_told_at_once_and_used_again_when_it_is_back(own_postgres):
    server = own_postgres.start()
    ledger = Ledger(server.url)
    await migrate(ledger)
    await ledger.write(keep_tenant("before"))
    await asyncio.gather(*(ledger.read(count(tenants)) for _ in range(10)))

    def die_in_the_middle(conn):
        keep_tenant("half")(conn)
        if server.child.pid:
            server.kill()
        conn.execute(text("SELECT 1"))

    await refused(ledger.write(die_in_the_middle))
    for _ in range(3):
        await refused(ledger.read(count(tenants)))
        await refused(ledger.write(keep_tenant("lost")))
    await asyncio.to_thread(server.start)
    assert await asyncio.gather(*(ledger.read(count(tenants)) for _ in range(10))) == [1] * 10
    await asyncio.to_thread(server.restart)
    await ledger.write(keep_tenant("after"))  # every pooled connection was stale, and nobody noticed
    assert await ledger.read(count(tenants)) == 2
    await ledger.close()


async def test_a_row_that_another_holds_is_waited_for_no_longer_than_said(postgres_url):
    ledger, other = Ledger(postgres_url, Limits(lock_timeout_s=0.3)), Ledger(postgres_url)
    held, let_go, loop = asyncio.Event(), asyncio.Event(), asyncio.get_running_loop()

    def hold(conn):
        spaces.lock(conn, TENANT, ["user:u1"])
        loop.call_soon_threadsafe(held.set)
        asyncio.run_coroutine_threadsafe(let_go.wait(), loop).result(timeout=20)

    await other.write(lambda conn: spaces.ensure(conn, TENANT, ["user:u1"]))
    holding = asyncio.create_task(other.write(hold))
    await asyncio.wait_for(held.wait(), 10)
    error = await refused(ledger.write(lambda conn: spaces.lock(conn, TENANT, ["user:u1"])))
    assert "took too long" in error.detail
    let_go.set()
    await holding
    assert (await ledger.write(lambda conn: spaces.lock(conn, TENANT, ["user:u1"])))["user:u1"].no
    await ledger.close()
    await other.close()


async def test_a_statement_runs_no_longer_than_said_and_the_server_knows_who_asks(postgres_url):
    ledger = Ledger(postgres_url, Limits(statement_timeout_s=0.3))
    await refused(ledger.read(lambda conn: conn.execute(text("SELECT pg_sleep(20)")).all()))
    assert await ledger.read(lambda conn: conn.execute(text("SHOW application_name")).scalar_one()) == "hindwise"
    assert await ledger.read(lambda conn: conn.execute(text("SHOW transaction_isolation")).scalar_one()) == "read committed"
    await ledger.close()


async def test_a_limit_below_what_the_server_counts_is_its_smallest_and_not_none(postgres_url):
    ledger = Ledger(postgres_url, Limits(lock_timeout_s=0.0001, statement_timeout_s=0.0001))
    await refused(ledger.read(lambda conn: conn.execute(text("SELECT pg_sleep(5)"))))
    await ledger.close()


async def test_more_work_at_once_than_connections_is_done_with_no_more_than_those(postgres_url):
    ledger, watching = Ledger(postgres_url, Limits(pool_size=3)), Ledger(postgres_url)
    busy = text("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
    slow = [ledger.write(lambda conn, n=n: (keep_tenant(f"t{n}")(conn), conn.execute(text("SELECT pg_sleep(0.02)")))) for n in range(20)]
    asking = [ledger.read(count(tenants)) for _ in range(20)]
    working = asyncio.gather(*slow, *asking)
    most = 0
    while not working.done():
        most = max(most, await watching.read(lambda conn: conn.execute(busy).scalar_one()))
    await working
    assert 1 <= most <= 3
    assert await ledger.read(count(tenants)) == 20
    await ledger.close()
    await watching.close()


@pytest.fixture
async def wired(postgres_url, postgres_server):
    """A ledger behind a wire that can lose an answer."""
    url = make_url(postgres_url)
    with LossyWire(url.port) as wire:
        ledger = Ledger(url.set(port=wire.port).render_as_string(hide_password=False))
        yield ledger, wire
        await ledger.close()


async def committed_but_not_told(wired, work):
    """Run a unit of work whose commit reaches the server and whose answer does not reach us."""
    ledger, wire = wired
    lost = wire.lost
    wire.lose_answer_to(b"COMMIT")
    result = await ledger.write(work)
    assert wire.lost == lost + 1
    return result


async def test_a_run_whose_commit_was_not_told_is_accepted_once(wired):
    ledger, _ = wired
    accepted = await committed_but_not_told(
        wired, lambda conn: intake.accept_run(conn, make_episode(), RULES, recall_ids=[], now=NOON, keep_first=True)
    )
    assert accepted.status == "queued"
    assert await ledger.read(count(episodes)) == 1
    assert await ledger.read(lambda conn: reflections.count_by_status(conn, TENANT)) == {"queued": 1}


async def test_turns_whose_commit_was_not_told_stand_once_with_and_without_an_id(wired):
    ledger, _ = wired

    def record(conn):
        row = sessions.lock_or_open(conn, b"k", TENANT, "s1", "u1", "", NOON)
        named = make_turn("named", turn_id="a")
        sessions.record_turns(conn, row, [named, make_turn("是的").model_copy(update={"turn_id": ""})], NOON)

    await committed_but_not_told(wired, record)
    kept = await ledger.read(lambda conn: conn.execute(select(turns.c.seq, turns.c.content).order_by(turns.c.seq)).all())
    assert [tuple(row) for row in kept] == [(1, "named"), (2, "是的")]


async def test_a_memory_and_its_feedback_count_once_when_a_commit_was_not_told(wired):
    ledger, _ = wired
    [decision] = await committed_but_not_told(wired, resolve("r1", make_draft("window")))
    for verdict in ("helpful", "harmful"):
        await committed_but_not_told(
            wired, lambda conn, verdict=verdict: recalls.feedback(conn, TENANT, "q1", [decision.memory_id], verdict, "", NOON)
        )
    row = await ledger.read(lambda conn: conn.execute(select(memories)).one())
    assert (row.id, row.version, row.helpful, row.harmful) == (decision.memory_id, 1, 0, 1)


async def test_a_broken_connection_before_the_commit_is_tried_again_and_written_once(wired):
    ledger, wire = wired
    wire.lose_answer_to(b"INSERT INTO tenants")
    await ledger.write(keep_tenant("once"))
    assert wire.lost == 1
    assert await ledger.read(count(tenants)) == 1
    assert await ledger.read(count(api_keys)) == 0


async def test_postgres_with_an_index_of_one_machine_is_refused_with_what_to_set(postgres_url, tmp_path):
    settings = Settings(_env_file=None, data=tmp_path, database_url=postgres_url)
    with pytest.raises(InvalidInput, match="HINDWISE_INDEX=weaviate"):
        async with open_engine(settings, FixedClock(), HashedEmbedder()):
            pass


def test_a_password_is_told_by_no_error_and_no_repr():
    for url in (
        f"postgresql://u:{SECRET_WORD}@host:port/db",
        f"postgresql://u:{SECRET_WORD}@rest@host/db",
        f"oracle://u:{SECRET_WORD}@host/db",
        f"{SECRET_WORD} nonsense",
    ):
        with pytest.raises(InvalidInput, match="postgresql") as error:
            make_engine(url)
        assert SECRET_WORD not in "".join(traceback.format_exception(error.value))
    assert SECRET_WORD not in repr(Settings(_env_file=None, database_url=f"postgresql://u:{SECRET_WORD}@host/db"))


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_every_usual_way_to_name_postgres_is_understood(scheme):
    engine = make_engine(f"{scheme}://u@127.0.0.1/db?application_name=billing")
    assert engine.dialect.driver == "psycopg"
    engine.dispose()


def test_without_the_driver_it_says_what_to_install_and_nobody_else_loads_it():
    script = (
        "import sys\n"
        "from hindwise.errors import InvalidInput\n"
        "from hindwise.ledger.databases import make_engine\n"
        "import hindwise.ledger.migrate\n"
        "assert 'psycopg' not in sys.modules\n"
        "sys.modules['psycopg'] = None\n"
        "try:\n    make_engine('postgresql://u@h/db')\n"
        "except InvalidInput as error:\n    print(error.detail)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert "pip install 'hindwise[postgres]'" in done.stdout, done.stderr
