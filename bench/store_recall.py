"""Recall on both set-ups, beside what the same run takes without us: the server's own two searches, or a plain scan in numpy.

On Weaviate a recall must ask two things of the server: the best by words (`bm25`) and the best by meaning (`near_vector`). Both bare
calls have our filters, 50 finds, ids and scores alone, on a client of their own. The slower one is the floor: ours asks them side by side.
"""

import random
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import chain, islice
from statistics import median
from time import perf_counter, process_time
from typing import Any

from weaviate.classes.query import Filter, MetadataQuery

from bench import cpu
from bench.recall import DIM, Floor, K, questions, texts
from bench.settled import settled
from bench.stats import Block
from bench.store_setups import TENANT, Setup, fill, opened, vector_of
from hindwise.embed.base import Vector
from hindwise.engine import Engine
from hindwise.errors import IndexUnavailable
from hindwise.index.base import Filters, InProcessIndex, LeanIndex
from hindwise.index.projection import index_space
from hindwise.index.weaviate_client import Address, Client, make_client
from hindwise.index.weaviate_names import collection_name, tenant_name
from hindwise.index.weaviate_schema import vector_name
from hindwise.model.brief import RecallQuery
from hindwise.recall.recall import Recaller
from hindwise.settings import Settings
from hindwise.text.tokens import query_tokens

STEP, WHOLE = "index step", "whole recall"
PER_BLOCK = 10
_WARM = 30
_WAYS = 4
"""At most: two bare calls, the step and the whole."""
_MEMORIES = Filter.by_property("is_memory").equal(True)
_SCORE, _DISTANCE = MetadataQuery(score=True), MetadataQuery(distance=True)
_SPACES_ASKED = 100


@dataclass(frozen=True, slots=True)
class Shape:
    """How many memories lie where."""

    spaces: int
    each: int

    @property
    def words(self) -> str:
        """As in `1,000 spaces x 100`."""
        return f"{self.spaces:,} spaces x {self.each:,}" if self.spaces > 1 else f"{self.each:,} in one space"


@dataclass(frozen=True, slots=True)
class Question:
    """One question to one space."""

    agent: str
    text: str
    vector: Vector


Ask = Callable[[Question], Awaitable[Any]]


@dataclass(slots=True)
class Way:
    """One way of asking: seconds by block, and milliseconds of CPU over all, of ours and of the servers."""

    ask: Ask
    blocks: list[list[float]] = field(default_factory=list)
    client_ms: float = 0.0
    server_ms: float = 0.0

    @property
    def median_s(self) -> float:
        """Over all blocks."""
        return median(value for block in self.blocks for value in block)

    @property
    def count(self) -> int:
        """How many questions."""
        return sum(map(len, self.blocks))


@dataclass(frozen=True, slots=True)
class Measured:
    """The ways by name; `stages`: medians of a recall's stages in ms; `filled_s`: how long it took to write all memories."""

    setup: str
    shape: Shape
    ways: dict[str, Way]
    floors: tuple[str, ...]
    stages: dict[str, float]
    filled_s: float
    first: bool
    """Each space was asked for the first time."""

    @property
    def floor(self) -> str:
        """The slower of the bare ones."""
        return max(self.floors, key=lambda name: self.ways[name].median_s)

    def against_floor(self, name: str) -> list[Block]:
        """Blocks of one way beside the floor's."""
        return [Block(*pair) for pair in zip(self.ways[name].blocks, self.ways[self.floor].blocks, strict=True)]


async def measure(setup: Setup, shape: Shape, blocks: int) -> list[Measured]:
    """Fill a set-up that holds nothing, and ask. Of many spaces there are two results: each space's first question, and later ones."""
    corpus = texts(shape.spaces * shape.each)
    by_agent = {f"bench-{at}": corpus[at * shape.each : (at + 1) * shape.each] for at in range(shape.spaces)}
    plan = _plan(by_agent, blocks)
    async with AsyncExitStack() as stack:
        engine = await stack.enter_async_context(opened(setup, plan.vectors()))
        began = perf_counter()
        await fill(engine, by_agent)
        filled_s = perf_counter() - began
        recaller = Recaller(engine)
        stack.push_async_callback(recaller.close)
        await recaller.start()
        run = _Run(setup, engine, recaller, await _bare_ways(stack, setup, engine, by_agent), filled_s, shape)
        stack.enter_context(settled())
        results = [await run.ask(plan.first, first=True)] if plan.first else []
        await run.warm(plan.warm)
        return [*results, await run.ask([[block] * _WAYS for block in plan.blocks])]


@dataclass(frozen=True, slots=True)
class _Plan:
    """Questions: to warm up, by block, and, by block and way, to spaces that nobody else asks."""

    warm: list[Question]
    blocks: list[list[Question]]
    first: list[list[list[Question]]]

    def vectors(self) -> dict[str, Vector]:
        every = [*self.warm, *chain(*self.blocks), *chain(*chain(*self.first))]
        return {one.text: one.vector for one in every}


def _plan(by_agent: dict[str, list[str]], blocks: int) -> _Plan:
    agents = list(by_agent)
    warm, fresh = agents[:_SPACES_ASKED], agents[_SPACES_ASKED:]
    rng = random.Random(5)

    def about(chosen: Sequence[str]) -> list[Question]:
        found = []
        for agent in chosen:
            [text] = questions(by_agent[agent], 1, rng)
            found.append(Question(agent, text, vector_of(text)))
        return found

    cold = min(blocks, len(fresh) // (PER_BLOCK * _WAYS))
    first = iter(fresh)
    return _Plan(
        about([warm[at % len(warm)] for at in range(max(_WARM, len(warm)))]),
        [about([rng.choice(warm) for _ in range(PER_BLOCK)]) for _ in range(blocks)],
        [[about(list(islice(first, PER_BLOCK))) for _ in range(_WAYS)] for _ in range(cold)],
    )


class _Run:
    """Asks in turn. `bare`: the ways that are not ours."""

    def __init__(self, setup: Setup, engine: Engine, recaller: Recaller, bare: dict[str, Ask], filled_s: float, shape: Shape) -> None:
        self._setup, self._filled_s, self._shape = setup, filled_s, shape
        self._bare = bare
        self._stages: dict[str, list[float]] = {}
        index = engine.index

        async def step(one: Question) -> None:
            space, words = index_space(TENANT, f"agent:{one.agent}"), query_tokens(one.text)
            if setup.servers is None and isinstance(index, InProcessIndex):
                try:
                    index.candidates_here(space, words, one.vector, Filters(), k=K)
                except IndexUnavailable:  # not in memory yet: as a recall does, ask the way that may take longer
                    await index.candidates(space, words, one.vector, Filters(), k=K)
            elif isinstance(index, LeanIndex):
                await index.candidates_lean(space, words, one.vector, Filters(), k=K)

        async def whole(one: Question) -> None:
            answer = await recaller.recall(TENANT, RecallQuery(agent_id=one.agent, query=one.text))
            if answer.degraded or not answer.items:
                raise RuntimeError("a recall of the bench found nothing: what was measured would be no recall")
            for stage, ms in answer.timings.items():
                self._stages.setdefault(stage, []).append(ms)

        self._ours: dict[str, Ask] = {STEP: step, WHOLE: whole}

    async def warm(self, asked: Sequence[Question]) -> None:
        """Let every way meet every space."""
        for ask in (*self._bare.values(), *self._ours.values()):
            for one in asked:
                await ask(one)
        self._stages.clear()

    async def ask(self, blocks: Sequence[Sequence[Sequence[Question]]], *, first: bool = False) -> Measured:
        """Ask block by block; who begins changes."""
        ways = {name: Way(ask) for name, ask in (self._bare | self._ours).items()}
        order = list(ways.values())
        for number, block in enumerate(blocks):
            turn = number % len(order)
            for way, questions_of in zip(order[turn:] + order[:turn], block, strict=False):
                await self._ask_one(way, questions_of)
        stages = {name: median(values) for name, values in self._stages.items()}
        self._stages.clear()
        return Measured(self._setup.name, self._shape, ways, tuple(self._bare), stages, self._filled_s, first)

    async def _ask_one(self, way: Way, asked: Sequence[Question]) -> None:
        servers, client = cpu.read(self._setup.pids), process_time()
        taken = []
        for one in asked:
            began = perf_counter()
            await way.ask(one)
            taken.append(perf_counter() - began)
        way.blocks.append(taken)
        way.client_ms += (process_time() - client) * 1000
        after = cpu.read(self._setup.pids)
        way.server_ms += sum(after.spent[name] - servers.spent[name] for name in after.spent)


async def _bare_ways(stack: AsyncExitStack, setup: Setup, engine: Engine, by_agent: dict[str, list[str]]) -> dict[str, Ask]:
    if setup.servers is None:
        floors: dict[str, Floor] = {}

        async def scan(one: Question) -> None:
            floors[one.agent].ask(one.vector, query_tokens(one.text))

        floors |= {agent: Floor(corpus) for agent, corpus in by_agent.items()}
        return {"numpy scan": scan}
    client = make_client(address_of(engine.settings), query_s=20, insert_s=20)
    await client.connect()
    stack.push_async_callback(client.close)
    return _server_calls(client, engine)


def _server_calls(client: Client, engine: Engine) -> dict[str, Ask]:
    collection = client.collections.use(collection_name(1, engine.secret))

    def here(one: Question) -> Any:
        return collection.with_tenant(tenant_name(engine.secret, index_space(TENANT, f"agent:{one.agent}")))

    async def by_words(one: Question) -> None:
        words = " ".join(query_tokens(one.text))
        await here(one).query.bm25(words, query_properties=["lex"], limit=K, return_metadata=_SCORE, return_properties=[])

    async def by_meaning(one: Question) -> None:
        vector, name = one.vector.tolist(), vector_name(DIM)
        await here(one).query.near_vector(
            vector, target_vector=name, limit=K, filters=_MEMORIES, return_metadata=_DISTANCE, return_properties=[]
        )

    return {"bare bm25": by_words, "bare near_vector": by_meaning}


def address_of(settings: Settings) -> Address:
    """Where Weaviate is."""
    return Address(settings.weaviate_url, settings.weaviate_grpc_url, settings.weaviate_api_key.get_secret_value())
