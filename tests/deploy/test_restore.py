"""docs/operations.md, "Restore", walked: a copy made while everything runs, more work after it, everything lost, and the copy put back."""

import re
import shutil
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.engine import make_url

from hindwise.clock import SystemClock
from hindwise.index.projection import index_space
from hindwise.ledger.schema import memories
from hindwise.model.space import user_space
from hindwise.privacy import erase_user
from tests.api.front import Front, open_front
from tests.build import TENANT
from tests.processes import ROOT
from tests.servers.postgres import Postgres
from tests.servers.weaviate import Weaviate

PAGE = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
RUNBOOK = PAGE.partition("### Restore\n")[2].partition("\n### ")[0]
LIMIT_S = 60
SAID = {"ann": "I live in Bern", "bo": "我住在苏州", "late": "I live in Chur"}
ASKED = {"ann": "Where do I live, in Bern?", "bo": "我住在苏州吗", "late": "Where do I live, in Chur?"}
RUN = {"user_id": "ann", "goal": "Book a train / 订票", "turns": [{"role": "user", "content": "A train, please. 请订票。"}]}


def line_of(command: str) -> str:
    """The line of the runbook that begins so, without its comment."""
    [found] = [line.partition("    #")[0] for line in RUNBOOK.splitlines() if line.startswith(command)]
    return found


async def remember(front: Front, user: str, words: str = "") -> str:
    answer = await front.post("/v1/memories", {"user_id": user, "content": words or SAID[user]})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


async def recalled(front: Front, user: str) -> tuple[list[str], bool]:
    told = (await front.post("/v1/recall", {"user_id": user, "query": ASKED[user]})).json()
    return [item["conclusion"] for item in told["items"]], told["degraded"]


async def indexed(front: Front) -> None:
    while await front.engine.projection.one_space():
        pass


async def erase(front: Front, user: str) -> None:
    asked = await erase_user.request(front.engine, TENANT, user, "test")
    assert (await erase_user.erase(front.engine, asked.id)).status == "completed"


async def before_the_copy(front: Front) -> dict[str, Any]:
    for user in ("ann", "bo"):
        await remember(front, user)
    accepted = (await front.post("/v1/episodes", {**RUN, "run_id": "r1"})).json()
    await indexed(front)
    return {**accepted, "users": {"ann", "bo"}}


async def after_the_copy(front: Front) -> None:
    await remember(front, "late")
    await remember(front, "ann", "I have a dog")
    await front.post("/v1/episodes", {**RUN, "run_id": "r2"})
    await indexed(front)
    await erase(front, "bo")


async def as_it_was(front: Front, copied: dict[str, Any]) -> None:
    """What stood in the copy is recalled, at once and by the index; what came later is unknown, and taken again when it is repeated."""
    for user in ("ann", "bo"):
        assert (await recalled(front, user))[0] == [SAID[user]]
    await indexed(front)
    for user in ("ann", "bo"):
        assert await recalled(front, user) == ([SAID[user]], False)
        assert len(await front.engine.index.ids(index_space(TENANT, user_space(user)))) == 1
    assert await recalled(front, "late") == ([], False)
    assert await front.engine.index.ids(index_space(TENANT, user_space("late"))) == set()
    count = select(func.count()).select_from(memories)
    assert await front.engine.ledger.read(lambda conn: conn.execute(count).scalar_one()) == 2

    known = (await front.post("/v1/episodes", {**RUN, "run_id": "r1"})).json()
    new = (await front.post("/v1/episodes", {**RUN, "run_id": "r2"})).json()
    assert (known["duplicate"], known["reflection_id"], known["status"]) == (True, copied["reflection_id"], "queued")
    assert new["duplicate"] is False
    await remember(front, "late")
    assert (await recalled(front, "late"))[0] == [SAID["late"]]

    await erase(front, "bo")
    assert (await recalled(front, "bo"))[0] == [], "erased again, as the page says"


def sqlite_copy(data: Path) -> None:
    """The command of the page; where there is no such program, what it does."""
    command = re.fullmatch(r'sqlite3 ledger\.db "\.backup (\S+)"', line_of("sqlite3"))
    assert command, "the page shows another command than this test runs"
    if program := shutil.which("sqlite3"):
        subprocess.run([program, "ledger.db", f".backup {command[1]}"], cwd=data, check=True, timeout=LIMIT_S)
        return
    source, copy = sqlite3.connect(data / "ledger.db"), sqlite3.connect(data / command[1])
    source.backup(copy)
    source.close()
    copy.close()


async def test_one_machine_is_restored_from_a_copy_of_its_ledger(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with open_front(data, clock=SystemClock()) as front:
        copied = await before_the_copy(front)
        sqlite_copy(data)
        await after_the_copy(front)
        # As a power cut leaves it: with a log beside the ledger.
        left = tmp_path / "left"
        shutil.copytree(data, left)
    assert {path.name for path in left.iterdir()} >= {"ledger.db-wal", "index-1.db", "ledger-copy.db", "secret.key", "api_key"}

    for line in (line_of("rm -f ledger"), line_of("mv ledger-copy")):
        subprocess.run(["sh", "-c", line], cwd=left, check=True, timeout=LIMIT_S)
    assert {path.name for path in left.iterdir()} <= {"ledger.db", "secret.key", "api_key"}
    async with open_front(left, clock=SystemClock()) as front:
        await as_it_was(front, copied)


def filled(line: str, **values: str) -> list[str]:
    """The words of a command of the page, with its variables filled in."""
    for name, value in values.items():
        line = line.replace(f'"${name}"', value)
    assert "$" not in line, line
    return line.split()


@pytest.fixture
def servers(own_postgres: Postgres, own_weaviate: Weaviate) -> tuple[Postgres, Weaviate]:
    own_weaviate.start(wait=False)
    own_postgres.start()
    own_weaviate.wait_ready()
    return own_postgres, own_weaviate


def plain(url: str) -> str:
    """As PostgreSQL's own programs understand it."""
    return make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)


async def test_a_cluster_is_restored_from_a_dump_with_an_empty_weaviate(servers: tuple[Postgres, Weaviate], tmp_path: Path) -> None:
    postgres, weaviate = servers
    old, new = (postgres.databases.new() for _ in range(2))
    more = {name.lower(): value for name, value in weaviate.env().items()}
    settings = {"clock": SystemClock(), "index": "weaviate", "secret_key": "the old secret", **more}
    async with open_front(tmp_path, database_url=old, **settings) as front:
        copied = await before_the_copy(front)
        dump = filled(line_of("pg_dump"), LEDGER=plain(old))
        subprocess.run([str(postgres.bin / dump[0]), *dump[1:]], cwd=tmp_path, check=True, timeout=LIMIT_S)
        await after_the_copy(front)

    postgres.databases.drop(old)
    weaviate.kill()
    shutil.rmtree(weaviate.data)
    weaviate.start()
    restore = filled(line_of("pg_restore"), NEW_LEDGER=plain(new))
    done = subprocess.run([str(postgres.bin / restore[0]), *restore[1:]], cwd=tmp_path, capture_output=True, text=True, timeout=LIMIT_S)
    assert (done.returncode, done.stderr) == (0, "")

    async with open_front(tmp_path, database_url=new, **settings) as front:
        assert (await front.http.get("/readyz")).status_code == 200
        await as_it_was(front, copied)
