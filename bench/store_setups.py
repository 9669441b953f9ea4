"""Both set-ups, each with servers of its own: SQLite with the index in a file, Postgres with Weaviate. And a quick way to fill them."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import numpy as np
from sqlalchemy import Connection, Insert, text

from bench.recall import DIM, Remembered
from hindwise.embed.base import Vector
from hindwise.engine import Engine, open_engine
from hindwise.index.base import IndexItem
from hindwise.index.document import document_of
from hindwise.index.projection import item_of
from hindwise.index.terms import term_hash
from hindwise.ledger import embeddings, memory_changes, spaces
from hindwise.model.ids import derive
from hindwise.model.memory import Kind, Memory
from hindwise.settings import Settings
from hindwise.text.tokens import query_tokens
from tests.servers.postgres import Postgres
from tests.servers.weaviate import Weaviate

TENANT = "default"
_BATCH = 2_000
_FILL_S = 300.0
"""One batch may take so long: a busy machine must not end a bench."""
_MODEL = f"hashed-{DIM}"


@dataclass(frozen=True, slots=True)
class Setup:
    """Where ledger and index lie. `servers`: what runs besides us; `pids`: theirs, by name."""

    name: str
    settings: dict[str, Any]
    servers: tuple[Postgres, Weaviate] | None

    @property
    def pids(self) -> dict[str, int]:
        """Of Weaviate; Postgres has a process per connection and is told by what it wrote."""
        return {"weaviate": self.servers[1].child.pid} if self.servers else {}


@contextmanager
def sqlite_embedded(folder: Path) -> Iterator[Setup]:
    """A file for the ledger and one for the index."""
    yield Setup("sqlite + embedded", {"data": folder}, None)


@contextmanager
def postgres_weaviate(folder: Path, **weaviate_environment: str) -> Iterator[Setup]:
    """Two servers of our own, which end with us. Raises Missing where one is not on this machine, NotReady."""
    with Postgres(durable=True) as postgres, Weaviate(**weaviate_environment) as weaviate:
        more = {"database_url": postgres.databases.new(), "index": "weaviate", "secret_key": "a secret of the bench alone"}
        found = {name.lower(): value for name, value in weaviate.env().items()}
        yield Setup("postgres + weaviate", {"data": folder, **more, **found}, (postgres, weaviate))


@asynccontextmanager
async def opened(setup: Setup, known: dict[str, Vector], **more: Any) -> AsyncIterator[Engine]:
    """The engine on a set-up. known: the vectors of all questions that will be asked; more: settings on top."""
    settings = Settings(_env_file=None, embed="none", **{"index_timeout_s": 15, **setup.settings, **more})
    async with open_engine(settings, embedder=Remembered(known)) as engine:
        yield engine


def vector_of(text: str) -> Vector:
    """As `hindwise.testing.hashed_vector`, with the direction of each word remembered."""
    total = np.sum([_direction(token) for token in query_tokens(text)], axis=0, dtype=np.float32)
    return cast("Vector", total / np.linalg.norm(total))


@lru_cache(maxsize=20_000)
def _direction(token: str) -> Vector:
    return np.random.default_rng(term_hash(token)).standard_normal(DIM).astype(np.float32)


async def fill(engine: Engine, by_agent: Mapping[str, Sequence[str]]) -> None:
    """Keep texts as lessons of agents' spaces, as one memory each, in the ledger and in the index; nothing waits in the outbox."""
    waiting = [(agent, at, words) for agent, texts in by_agent.items() for at, words in enumerate(texts)]
    names = {agent: f"agent:{agent}" for agent in by_agent}
    for start in range(0, len(waiting), _BATCH):
        batch = waiting[start : start + _BATCH]
        now = engine.clock.now()
        kept = [
            Memory(
                id=derive("bench", f"{agent}/{at}"),
                tenant_id=TENANT,
                space=names[agent],
                kind=Kind.LESSON,
                conclusion=words,
                valid_from=now,
                recorded_at=now,
            )
            for agent, at, words in batch
        ]
        items = [item_of(memory, document_of(memory), vector_of(memory.conclusion)) for memory in kept]
        await engine.ledger.write(lambda conn, kept=kept, items=items: _keep(conn, kept, items), within_s=_FILL_S)  # type: ignore[misc]
        await engine.index.upsert(items)
    if engine.ledger.is_shared:
        # Which the server does by itself within a minute; until then it plans as if the tables were empty.
        await engine.ledger.write(lambda conn: conn.execute(text("ANALYZE")))


class _Gathered:
    """Takes the rows of single inserts and writes them many at a time: what a bench may do and a reflection never needs."""

    rowcount = 1

    def __init__(self) -> None:
        self.rows: dict[Insert, list[dict[str, Any]]] = {}
        self.info: dict[str, Any] = {}
        """As a connection's: no driver of its own, so that every statement comes to `execute`."""

    def execute(self, statement: Insert, row: dict[str, Any]) -> "_Gathered":
        """Note it."""
        self.rows.setdefault(statement, []).append(row)
        return self


def _keep(conn: Connection, kept: Sequence[Memory], items: Sequence[IndexItem]) -> None:
    numbers = {name: row.no for name, row in spaces.lock(conn, TENANT, sorted({memory.space for memory in kept})).items()}
    gathered = _Gathered()
    vectors: dict[str, dict[str, Vector]] = {}
    for memory, item in zip(kept, items, strict=True):
        memory_changes.insert_memory(cast("Connection", gathered), numbers[memory.space], memory, actor="bench", why="bench")
        if item.vector is not None:
            vectors.setdefault(memory.space, {})[document_of(memory).text_hash] = item.vector
    for statement, rows in gathered.rows.items():
        conn.execute(statement, rows)
    for space, found in vectors.items():
        embeddings.store(conn, numbers[space], _MODEL, found)
