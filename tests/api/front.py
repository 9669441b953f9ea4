"""The application in process, with a real ledger and index, a real HTTP client, and Temporal's place taken by one that writes down."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from fastapi import FastAPI

from api.app import create_app
from api.errors import WorkflowsUnavailable
from api.services import Services
from hindwise.clock import Clock
from hindwise.engine import Engine, open_engine
from hindwise.settings import Settings
from hindwise.testing import FixedClock, HashedEmbedder
from tests.fresh_ledger import with_tables
from workflows.contracts import ReflectionInput, SessionInput, TaskCompleted, TurnsRecorded
from workflows.erase_messages import EraseInput


@dataclass
class WritingStarter:
    """Takes everything and writes it down; `down`: refuses everything instead, like a Temporal that does not answer."""

    down: bool = False
    turns: list[tuple[SessionInput, TurnsRecorded]] = field(default_factory=list)
    completions: list[tuple[SessionInput, TaskCompleted]] = field(default_factory=list)
    started: list[ReflectionInput] = field(default_factory=list)
    signals: list[tuple[str, str]] = field(default_factory=list)
    erasures: list[EraseInput] = field(default_factory=list)

    def _refuse(self) -> None:
        if self.down:
            raise WorkflowsUnavailable("Temporal is not reachable at present", retry_after_s=5)

    async def send_turns(self, session: SessionInput, turns: TurnsRecorded) -> None:
        self._refuse()
        self.turns.append((session, turns))

    async def send_completion(self, session: SessionInput, task: TaskCompleted) -> None:
        self._refuse()
        self.completions.append((session, task))

    async def start_reflection(self, reflection: ReflectionInput) -> None:
        self._refuse()
        self.started.append(reflection)

    async def signal_reflection(self, reflection_id: str, signal: str) -> None:
        self._refuse()
        self.signals.append((reflection_id, signal))

    async def start_erasure(self, erasure: EraseInput) -> None:
        self._refuse()
        self.erasures.append(erasure)

    def available(self) -> bool:
        return not self.down

    async def check(self) -> bool:
        return not self.down

    async def close(self) -> None:
        return None


@dataclass
class Front:
    """What a test holds: a client with the first key, and what stands behind the door."""

    app: FastAPI
    http: httpx2.AsyncClient
    engine: Engine
    starter: WritingStarter
    key: str

    @property
    def services(self) -> Services:
        found: Services = self.app.state.services
        return found

    async def settled(self) -> None:
        """Wait for background work and the recall log."""
        await self.services.dispatch.idle()
        await self.services.recaller.flush()

    async def post(self, path: str, json: Any = None, **headers: str) -> httpx2.Response:
        return await self.http.post(path, json=json, headers=headers)


@asynccontextmanager
async def open_front(
    data: Path, *, starter: WritingStarter | None = None, clock: Clock | None = None, **settings: Any
) -> AsyncIterator[Front]:
    """Open an application on `data`. `settings`: by field name."""
    chosen = Settings(_env_file=None, data=data, embed="none", **settings)  # type: ignore[call-arg]
    starter = starter or WritingStarter()
    if "database_url" not in settings:
        with_tables(data)
    async with open_engine(chosen, clock or FixedClock(), HashedEmbedder()) as engine:
        app = create_app(chosen, engine=engine, starter=starter, sweep=False)
        async with app.router.lifespan_context(app):
            key = (data / "api_key").read_text().strip()
            transport = httpx2.ASGITransport(app=app, raise_app_exceptions=True)
            headers = {"Authorization": f"Bearer {key}"}
            async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", headers=headers) as http:
                yield Front(app, http, engine, starter, key)


TURN = {"turn_id": "t1", "role": "user", "content": "Please refund order 4410"}


def turns_body(*turns: dict[str, Any], **owner: str) -> dict[str, Any]:
    """A body of `…/turns`; user ann unless said otherwise."""
    return {**(owner or {"user_id": "ann"}), "turns": list(turns) or [TURN]}
