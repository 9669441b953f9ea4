"""What another process read of an erased space, to find things faster, is let go there too; of everybody else nothing is."""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from hindwise.clock import SystemClock
from hindwise.engine import Engine, open_engine
from hindwise.index import erased, factory
from hindwise.index.base import Filters
from hindwise.index.projection import index_space
from hindwise.index.space_image import SpaceImage
from hindwise.index.weaviate_words import SpaceWords
from hindwise.ledger import erasures, generations
from hindwise.model.space import user_space
from hindwise.privacy import erase_user
from hindwise.recall.remember import remember
from hindwise.settings import Settings
from hindwise.testing import HashedEmbedder
from hindwise.text.tokens import tokens
from tests.build import TENANT
from tests.engine.recall.helpers import fact

SOON_S = 25.0
SAID = {"ann": "Ann likes kanarienvogel tea. 喜欢金丝雀牌的茶", "bo": "Bo likes kanarienvogel coffee. 喜欢金丝雀牌的咖啡"}
QUESTION = "kanarienvogel 金丝雀"


@pytest.fixture(params=["sqlite+embedded", "sqlite+weaviate"])
async def two(request: Any, tmp_path: Path, monkeypatch: Any) -> AsyncIterator[tuple[Engine, Engine]]:
    """Two processes' engines on one installation: one erases, the other has read."""
    monkeypatch.setattr(erased, "LOOK_EVERY_S", 0.5)
    kind = request.param.partition("+")[2]
    more = request.getfixturevalue("weaviate_server").env() if kind == "weaviate" else {}
    settings = Settings(_env_file=None, data=tmp_path, index=kind, index_timeout_s=20, **more)  # type: ignore[call-arg]
    async with AsyncExitStack() as stack:
        one = await stack.enter_async_context(open_engine(settings, SystemClock(), HashedEmbedder(16)))
        other = await stack.enter_async_context(open_engine(settings, SystemClock(), HashedEmbedder(16)))
        yield one, other
        kept = await one.ledger.read(generations.kept)
    for generation in kept if kind == "weaviate" else ():
        await factory.remove_index(settings, kind, generation.no, one.secret)


async def write(engine: Engine, user: str) -> None:
    await remember(engine, TENANT, fact(SAID[user]), user_space(user), "test", engine.clock.now())
    while await engine.projection.one_space():
        pass


async def found(engine: Engine, user: str) -> int:
    space = index_space(TENANT, user_space(user))
    return len(await engine.index.candidates(space, tokens(QUESTION), None, Filters()))


def in_memory() -> int:
    """How many spaces are in this interpreter's memory with something in them, whoever holds them."""
    gc.collect()
    held = [one for one in gc.get_objects() if isinstance(one, SpaceWords | SpaceImage)]
    return sum(bool(one.documents) if isinstance(one, SpaceWords) else one.docs > 0 for one in held)


async def erase(engine: Engine, user: str) -> None:
    asked = await erase_user.request(engine, TENANT, user, "test")
    assert (await erase_user.erase(engine, asked.id)).status == "completed"


async def test_what_a_process_remembers_of_an_erased_space_goes_and_what_it_remembers_of_others_stays(two: tuple[Engine, Engine]) -> None:
    erasing, reading = two
    for user in SAID:
        await write(erasing, user)
        assert await found(reading, user) == 1
    assert in_memory() == 2, "the precondition: the reader remembers both"
    await erase(erasing, "ann")
    async with asyncio.timeout(SOON_S):
        while in_memory() > 1:
            await asyncio.sleep(0.2)
    assert await found(reading, "ann") == 0
    assert await found(reading, "bo") == 1
    await write(erasing, "ann")
    assert await found(reading, "ann") == 1, "who comes back is found"


async def test_a_receipt_is_told_twice_and_not_for_ever(two: tuple[Engine, Engine]) -> None:
    erasing, reading = two
    told: list[list[str]] = []

    class Listening:
        async def forget(self, names: Any) -> None:
            told.append(list(names))

    looking = erased.Forgetting(reading.ledger, Listening(), reading.clock)
    await looking.look()
    await write(erasing, "ann")
    await erase(erasing, "ann")
    for _ in range(4):
        await looking.look()
    [name] = set(await reading.ledger.read(lambda conn: list(erasures.wiped_since(conn, reading.clock.now()).values())))
    assert told == [[name], [name]]
    assert name.startswith("s_") and "ann" not in name
