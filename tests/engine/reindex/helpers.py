"""A small house with memories in English and Chinese, and short ways to build a generation by hand."""

import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection

from hindwise.clock import SystemClock
from hindwise.engine import Engine, open_engine, spec_of
from hindwise.index.live import LiveIndex
from hindwise.index.projection import index_space
from hindwise.index.rebuild import Rebuild
from hindwise.ledger import generations
from hindwise.ledger.generations import Generation
from hindwise.ledger.resolution import Placement, Resolution
from hindwise.settings import Settings
from hindwise.testing import HashedEmbedder
from tests.engine.recall.helpers import TENANT, apply_outbox, fact, keep, lesson
from tests.fresh_ledger import with_tables

SUBJECTS = ("train", "hotel", "invoice", "garden", "violin", "recipe", "passport", "backup", "火车", "酒店", "发票", "花园", "护照", "备份")
TRAITS = ("blue", "late", "fragile", "shared", "paid", "urgent", "安静", "便宜", "准时")


def drafts(number: int, seed: int = 0) -> list[Any]:
    """Facts and lessons in both languages, no two alike."""
    made = []
    for at in range(seed, seed + number):
        subject, trait = SUBJECTS[at % len(SUBJECTS)], TRAITS[at % len(TRAITS)]
        if at % 3:
            made.append(fact(f"The {subject} of case {at} is {trait} and goes to desk {at % 17}"))
        else:
            made.append(lesson(f"Check the {subject} before desk {at % 17}, case {at}: {trait}", task=f"handle a {subject}"))
    return made


def questions(number: int) -> list[str]:
    """As people ask, in both languages."""
    return [f"which {SUBJECTS[at % len(SUBJECTS)]} is {TRAITS[at * 5 % len(TRAITS)]} at desk {at % 17}" for at in range(number)]


_ENGLISH = """ticket platform harbour museum bakery umbrella keyboard contract insurance dentist mountain river bridge station library
market window engine ladder carpet lantern orchard pension receipt schedule signal spanner sweater teacher theatre tractor uniform"""
_CHINESE = """车票 站台 码头 博物馆 面包店 雨伞 键盘 合同 保险 牙医 山路 河流 大桥 车站 图书馆 市场 窗户 发动机 梯子 地毯 灯笼 果园 养老金
收据 日程 信号 扳手 毛衣 老师 剧院"""
WORDS = tuple((_ENGLISH + " " + _CHINESE).split())


def sentences(number: int, seed: int) -> list[Any]:
    """Facts of six to eleven words in both languages, some words much more frequent than others, so that scores rarely tie."""
    drawn = random.Random(seed)
    weights = [1 / (at + 3) for at in range(len(WORDS))]
    return [fact(f"Note {seed}-{at}: {' '.join(drawn.choices(WORDS, weights, k=drawn.randint(6, 11)))}") for at in range(number)]


def queries(number: int, seed: int) -> list[str]:
    """Three or four of the same words, the rare ones as often as the others."""
    drawn = random.Random(seed)
    return [" ".join(drawn.sample(WORDS, drawn.randint(3, 4))) for _ in range(number)]


@asynccontextmanager
async def house(data: Path, embedder: HashedEmbedder | None = None, **values: Any) -> AsyncIterator[Engine]:
    """An engine with vectors on the real clock, since leases must end."""
    if "database_url" not in values:
        with_tables(data)
    settings = Settings(_env_file=None, **{"data": data, "reindex_share": 1.0, **values})
    async with open_engine(settings, SystemClock(), embedder or HashedEmbedder()) as engine:
        yield engine


async def furnish(engine: Engine, spaces: Sequence[str], each: int) -> None:
    """Memories in each space, all of them in the live index."""
    for at, space in enumerate(spaces):
        await keep(engine, space, *drafts(each, seed=1000 * at))
    await apply_outbox(engine)


def live(engine: Engine) -> LiveIndex:
    """The engine's index as what it is."""
    assert isinstance(engine.index, LiveIndex)
    return engine.index


def rebuild_of(engine: Engine) -> Rebuild:
    """What the activities work with."""
    return Rebuild(engine.ledger, live(engine), engine.embedder, spec_of(engine.embedder), engine.clock, engine.holder)


async def wanted(engine: Engine, kind: str = "embedded") -> Generation:
    """Ask for a generation, and begin it."""
    asked = await engine.ledger.write(lambda conn: generations.request(conn, kind, engine.clock.now()))
    return (await rebuild_of(engine).begin(asked.no)).generation


async def fill(engine: Engine, number: int) -> int:
    """Write all pages; return how many memories."""
    written, rebuild = 0, rebuild_of(engine)
    while True:
        filled = await rebuild.fill(number)
        written += filled.written
        if filled.end or filled.gone:
            return written


async def ids_in(engine: Engine, generation: Generation, space: str) -> set[str]:
    """What one generation holds of a space."""
    return await (await live(engine).opened(generation)).ids(index_space(TENANT, space))


async def switch(engine: Engine, number: int) -> None:
    """Let it serve; this process notices at once."""
    assert await engine.ledger.write(lambda conn: generations.switch(conn, number, {}, engine.clock.now()))
    await live(engine).refresh()


async def furnish_at_once(engine: Engine, space: str, many: Sequence[Any]) -> None:
    """The same in one transaction, and all of it in the live index."""

    def write(conn: Connection) -> None:
        resolution = Resolution(
            conn=conn,
            tenant_id=TENANT,
            reflection_id=str(uuid4()),
            by_reflection=False,
            actor="test",
            now=engine.clock.now(),
            rules=engine.rules,
            min_confidence=engine.settings.min_confidence,
            default_valid_from=engine.clock.now(),
        )
        resolution.run([Placement(at, draft, space) for at, draft in enumerate(many)])

    await engine.ledger.write(write)
    await apply_outbox(engine)
