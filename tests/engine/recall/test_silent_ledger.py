"""A ledger whose machine is gone without a word: a recall says so within its limit, and answers again when the ledger does."""

import time
from contextlib import ExitStack

import pytest
from sqlalchemy.engine import make_url

from hindwise.errors import LedgerUnavailable
from tests.engine.recall.conftest import opened
from tests.engine.recall.helpers import apply_outbox, ask, fact, keep
from tests.servers.lossy import LossyWire

LIMIT_S = 0.5
PATIENCE_S = 5.0


@pytest.mark.parametrize("hop", ["first", "second"])
async def test_recall_waits_no_longer_than_its_limit(tmp_path, postgres_url, weaviate_server, monkeypatch, hop) -> None:
    url = make_url(postgres_url)
    more = {"index": "weaviate", "index_timeout_s": 20, **weaviate_server.env()}
    with LossyWire(url.port or 5432) as wire:
        wired = url.set(port=wire.port).render_as_string(hide_password=False)
        async with opened(tmp_path, database_url=wired, **more) as (engine, recaller):
            await keep(engine, "user:a", fact("Ann cancels the booking before the refund"), fact("安在退款之前先取消预订"))
            await apply_outbox(engine)
            for question in ("cancel the booking", "取消预订"):
                assert (await ask(recaller, question, user="a")).items
                assert recaller._within_s > LIMIT_S
                reached = []
                with ExitStack() as silence, monkeypatch.context() as patched:
                    patched.setattr(recaller, "_within_s", LIMIT_S)
                    if hop == "first":
                        silence.enter_context(wire.silent())
                    else:
                        patched.setattr(recaller._finder, "find", _and_then(recaller._finder.find, silence, wire, reached))
                    began = time.monotonic()
                    with pytest.raises(LedgerUnavailable) as error:
                        await ask(recaller, question, user="a")
                    assert LIMIT_S <= time.monotonic() - began < PATIENCE_S
                assert error.value.retry_after_s
                assert reached == ["index"] * (hop == "second")
                monkeypatch.setattr(recaller, "_within_s", 20.0)
                assert (await ask(recaller, question, user="a")).items


def _and_then(find, silence, wire, reached):
    """What asks the index, and lets the ledger fall silent when it has answered."""

    async def find_first(*asked):
        found = await find(*asked)
        reached.append("index")
        silence.enter_context(wire.silent())
        return found

    return find_first
