"""The real engine on SQLite with the real activities: what the doors do, done by the tests themselves."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, select
from temporalio.client import Client

from hindwise.cli.worker_process import make_workers
from hindwise.clock import Clock
from hindwise.engine import Engine, open_engine
from hindwise.ledger import intake, reflections, sessions
from hindwise.ledger.intake import Accepted
from hindwise.ledger.schema import credits as credit_rows
from hindwise.ledger.schema import drafts, evidence, memories, memory_events, outbox
from hindwise.ledger.sessions import Recorded
from hindwise.model.episode import Episode, Outcome
from hindwise.model.ids import keyed_hash
from hindwise.model.reflection import FINAL, Reflection
from hindwise.model.turn import Turn
from hindwise.reflect.base import Reflector
from hindwise.reflect.rules import RuleReflector
from hindwise.settings import Settings
from tests.build import TENANT
from tests.fresh_ledger import with_tables
from tests.workflows.stage import until
from workflows import start
from workflows.contracts import ReflectionInput, SessionInput, TaskCompleted, TurnsRecorded


def settings_for(data: Path, client: Client, prefix: str = "", **values: Any) -> Settings:
    """Settings of a small installation: no vectors, rules only, on the test's server."""
    return Settings(
        _env_file=None,
        **{
            "data": data,
            "embed": "none",
            "reflector": "rules",
            "temporal_address": client.service_client.config.target_host,
            "temporal_namespace": client.namespace,
            "task_queue_prefix": prefix or f"e{uuid4().hex[:12]}",
            **values,
        },
    )


@dataclass(frozen=True, slots=True)
class Rig:
    """An engine and a client; speaks as the API does."""

    engine: Engine
    client: Client

    @property
    def prefix(self) -> str:
        """Of the task queues."""
        return self.engine.settings.task_queue_prefix

    @asynccontextmanager
    async def workers(self, reflectors: Mapping[str, Reflector] | None = None) -> AsyncIterator[None]:
        """The workers of the product, in this process."""
        async with AsyncExitStack() as stack:
            for worker in make_workers(self.client, self.engine, reflectors or {"rules": RuleReflector()}):
                await stack.enter_async_context(worker)
            yield

    def hash(self, *parts: str) -> str:
        """As the API hashes what callers chose."""
        return keyed_hash(self.engine.secret, *parts)

    def session_input(self, session_id: str) -> SessionInput:
        """What a session's workflow is started with."""
        handle = sessions.session_handle(self.engine.secret, TENANT, session_id)
        return SessionInput(
            handle=handle,
            tenant_hash=self.hash("tenant", TENANT),
            space_hash=self.hash("space", session_id),
            idle_minutes=self.engine.settings.session_idle_minutes,
            queue_prefix=self.prefix,
        )

    async def say(self, session_id: str, user_id: str, agent_id: str, turns: Sequence[Turn]) -> Recorded:
        """Record turns and tell the session's workflow."""
        now = self.engine.clock.now()

        def record(conn: Connection) -> Recorded:
            session = sessions.lock_or_open(conn, self.engine.secret, TENANT, session_id, user_id, agent_id, now)
            return sessions.record_turns(conn, session, turns, now)

        done = await self.engine.ledger.write(record)
        told = TurnsRecorded(
            update_id=self.hash("turns", session_id, str(done.last_seq)),
            first_seq=done.first_seq,
            last_seq=done.last_seq,
            count=done.recorded,
        )
        await start.send_turns(self.client, self.session_input(session_id), told, rpc_timeout_s=20)
        return done

    async def complete(self, session_id: str, outcome: Outcome, *, goal: str = "", close: bool = False) -> Accepted:
        """End the session's task and tell its workflow."""
        now = self.engine.clock.now()

        def end(conn: Connection) -> Accepted:
            session = sessions.lock(conn, TENANT, session_id)
            reflector = self.engine.reflector_id()
            return intake.complete_task(conn, session, reflector, goal=goal, outcome=outcome, recall_ids=(), close=close, now=now)

        done = await self.engine.ledger.write(end)
        task = TaskCompleted(
            update_id=self.hash("complete", done.reflection_id), reflection_id=done.reflection_id, last_seq=done.last_seq, close=close
        )
        await start.send_completion(self.client, self.session_input(session_id), task, rpc_timeout_s=20)
        return done

    async def run(self, episode: Episode, recall_ids: Sequence[str] = ()) -> Accepted:
        """Accept a whole run and start its reflection."""
        now, reflector = self.engine.clock.now(), self.engine.reflector_id()
        done = await self.engine.ledger.write(
            lambda conn: intake.accept_run(conn, episode, reflector, recall_ids=recall_ids, now=now, keep_first=True)
        )
        await self.start(done.reflection_id)
        return done

    async def correct(self, episode_id: str, outcome: Outcome) -> Accepted:
        """A later verdict."""
        now, reflector = self.engine.clock.now(), self.engine.reflector_id()
        done = await self.engine.ledger.write(lambda conn: intake.later_outcome(conn, TENANT, episode_id, outcome, reflector, now))
        await self.start(done.reflection_id)
        return done

    async def start(self, reflection_id: str) -> None:
        """Start a queued reflection."""
        message = ReflectionInput(
            reflection_id=reflection_id, tenant_hash=self.hash("t"), space_hash=self.hash("s"), queue_prefix=self.prefix
        )
        await start.start_reflection(self.client, message, rpc_timeout_s=20)

    async def status(self, reflection_id: str) -> Reflection:
        """As the ledger knows it."""
        return await self.engine.ledger.read(lambda conn: reflections.from_row(reflections.row_of(conn, reflection_id)))

    async def final(self, reflection_id: str, seconds: float = 60.0) -> Reflection:
        """Wait until a reflection is final in the ledger."""

        async def is_final() -> bool:
            return (await self.status(reflection_id)).status in FINAL

        await until(is_final, seconds)
        return await self.status(reflection_id)


@asynccontextmanager
async def rig(data: Path, client: Client, *, clock: Clock | None = None, prefix: str = "", **values: Any) -> AsyncIterator[Rig]:
    """Open the engine of a small installation."""
    if "database_url" not in values:
        with_tables(data)
    async with open_engine(settings_for(data, client, prefix, **values), clock=clock) as engine:
        yield Rig(engine, client)


def snapshot(conn: Connection) -> dict[str, list[tuple[Any, ...]]]:
    """What a reflection leaves in the ledger, without times: equal snapshots mean nothing lost, nothing twice."""
    asked = {
        "reflections": select(
            *[reflections.reflections.c[name] for name in ("id", "status", "written_by", "fallback_from", "error", "decisions", "usage")]
        ),
        "drafts": select(drafts.c.reflection_id, drafts.c.attempt, drafts.c.reflector),
        "memories": select(
            *[memories.c[name] for name in ("id", "kind", "status", "head", "conclusion", "evidence_count", "version", "hits")]
        ),
        "evidence": select(evidence.c.memory_id, evidence.c.ordinal, evidence.c.episode_id, evidence.c.quote),
        "events": select(memory_events.c.memory_id, memory_events.c.action, memory_events.c.actor),
        "credits": select(credit_rows.c.memory_id, credit_rows.c.source_id, credit_rows.c.kind),
        "outbox": select(outbox.c.memory_id),
    }
    return {name: sorted((tuple(map(str, row)) for row in conn.execute(query)), key=str) for name, query in asked.items()}
