"""`hindwise reindex` beside what it watches: what there is, giving up, removing old ones, and what it says where nothing runs."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from hindwise.clock import SystemClock
from hindwise.engine import open_engine
from hindwise.ledger import generations
from hindwise.ledger.engine import Ledger
from hindwise.ledger.schema import generations as table
from hindwise.recall.remember import remember
from hindwise.settings import Settings
from tests.build import TENANT, make_draft
from tests.processes import environment


def _reindex(data: Path, *arguments: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "hindwise.cli", "reindex", *arguments],
        env=environment(data, {}),
        cwd=data,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
async def house(tmp_path: Path) -> Path:
    """A data directory with one memory, and a generation kept from before."""
    settings = Settings(_env_file=None, data=tmp_path, embed="none")
    async with open_engine(settings, SystemClock()) as engine:
        await remember(engine, TENANT, make_draft("Prefers window seats. 喜欢靠窗的座位"), "user:ann", "test", engine.clock.now())
        await engine.projection.one_space()

        def follow(conn: Any) -> None:
            asked = generations.request(conn, "embedded", engine.clock.now())
            generations.begin(conn, asked.no, generations.Spec("none", 0, 1))
            generations.switch(conn, asked.no, {}, engine.clock.now())
            generations.settle(conn, asked.no)

        await engine.ledger.write(follow)
    return tmp_path


def test_old_ones_are_shown_and_removed_and_the_one_that_serves_stays(house: Path) -> None:
    assert (house / "index-1.db").exists()
    code, told, _ = _reindex(house, "--status", "--json")
    shown = {one["generation"]: one["state"] for one in json.loads(told)["generations"]}
    assert (code, shown) == (0, {1: "old", 2: "live"})
    code, told, _ = _reindex(house, "--drop-old", "--json")
    assert (code, json.loads(told)["dropped"]) == (0, [{"generation": 1, "index": "embedded"}])
    assert not list(house.glob("index-1.db*"))
    code, told, _ = _reindex(house, "--drop-old")
    assert (code, "nothing to remove" in told) == (0, True)


async def test_an_old_one_that_is_gone_for_good_is_taken_off_the_list_only_when_told(house: Path) -> None:
    ledger = Ledger(f"sqlite:///{house / 'ledger.db'}")
    # Its server is not even configured here any more.
    await ledger.write(lambda conn: conn.execute(update(table).where(table.c.no == 1).values(index_kind="weaviate")))
    await ledger.close()
    code, told, error = await asyncio.to_thread(_reindex, house, "--drop-old")
    assert (code, "nothing was removed" in told, "--gone" in error) == (3, True, True)
    code, told, _ = await asyncio.to_thread(_reindex, house, "--drop-old", "--gone", "--json")
    assert (code, json.loads(told)["dropped"]) == (0, [{"generation": 1, "index": "weaviate"}])
    assert "nothing to remove" in (await asyncio.to_thread(_reindex, house, "--drop-old"))[1]


def test_where_nothing_runs_a_request_waits_and_can_be_taken_back(house: Path) -> None:
    code, told, error = _reindex(house, "--json")
    assert (code, json.loads(told)["state"], "hindwise up" in error) == (3, "wanted", True)
    code, told, _ = _reindex(house, "--json")
    assert json.loads(told)["generation"] == 3, "asked for twice it is the same"
    code, told, _ = _reindex(house, "--cancel")
    assert (code, "generation 3 is given up" in told) == (0, True)
    code, _, error = _reindex(house, "--cancel")
    assert (code, "no index is being built" in error) == (1, True)
    _reindex(house, "--json")
    code, told, _ = _reindex(house, "--cancel", "--json")
    given_up = json.loads(told)
    assert (code, given_up["generation"], given_up["state"], given_up["note"]) == (0, 4, "dropped", "given up by a person")


def test_what_cannot_be_meant_is_refused_with_the_way_out(tmp_path: Path) -> None:
    code, _, error = _reindex(tmp_path)
    assert (code, "hindwise up" in error) == (3, True)
    assert not list(tmp_path.glob("*.db")), "a command that looks makes nothing"
    code, _, error = _reindex(tmp_path, "--status", "--drop-old")
    assert (code, "do not go together" in error) == (2, True)
    code, _, error = _reindex(tmp_path, "--gone")
    assert (code, "--drop-old" in error) == (2, True)
