"""What a worker of the version before wrote beside one of today's: how it is read until it is put right, and that it then is."""

import asyncio
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from sqlalchemy import insert, select, text, update

from hindwise.ledger import memory_changes, review, spaces, spending
from hindwise.ledger.catch_up import CaughtUp, catch_up
from hindwise.ledger.schema import memories, model_days
from hindwise.ledger.schema import spaces as spaces_table
from hindwise.model.memory import Status
from hindwise.resolve.slots import slot_key
from tests.build import TENANT, make_memory

ROOT = Path(__file__).resolve().parents[3]
WORDS = {"en": "Prefers window seats", "zh": "喜欢靠窗的座位"}
OLDER = "wish\x1fuser\x1fa word of then\x1f"


def confirmed(lang):
    fields = {"kind": "preference", "space": "user:ann", "attribute": "seat" if lang == "en" else "meal", "confirmed_by": "api:k"}
    return make_memory(WORDS[lang], id=lang, language=lang, status=Status.ACTIVE, **fields)


def write_as_before(conn):
    """The rows of a worker that knows neither languages nor sums nor today's lexicon, beside those of one that does."""
    no = spaces.lock(conn, TENANT, ["user:ann"])["user:ann"].no
    for lang in WORDS:
        memory_changes.insert_memory(conn, no, confirmed(lang), actor="test", why="set up")
        row = conn.execute(select(memories).where(memories.c.id == lang)).one()._asdict()
        conn.execute(memories.delete().where(memories.c.id == lang))
        del row["language"]
        conn.execute(insert(memories), [row | {"slot_key": OLDER + lang}])
    spending.count_saved(conn, TENANT, "2026-05-01", "m")
    counted = {"calls": 2, "prompt_tokens": 70, "cost": 0.25, "priced_calls": 2}
    conn.execute(model_days.update().values(counted))
    conn.execute(insert(model_days), [{"tenant_id": TENANT, "day": "2026-05-02", "model": model, **counted} for model in ("m", "n", "")])


def told(conn):
    examples = {lang: [one.id for one in review.confirmed_examples(conn, TENANT, lang, 9, own="user:ann")] for lang in WORDS}
    spent = [(one.model, one.calls, one.prompt_tokens, one.cost, one.saved) for one in spending.by_model(conn)]
    keys = {row.id: row.slot_key for row in conn.execute(select(memories.c.id, memories.c.slot_key))}
    return examples, spent, keys


SPACES, EACH = 250, 10


def write_in_many(conn):
    """As many spaces, each with memories whose language is not what their words say, and slots of another lexicon."""
    write_as_before(conn)
    row = conn.execute(select(memories).where(memories.c.id == "zh")).one()._asdict()
    conn.execute(memories.delete())
    conn.execute(spaces_table.delete())
    conn.execute(model_days.delete())
    fresh = {"tenant_id": TENANT, "epoch": 0, "ledger_no": 0, "index_no": 0, "slot_keys": "of then"}
    conn.execute(insert(spaces_table), [{**fresh, "no": no, "name": f"user:{no}"} for no in range(1, SPACES + 1)])
    kept = [
        {**row, "id": f"{no}-{place}", "space_no": no, "space": f"user:{no}", "head": False, "slot_key": None}
        for no in range(1, SPACES + 1)
        for place in range(EACH)
    ]
    conn.execute(insert(memories), kept)


def wrong_ones(conn):
    """Numbers of the spaces of all memories that count as of another language than their words."""
    wrong = select(memories.c.space_no).where(memories.c.language != memories.c.words["language"].as_string())
    return list(conn.execute(wrong).scalars())


@pytest.fixture
async def mixed(ledger):
    await ledger.write(write_as_before)
    return ledger


async def test_until_then_it_is_read_with_what_stands_there_by_default(mixed):
    examples, spent, keys = await mixed.read(told)
    assert {lang: sorted(found) for lang, found in examples.items()} == {"en": ["en", "zh"], "zh": []}
    assert spent == [("m", 0, 0, None, 1)]
    await mixed.write(lambda conn: spaces.lock(conn, TENANT, ["user:ann"]))
    assert (await mixed.read(told))[2] == keys == {lang: OLDER + lang for lang in WORDS}


async def test_it_is_put_right_once(mixed):
    assert await catch_up(mixed) == CaughtUp(languages=1, sums=2, spaces=1)
    examples, spent, _ = await mixed.read(told)
    assert examples == {lang: [lang] for lang in WORDS}
    assert spent == [("m", 4, 140, 0.5, 1), ("n", 2, 70, 0.25, 0)]
    await mixed.write(lambda conn: spaces.lock(conn, TENANT, ["user:ann"]))
    assert (await mixed.read(told))[2] == {lang: slot_key(confirmed(lang)) for lang in WORDS}
    assert await catch_up(mixed) == CaughtUp(languages=0, sums=0, spaces=1)
    assert (await mixed.read(told))[1] == spent


async def test_what_is_counted_at_the_same_moment_counts_once(mixed):
    """As a question that is settled while it runs: both tables hold it, or neither."""

    def work(conn):
        spending.count_refused(conn, TENANT, "2026-05-03", "n")
        spending.complete_sums(conn)
        spending.count_refused(conn, TENANT, "2026-05-03", "n")

    await mixed.write(work)
    await catch_up(mixed)
    assert [one.refused for one in await mixed.read(spending.by_model)] == [0, 2]


async def test_two_runs_at_once_add_what_is_lacking_once(mixed, open_ledger):
    other = await open_ledger()
    runs = await asyncio.gather(*(catch_up(one) for one in (mixed, other)))
    assert sum(run.sums for run in runs) == 2
    assert (await mixed.read(told))[1] == [("m", 4, 140, 0.5, 1), ("n", 2, 70, 0.25, 0)]


async def test_a_run_that_ended_early_keeps_what_it_did_and_the_next_one_does_the_rest(ledger):
    await ledger.write(write_in_many)
    seen = []

    def ends(looked, of):
        seen.append((looked, of))
        if len(seen) == 2:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        await catch_up(ledger, ends)
    first, of_all = seen[0]
    assert (of_all, 0 < first < SPACES) == (SPACES, True)
    numbers = await ledger.read(wrong_ones)
    assert (min(numbers), len(numbers)) == (2 * first + 1, (SPACES - 2 * first) * EACH)
    assert await catch_up(ledger) == CaughtUp(languages=len(numbers), spaces=SPACES - 2 * first)
    assert await ledger.read(wrong_ones) == []
    assert await catch_up(ledger) == CaughtUp()


async def test_a_space_of_any_size_is_put_right_whole(ledger):
    await ledger.write(write_in_many)
    one = select(spaces_table.c.no).limit(1).scalar_subquery()
    await ledger.write(lambda conn: conn.execute(update(memories).values(space_no=one)))
    assert (await catch_up(ledger)).languages == SPACES * EACH > 2_000
    assert await ledger.read(wrong_ones) == []


@pytest.mark.parametrize("ledger_url", ["postgres"], indirect=True)  # on SQLite one transaction writes at a time
async def test_who_writes_another_space_does_not_wait_for_it(ledger, open_ledger):
    await ledger.write(write_in_many)
    other, third = await open_ledger(), await open_ledger()
    is_held, may_end = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def holds(conn):
        spaces.lock(conn, TENANT, ["user:5"])
        loop.call_soon_threadsafe(is_held.set)
        may_end.wait(60)

    holding = asyncio.create_task(other.write(holds))
    await is_held.wait()
    running = asyncio.create_task(catch_up(ledger))
    waits = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()")
    while not await third.read(lambda conn: conn.execute(waits).scalar_one()):
        await asyncio.sleep(0.02)
    try:
        for name in ("user:1", "user:9", f"user:{SPACES}"):
            await third.write(lambda conn, name=name: spaces.lock(conn, TENANT, [name]), within_s=5)
        assert not running.done()
    finally:
        may_end.set()
    await asyncio.gather(holding, running)
    assert await ledger.read(wrong_ones) == []


async def test_an_empty_ledger_has_nothing_to_catch_up_with(ledger):
    assert await catch_up(ledger) == CaughtUp(0, 0, 0)


def command_line(url, data, *words):
    env = {name: value for name, value in os.environ.items() if not name.startswith("HINDWISE_")}
    env |= {"HINDWISE_DATA": str(data), "HINDWISE_DATABASE_URL": url, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "hindwise.cli", "migrate", *words]
    return subprocess.run(command, env=env, cwd=data, capture_output=True, text=True, timeout=120)


async def test_the_command_does_it_and_says_what_it_did(mixed, ledger_url, tmp_path):
    done = await asyncio.to_thread(command_line, ledger_url, tmp_path, "--catch-up")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "Nothing to do" in said and "languages of memories: 1; sums of models: 2" in said
    assert (await mixed.read(told))[0] == {lang: [lang] for lang in WORDS}
    both = await asyncio.to_thread(command_line, ledger_url, tmp_path, "--check", "--catch-up")
    assert (both.returncode, "--catch-up" in both.stderr) == (2, True)
