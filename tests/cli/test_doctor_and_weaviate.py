"""What `hindwise doctor` says of an index on Weaviate: asked as the settings stand, not taken from what the ledger remembers."""

from pathlib import Path
from typing import Any

import pytest

from hindwise.cli import doctor_checks
from hindwise.clock import SystemClock
from hindwise.ledger import generations
from hindwise.ledger.engine import Ledger
from hindwise.ledger.generations import Spec
from hindwise.ledger.migrate import migrate
from hindwise.settings import Settings
from tests.nobody import nobody_at


async def _told(data: Path, **values: Any) -> tuple[str, str]:
    settings = Settings(_env_file=None, data=data, index="weaviate", **values)
    ledger = Ledger.of(settings)
    await migrate(ledger)
    await ledger.write(lambda conn: generations.ensure_live(conn, "weaviate", Spec("none", 0, 1), SystemClock().now()))
    await ledger.close()
    found = await doctor_checks._index(settings)
    return found.state, found.detail


async def test_a_server_that_answers_is_well(tmp_path: Path, weaviate_server: Any) -> None:
    assert await _told(tmp_path, **weaviate_server.env()) == ("ok", "weaviate, follows the ledger")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"WEAVIATE_API_KEY": "another"}, "WEAVIATE_API_KEY"),
        ({"WEAVIATE_URL": f"http://{nobody_at()}"}, "Recall is answered from the ledger meanwhile"),
        ({"WEAVIATE_GRPC_URL": f"http://{nobody_at()}"}, "not at WEAVIATE_GRPC_URL"),
        ({"WEAVIATE_URL": ""}, "needs WEAVIATE_URL"),
    ],
)
async def test_one_that_does_not_let_us_in_is_told_with_the_setting(
    tmp_path: Path, weaviate_server: Any, change: dict[str, str], words: str
) -> None:
    state, detail = await _told(tmp_path, **{**weaviate_server.env(), **change})
    assert (state, words in detail) == ("broken", True), detail
