"""A space that is erased while its index is brought up to date: nothing of it is kept, neither vectors nor index rows."""

from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import pytest
from sqlalchemy import Connection, func, select, update

from hindwise.embed.base import Vector
from hindwise.engine import Engine, open_engine
from hindwise.errors import SpaceErased
from hindwise.index.base import IndexItem
from hindwise.index.projection import Projection, index_space
from hindwise.ledger import outbox
from hindwise.ledger.schema import embeddings, spaces
from hindwise.recall.remember import remember
from hindwise.settings import Settings
from hindwise.testing import FixedClock, HashedEmbedder
from tests.engine.recall.helpers import TENANT, apply_outbox, fact

SPACE = "user:ann"


def _erase(conn: Connection) -> None:
    """What an erasure does first: work that began before it is known by the older epoch."""
    conn.execute(update(spaces).values(epoch=spaces.c.epoch + 1))


class _Meanwhile(HashedEmbedder):
    """An embedder during whose work something happens."""

    happens: Callable[[], object] | None = None

    async def passages(self, texts: Sequence[str]) -> list[Vector | None]:
        """Let it happen, then answer."""
        if self.happens is not None:
            await self.happens()  # type: ignore[misc]
        return await super().passages(texts)


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    """An engine with vectors."""
    settings = Settings(_env_file=None, data=tmp_path)
    async with open_engine(settings, FixedClock(), _Meanwhile()) as opened:
        yield opened


async def _left(engine: Engine) -> tuple[int, set[str], list[int]]:
    """Vectors kept, ids in the index, spaces with marks."""
    vectors = await engine.ledger.read(lambda conn: conn.execute(select(func.count()).select_from(embeddings)).scalar_one())
    return vectors, await engine.index.ids(index_space(TENANT, SPACE)), await engine.ledger.read(outbox.space_numbers)


async def test_vectors_of_a_space_that_was_erased_while_they_were_computed_are_not_kept(engine: Engine) -> None:
    await remember(engine, TENANT, fact("Likes tea. 喜欢喝茶"), SPACE, "test", engine.clock.now())
    await engine.ledger.write(lambda conn: conn.execute(embeddings.delete()))
    engine.embedder.happens = lambda: engine.ledger.write(_erase)  # type: ignore[attr-defined]
    with pytest.raises(SpaceErased):
        await engine.projection.one_space()
    assert await _left(engine) == (0, set(), [1])
    engine.embedder.happens = None  # type: ignore[attr-defined]
    await apply_outbox(engine)
    vectors, indexed, marked = await _left(engine)
    assert (vectors, len(indexed), marked) == (1, 1, [])


async def test_an_index_takes_back_what_it_was_given_of_a_space_erased_meanwhile(engine: Engine) -> None:
    await remember(engine, TENANT, fact("Likes tea. 喜欢喝茶"), SPACE, "test", engine.clock.now())

    class Index:
        """The real one, during whose writing the space is erased."""

        async def upsert(self, items: Sequence[IndexItem]) -> None:
            """Write, then let it happen."""
            await engine.index.upsert(items)
            await engine.ledger.write(_erase)

        delete = staticmethod(engine.index.delete)

    projection = Projection(engine.ledger, Index(), engine.embedder, engine.clock, "other")  # type: ignore[arg-type]
    with pytest.raises(SpaceErased):
        await projection.one_space()
    assert (await _left(engine))[1:] == (set(), [1])
    await apply_outbox(engine)
    assert len((await _left(engine))[1]) == 1
