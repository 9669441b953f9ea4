"""What every route works with, held once per application."""

from dataclasses import dataclass
from typing import Annotated
from urllib.parse import quote

from fastapi import Depends, Request

from api.auth import KeyedLocks, Keyring, RateLimit
from api.dispatch import Dispatch
from api.metrics import Metrics
from api.storing import Storing
from hindwise.engine import Engine
from hindwise.ledger.keys import KeyRow
from hindwise.recall.recall import Recaller
from workflows.ids import reflection_workflow


@dataclass(frozen=True, slots=True)
class Services:
    """The engine and what the door adds to it."""

    engine: Engine
    recaller: Recaller
    dispatch: Dispatch
    keyring: Keyring
    rate: RateLimit
    locks: KeyedLocks
    metrics: Metrics
    storing: Storing

    def reflection_workflow(self, reflection_id: str) -> str:
        """Id of a reflection's workflow in Temporal."""
        return reflection_workflow(reflection_id, self.engine.settings.task_queue_prefix)

    def workflow_url(self, workflow_id: str) -> str:
        """Where Temporal's UI shows a workflow; empty where the UI's address is not known."""
        settings = self.engine.settings
        if not settings.temporal_ui_url:
            return ""
        return f"{settings.temporal_ui_url.rstrip('/')}/namespaces/{settings.temporal_namespace}/workflows/{quote(workflow_id, safe='')}"


def services_of(request: Request) -> Services:
    """The services of the application that a request came to."""
    found: Services = request.app.state.services
    return found


def caller_of(request: Request) -> KeyRow:
    """The key behind a request that passed the door."""
    found: KeyRow = request.state.caller
    return found


# Async, because FastAPI runs a plain function as a dependency on another thread: two hops for two attributes.
async def _services(request: Request) -> Services:
    return services_of(request)


async def _caller(request: Request) -> KeyRow:
    return caller_of(request)


Use = Annotated[Services, Depends(_services)]
Caller = Annotated[KeyRow, Depends(_caller)]
