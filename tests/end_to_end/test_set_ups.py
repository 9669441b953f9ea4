"""The whole product on each set-up of ledger and index, from outside: `hindwise up` with its Temporal, worker and API, asked over HTTP."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import httpx2
import pytest

from hindwise.embed.none import NoEmbedder
from hindwise.engine import Engine, open_engine
from hindwise.index.factory import remove_index
from hindwise.index.projection import index_space
from hindwise.ledger import generations
from hindwise.model.space import user_space
from hindwise.settings import Settings
from tests.build import TENANT
from tests.looking import ids_everywhere
from tests.processes import Up, until

USER = "dana"
RUNS = {
    "en": (
        "Please refund my parcel that never arrived",
        "refund_order",
        "Error: the order is not marked as lost",
        "I could not refund it.",
    ),
    "zh": ("请帮我取消昨天订的酒店房间", "cancel_booking", "错误：取消前必须先核对会员编号", "没能取消，抱歉。"),
}
CAUSES = {"en": "the order is not marked as lost", "zh": "取消前必须先核对会员编号"}
QUESTIONS = {"en": "A customer asks to refund a parcel that never arrived", "zh": "客户想取消昨天订的酒店房间"}
WISHES = {
    "en": ("Which seats does the user prefer?", "I prefer window seats", "I prefer aisle seats"),
    "zh": ("用户喜欢怎样的回答？", "我喜欢简洁的回答", "我喜欢详细的回答"),
}
"""A question, what was wished for first, and what is wished for now."""


@pytest.fixture(params=["sqlite+embedded", "sqlite+weaviate", "postgres+weaviate"])
async def here(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Up, Engine]]:
    """One running Hindwise of each kind, and an engine of our own on its stores, to look into the index."""
    ledger, _, index = request.param.partition("+")
    given = request.getfixturevalue("weaviate_server").env() if index == "weaviate" else {}
    given |= {"HINDWISE_INDEX": index, "HINDWISE_INDEX_TIMEOUT_S": "20"}  # a loaded test machine is no failure
    if ledger == "postgres":
        given["HINDWISE_DATABASE_URL"] = request.getfixturevalue("postgres_url")
    fields = {name.removeprefix("HINDWISE_").lower(): value for name, value in given.items()}
    settings = Settings(_env_file=None, data=tmp_path / "data", **fields)
    async with AsyncExitStack() as stack:
        up = stack.enter_context(Up(settings.data, **given))
        assert isinstance(up, Up)
        up.start()
        engine = await stack.enter_async_context(open_engine(settings, embedder=NoEmbedder()))
        yield up, engine
        built = await engine.ledger.read(generations.kept)
    for generation in built:
        await remove_index(settings, generation.kind, generation.no, engine.secret)


async def test_two_failures_teach_a_wish_changes_and_the_user_is_erased(here: tuple[Up, Engine]) -> None:
    up, engine = here
    with up.http() as http:
        for lang in RUNS:
            _fail(http, lang)
        for lang, cause in CAUSES.items():
            told = _brief(http, QUESTIONS[lang])
            assert cause in told
            assert CAUSES["zh" if lang == "en" else "en"] not in told

        for question, before, after in WISHES.values():
            _remember(http, before)
            assert before in _brief(http, question)
            _remember(http, after)
            told = _brief(http, question)
            assert after in told
            assert before not in told

        async with asyncio.timeout(30):  # the precondition: the index holds the user
            while not await _indexed(engine):
                await asyncio.sleep(0.1)
        accepted = http.post("/v1/erasures", json={"user_id": USER})
        assert accepted.status_code == 202, accepted.text
        until(lambda: http.get(accepted.json()["status_url"]).json()["status"] == "completed", "erased", 90)
        asked = [*QUESTIONS.values(), *(question for question, *_ in WISHES.values())]
        assert [_brief(http, question) for question in asked] == [""] * len(asked)
        assert await _indexed(engine) == set()


def _fail(http: httpx2.Client, lang: str) -> None:
    """Report a task that failed, and wait until it was reflected on."""
    asked, tool, error, ended = RUNS[lang]
    call = {"id": "c1", "type": "function", "function": {"name": tool, "arguments": "{}"}}
    turns = [
        {"role": "user", "content": asked},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "name": tool, "tool_call_id": "c1", "content": error},
        {"role": "assistant", "content": ended},
    ]
    body = {"user_id": USER, "run_id": f"run-{lang}", "turns": turns, "outcome": {"status": "failure", "source": "env"}}
    accepted = http.post("/v1/episodes", json=body)
    assert accepted.status_code == 202, accepted.text
    url = accepted.json()["status_url"]
    until(lambda: http.get(url).json()["status"] == "completed", f"the {lang} run reflected on")


def _remember(http: httpx2.Client, wish: str) -> None:
    answer = http.post("/v1/memories", json={"user_id": USER, "content": wish, "kind": "preference"})
    assert answer.status_code == 201, answer.text


def _brief(http: httpx2.Client, question: str) -> str:
    answer = http.post("/v1/recall", json={"user_id": USER, "query": question})
    assert answer.status_code == 200, answer.text
    assert answer.json()["degraded"] is False, answer.text
    return str(answer.json()["brief"])


async def _indexed(engine: Engine) -> set[str]:
    """What any index holds of the user."""
    return await ids_everywhere(engine, index_space(TENANT, user_space(USER)))
