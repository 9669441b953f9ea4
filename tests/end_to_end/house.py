"""The whole product in one process, on a real Temporal server, with a clock that a test sets: days pass in no time, on both sides."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment

from api.app import create_app
from api.services import Services
from api.temporal import TemporalStarter
from hindwise.engine import Engine
from hindwise.ledger import reflections, sessions
from hindwise.model.reflection import FINAL, Reflection
from hindwise.settings import Settings
from hindwise.testing import FixedClock
from tests.workflows.rig import rig
from workflows.ids import session_workflow


class _OnClient(TemporalStarter):
    """The real starter on the test's client, whose workflows can be sent forward in time."""

    def __init__(self, settings: Settings, client: Client) -> None:
        super().__init__(settings)
        self._given = client

    async def _reach(self) -> None:
        self._client = self._given


@dataclass(frozen=True, slots=True)
class House:
    """What a test holds."""

    http: httpx2.AsyncClient
    engine: Engine
    clock: FixedClock
    environment: WorkflowEnvironment
    services: Services

    async def post(self, path: str, body: dict[str, Any], expected: int) -> dict[str, Any]:
        """POST and return the answer. Fails on another status than `expected`."""
        answer = await self.http.post(path, json=body)
        assert answer.status_code == expected, answer.text
        told: dict[str, Any] = answer.json()
        return told

    async def get(self, path: str, **query: str) -> dict[str, Any]:
        """GET and return the answer."""
        answer = await self.http.get(path, params=query)
        assert answer.status_code == 200, answer.text
        told: dict[str, Any] = answer.json()
        return told

    async def final(self, reflection_id: str, seconds: float = 60.0) -> Reflection:
        """Wait until a reflection is final in the ledger."""
        async with asyncio.timeout(seconds):
            while True:
                row = await self.engine.ledger.read(lambda conn: reflections.row_of(conn, reflection_id))
                if row.status in FINAL:
                    return reflections.from_row(row)
                await asyncio.sleep(0.05)

    async def skip(self, step: timedelta, session_id: str = "") -> None:
        """Let time pass: for the clock, and for the workflow of a session where one is named."""
        if session_id:
            handle = self.environment.client.get_workflow_handle(
                session_workflow(sessions.session_handle(self.engine.secret, "default", session_id))
            )
            await self.environment.fast_forward(handle, step)
        self.clock.advance(step)


@asynccontextmanager
async def open_house(data: Path, environment: WorkflowEnvironment, **settings: Any) -> AsyncIterator[House]:
    """Engine, workers and API of a small installation. `settings`: by field name."""
    clock = FixedClock()
    async with rig(data, environment.client, clock=clock, **settings) as opened, opened.workers():
        engine = opened.engine
        starter = _OnClient(engine.settings, environment.client)
        starter.open()
        app = create_app(engine.settings, engine=engine, starter=starter, sweep=False)
        async with app.router.lifespan_context(app):
            async with asyncio.timeout(5):
                while not starter.available():
                    await asyncio.sleep(0.01)
            headers = {"Authorization": f"Bearer {(data / 'api_key').read_text().strip()}"}
            transport = httpx2.ASGITransport(app=app)
            async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", headers=headers) as http:
                yield House(http, engine, clock, environment, app.state.services)
        await starter.close()
