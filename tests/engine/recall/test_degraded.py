"""With an index or an embedder that does not answer, recall stays up and says so."""

import asyncio
from dataclasses import replace

import pytest

from hindwise.errors import IndexUnavailable, ModelUnavailable
from hindwise.index.base import Candidate
from hindwise.recall import finding
from hindwise.recall.recall import Recaller
from hindwise.testing import HashedEmbedder
from tests.engine.recall.helpers import apply_outbox, ask, conclusions, fact, keep, lesson


class DownIndex:
    """An index that is gone, or that never answers."""

    def __init__(self, *, hangs: bool = False) -> None:
        self._hangs = hangs

    async def candidates(self, *_: object, **__: object) -> list[Candidate]:
        if self._hangs:
            await asyncio.sleep(60)
        raise IndexUnavailable("gone")


class DownEmbedder(HashedEmbedder):
    """An embedder whose endpoint does not answer questions."""

    async def query(self, text: str) -> None:
        raise ModelUnavailable("no answer")


@pytest.mark.parametrize("hangs", [False, True])
async def test_without_the_index_the_ledger_answers_in_both_languages(running, hangs: bool) -> None:
    engine, _ = running
    await keep(
        engine,
        "user:a",
        fact("The spare key lies under the flowerpot"),
        fact("备用钥匙在花盆下面"),
        *(fact(f"The archive box {n} stands in row {n}") for n in range(20)),
    )
    await apply_outbox(engine)
    recaller = Recaller(replace(engine, index=DownIndex(hangs=hangs)))
    began = asyncio.get_running_loop().time()
    answer = await ask(recaller, "where is the spare key", user="a")
    assert (answer.degraded, list(conclusions(answer))[:1]) == (True, ["The spare key lies under the flowerpot"])
    assert asyncio.get_running_loop().time() - began < finding._INDEX_LIMIT_S + 5
    assert list(conclusions(await ask(recaller, "备用钥匙在哪里", user="a")))[:1] == ["备用钥匙在花盆下面"]
    assert (await ask(recaller, "recipe for pancakes", user="a")).brief == ""
    await recaller.close()


async def test_without_the_embedder_words_answer(tmp_path, open_at) -> None:
    async with open_at(tmp_path, DownEmbedder()) as (engine, recaller):
        await keep(engine, "agent:x", lesson("When a refund exceeds 500 dollars, ask a supervisor", "large refunds", "refund an order"))
        answer = await ask(recaller, "refund an order of 900 dollars", agent="x")
        assert answer.degraded
        assert len(answer.items) == 1
