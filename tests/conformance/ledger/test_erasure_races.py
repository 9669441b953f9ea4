"""An erasure racing whatever may be at work for the same user, 200 rounds each: nothing of the erased is found afterwards.

Rounds run a few at a time, each with a user of its own, with starts drawn so that every step of the one meets every step of the other.
"""

import asyncio
import os
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, func, select

from hindwise.clock import SystemClock
from hindwise.engine import Engine, aging_rules, spec_of
from hindwise.errors import HindwiseError, IndexUnavailable
from hindwise.index.base import Index
from hindwise.index.embedded import open_embedded
from hindwise.index.live import LiveIndex, Opener
from hindwise.index.projection import Projection, index_space
from hindwise.index.rebuild import Rebuild
from hindwise.ledger import generations, intake, outbox, sessions
from hindwise.ledger.engine import Ledger
from hindwise.ledger.generations import Generation
from hindwise.ledger.schema import (
    credits,
    drafts,
    embeddings,
    episodes,
    evidence,
    memories,
    memory_events,
    metadata,
    recalls,
    reflections,
    spaces,
    turns,
)
from hindwise.ledger.schema import (
    outbox as outbox_rows,
)
from hindwise.ledger.schema import sessions as session_rows
from hindwise.model.space import user_space
from hindwise.privacy import erase_user
from hindwise.recall.remember import remember
from hindwise.settings import Settings
from hindwise.testing import HashedEmbedder
from tests.build import TENANT, make_call, make_episode, make_outcome, make_turn
from tests.engine.recall.helpers import fact
from tests.looking import ids_everywhere
from tests.privacy.living import STEPS_OF_A_REFLECTION, reflect_now, tables_with

ROUNDS, TALKS, AT_ONCE = 200, 40, 20
ROUNDS_ON_A_SERVER = int(os.environ.get("HINDWISE_TEST_RACES_ON_WEAVIATE", "40"))
DIM, SECRET = 16, b"secret" * 6
Scene = Callable[[Engine, str, random.Random], Awaitable[None]]


@pytest.fixture
async def engine(ledger: Ledger, tmp_path: Path) -> AsyncIterator[Engine]:
    """An engine on this database, and as many generations of an index of files as are wanted."""

    async def opener(generation: Generation) -> Index:
        return await asyncio.to_thread(open_embedded, tmp_path / f"index-{generation.no}.db", dim=DIM, cache_mb=8)

    async with engine_on(ledger, Settings(_env_file=None, data=tmp_path), opener) as opened:
        yield opened


@asynccontextmanager
async def engine_on(ledger: Ledger, settings: Settings, opener: Opener) -> AsyncIterator[Engine]:
    """An engine with vectors, the real clock, and an index that `opener` opens."""
    embedder, clock = HashedEmbedder(DIM), SystemClock()
    await embedder.start()
    await ledger.write(lambda conn: generations.ensure_live(conn, settings.index, spec_of(embedder), clock.now()))
    index = LiveIndex(opener, lambda: ledger.read(generations.kept), spec_of(embedder))
    await index.refresh()
    projection = Projection(ledger, index, embedder, clock, "this")
    yield Engine(settings, ledger, index, embedder, clock, SECRET, projection, aging_rules(settings), "this")
    await index.close()


def rounds(engine: Engine) -> int:
    """How often each race is run: each takes longer on a server, and starts one."""
    return ROUNDS if engine.settings.index == "embedded" else ROUNDS_ON_A_SERVER


def other_process(engine: Engine) -> Projection:
    """Brings spaces up to date under a lease of its own."""
    return Projection(engine.ledger, engine.index, engine.embedder, engine.clock, "another")


def words(user: str) -> str:
    """What only this user says."""
    return f"{user}-canary 暗语{user}"


def run_of(user: str, agent: str = "", *, run: str = "") -> Any:
    """A task that teaches a preference and a lesson."""
    said = words(user)
    lines = (
        make_turn(f"Please change my booking {said}. I always prefer {said} seats.", seq=1),
        make_turn("", role="assistant", seq=2, tool_calls=(make_call("update_reservation", seat="12A"),)),
        make_turn("Error: payment method required", role="tool", seq=3, name="update_reservation", tool_call_id="call-update_reservation"),
        make_turn(f"That is wrong, it is still {said}.", seq=4),
    )
    verdict = make_outcome("failure", "env", note="payment method required")
    return make_episode(run or f"{user}-run", turns=lines, user_id=user, agent_id=agent, goal="change a booking", outcome=verdict)


async def accept(engine: Engine, episode: Any) -> str:
    """Accept a whole run; return its reflection's id."""
    now = engine.clock.now()
    done = await engine.ledger.write(
        lambda conn: intake.accept_run(conn, episode, engine.reflector_id(), recall_ids=(), now=now, keep_first=True)
    )
    return done.reflection_id


async def erased(engine: Engine, user: str, chance: random.Random, within_ms: float) -> None:
    """Erase a user step by step, beginning at some moment, with pauses between the steps; tried again as a workflow does."""
    await asyncio.sleep(chance.random() * within_ms / 1000)
    asked = await erase_user.request(engine, TENANT, user, "test")
    for step in (erase_user.begin, erase_user.wipe, erase_user.check):
        while True:
            try:
                await step(engine, asked.id)  # type: ignore[operator]
                break
            except HindwiseError as error:
                assert error.retryable, error
                await asyncio.sleep(0.02)
        await asyncio.sleep(chance.random() * 0.003)


async def race(engine: Engine, name: str, scene: Scene) -> None:
    """Play all rounds of a scene, a few at a time, and look after each few that no index holds anything of theirs."""
    for first in range(0, rounds(engine), AT_ONCE):
        users = [f"{name}{number}" for number in range(first, first + AT_ONCE)]
        await asyncio.gather(*(scene(engine, user, random.Random(user)) for user in users))
        await dispatched(engine)
        left = {user: found for user in users if (found := await ids_everywhere(engine, index_space(TENANT, user_space(user))))}
        assert left == {}


async def dispatched(engine: Engine) -> None:
    """Bring every space up to date that has a mark."""
    while await engine.projection.one_space() is not None:
        pass


def kept_rows(conn: Connection) -> dict[str, int]:
    """Rows of tables that belong to users or spaces."""
    aside = {"tenants", "api_keys", "generations", "erasures", "leases"}
    counted = {table.name: conn.execute(select(func.count()).select_from(table)).scalar_one() for table in metadata.sorted_tables}
    return {name: number for name, number in counted.items() if number and name not in aside}


def orphans(conn: Connection) -> dict[str, int]:
    """Rows whose owner is gone: what an erasure and a writer would leave behind that did not wait for each other."""
    keys = select(session_rows.c.session_id).union(select(episodes.c.session_key))
    asked = {
        "turns": select(func.count()).where(turns.c.session_key.not_in(keys)),
        "memories": select(func.count()).where(memories.c.space_no.not_in(select(spaces.c.no))),
        "embeddings": select(func.count()).where(embeddings.c.space_no.not_in(select(spaces.c.no))),
        "outbox": select(func.count()).where(outbox_rows.c.space_no.not_in(select(spaces.c.no))),
        "events": select(func.count()).where(memory_events.c.memory_id.not_in(select(memories.c.id))),
        "evidence": select(func.count()).where(evidence.c.memory_id.not_in(select(memories.c.id))),
        "quotes": select(func.count()).where(evidence.c.episode_id.not_in(select(episodes.c.id))),
        "credits": select(func.count()).where(
            credits.c.source_id.not_in(select(episodes.c.id).union(select(recalls.c.id)))
            | credits.c.memory_id.not_in(select(memories.c.id))
        ),
        "drafts": select(func.count()).where(drafts.c.reflection_id.not_in(select(reflections.c.id))),
    }
    return {name: number for name, query in asked.items() if (number := conn.execute(query).scalar_one())}


async def test_an_erasure_racing_a_reflection(engine: Engine) -> None:
    """Whichever step the reflection is at: private memories in every round, lessons shared with an agent in every other one."""
    ends: list[str] = []

    async def scene(engine: Engine, user: str, chance: random.Random) -> None:
        reflection_id = await accept(engine, run_of(user, chance.choice(["", "clerk"])))
        reached, start = asyncio.Event(), chance.randrange(len(STEPS_OF_A_REFLECTION) + 1)

        def passed(step: int) -> None:
            if step >= start or step > len(STEPS_OF_A_REFLECTION) - 1:
                reached.set()

        async def erasing() -> None:
            await reached.wait()
            await erased(engine, user, chance, 1)

        ended, _ = await asyncio.gather(reflect_now(engine, reflection_id, passed), erasing())
        ends.append(ended)

    await race(engine, "reflecting", scene)
    assert await engine.ledger.read(lambda conn: tables_with(conn, "reflecting")) == set()
    assert set(await engine.ledger.read(kept_rows)) <= {"memories", "memory_events", "embeddings", "spaces"}
    assert await engine.ledger.read(orphans) == {}
    assert set(await engine.ledger.read(lambda conn: conn.execute(select(spaces.c.name)).scalars().all())) <= {"agent:clerk"}
    assert {"erased", "completed"} <= set(ends)  # both sides won now and then


async def test_an_erasure_racing_a_dispatch(engine: Engine) -> None:
    """Two processes write the index meanwhile, and compute vectors for it."""

    async def scene(engine: Engine, user: str, chance: random.Random) -> None:
        for number in range(3):
            draft = fact(f"Likes tea number {number} {words(user)}")
            await remember(engine, TENANT, draft, user_space(user), "test", engine.clock.now())

        async def dispatch(projection: Projection) -> None:
            for number in await engine.ledger.read(outbox.space_numbers):
                try:
                    await projection.one_space(number)
                except HindwiseError as error:
                    assert error.type in {"space-erased", "ledger-unavailable"}, error
                await asyncio.sleep(chance.random() * 0.002)

        await asyncio.gather(dispatch(engine.projection), dispatch(other_process(engine)), erased(engine, user, chance, 30))

    await race(engine, "dispatched", scene)
    assert await engine.ledger.read(kept_rows) == {}


async def test_an_erasure_racing_a_reindex(engine: Engine) -> None:
    """A new generation is filled from the ledger while its users are erased; it is abandoned and kept, so it must be empty of them too."""
    assert isinstance(engine.index, LiveIndex)
    rebuild = Rebuild(engine.ledger, engine.index, engine.embedder, spec_of(engine.embedder), engine.clock, engine.holder)

    async def fill(number: int) -> None:
        while True:
            try:
                filled = await rebuild.fill(number)
            except IndexUnavailable:
                continue
            if filled.end or filled.gone:
                return

    for first in range(0, rounds(engine), AT_ONCE):
        users = [f"rebuilt{number}" for number in range(first, first + AT_ONCE)]
        for user in users:
            await remember(engine, TENANT, fact(f"Likes tea {words(user)}"), user_space(user), "test", engine.clock.now())
        asked = await engine.ledger.write(lambda conn: generations.request(conn, engine.settings.index, engine.clock.now()))
        number = (await rebuild.begin(asked.no)).generation.no
        chances = [random.Random(user) for user in users]
        await asyncio.gather(fill(number), *(erased(engine, user, chance, 60) for user, chance in zip(users, chances, strict=True)))
        await dispatched(engine)
        left = {user: found for user in users if (found := await ids_everywhere(engine, index_space(TENANT, user_space(user))))}
        assert left == {}
        await engine.ledger.write(lambda conn, no=number: generations.abandon(conn, no, "the round is over"))  # type: ignore[misc]
        await engine.ledger.write(lambda conn, no=number: generations.set_dropped(conn, no))  # type: ignore[misc]
    assert await engine.ledger.read(kept_rows) == {}


async def test_turns_and_memories_that_arrive_during_an_erasure_are_erased_or_begin_anew(engine: Engine) -> None:
    """Never half: what is left of the user is whole, and of the time after."""

    async def scene(engine: Engine, user: str, chance: random.Random) -> None:
        stop = asyncio.Event()

        def record(conn: Connection, number: int) -> None:
            now = engine.clock.now()
            session = sessions.lock_or_open(conn, engine.secret, TENANT, f"{user}-session", user, "", now)
            sessions.record_turns(conn, session, [make_turn(f"{number} {words(user)}", turn_id=f"t{number}")], now)

        async def talk() -> None:
            number = 0
            while not stop.is_set():
                number += 1
                await engine.ledger.write(lambda conn, number=number: record(conn, number))  # type: ignore[misc]
                draft = fact(f"Said {number} {words(user)}")
                await remember(engine, TENANT, draft, user_space(user), "test", engine.clock.now())

        talking = asyncio.create_task(talk())
        await erased(engine, user, chance, 20)
        stop.set()
        await talking

    def whole(conn: Connection) -> Iterator[str]:
        counted = select(turns.c.session_key, func.count().label("kept"), func.max(turns.c.seq).label("last")).group_by(turns.c.session_key)
        found = {row.session_key: (row.kept, row.last) for row in conn.execute(counted)}
        for row in conn.execute(select(session_rows)):
            if found.get(row.session_id) != (row.last_seq, row.last_seq):
                yield row.session_id

    for first in range(0, TALKS, AT_ONCE):
        users = [f"talking{number}" for number in range(first, first + AT_ONCE)]
        await asyncio.gather(*(scene(engine, user, random.Random(user)) for user in users))
    assert await engine.ledger.read(orphans) == {}
    assert await engine.ledger.read(lambda conn: list(whole(conn))) == []
    await dispatched(engine)
    indexed, known = set(), await engine.ledger.read(lambda conn: set(conn.execute(select(memories.c.id)).scalars()))
    for number in range(TALKS):
        indexed |= await engine.index.ids(index_space(TENANT, user_space(f"talking{number}")))
    assert indexed == known
