"""The application put together: engine, recall, the way to Temporal and the sweeper, opened and closed as one."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from importlib.metadata import version
from typing import Any

import structlog
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from api import docs_page, errors
from api.auth import KeyedLocks, Keyring, RateLimit, check_auth_setting
from api.bootstrap import ensure_first_key
from api.dispatch import Dispatch
from api.metrics import Metrics
from api.routers import episodes, erasures, health, hooks, memories, recall, recalls, reflections, sessions, simple_memory, usage
from api.services import Services
from api.shell import Shell
from api.storing import Storing
from api.sweeper import Sweeper
from api.temporal import Starter, TemporalStarter
from hindwise.engine import Engine, open_engine
from hindwise.ledger.keys import KeyRow
from hindwise.recall.recall import Recaller
from hindwise.settings import Settings

_log = structlog.get_logger("hindwise.api")

Opener = Callable[[Settings], AbstractAsyncContextManager[Engine]]

_DESCRIPTION = """Hindsight for agents: turns and finished tasks go in, durable reflections look back over them, and before the next
task one call tells what is worth knowing.

Begin with `POST /v1/sessions/{session_id}/turns`, end the task with `…/complete`, ask with `POST /v1/recall`.
Every call names a user, an agent or both. Errors are RFC 9457 problems. `Idempotency-Key` works on every POST.
"""
_TAGS = [
    {"name": "sessions", "description": "Turns as they come, and the end of a task."},
    {"name": "episodes", "description": "Whole finished tasks, and later verdicts on them."},
    {"name": "hooks", "description": "Reports of finished runs from other systems: Dify."},
    {"name": "reflections", "description": "Each look back: where it stands and what it decided."},
    {"name": "recall", "description": "What an agent should know before a task, and whether it helped."},
    {"name": "memories", "description": "What is kept: write, read, list, erase."},
    {"name": "privacy", "description": "Erase a user, with a receipt."},
    {"name": "simple", "description": "One sentence in, found again by the next search."},
    {"name": "health", "description": "Is it there, is it ready, and its figures."},
]
_ROUTERS = (sessions, episodes, hooks, reflections, usage, recall, recalls, memories, erasures, simple_memory, health)


def create_app(
    settings: Settings,
    *,
    engine: Engine | None = None,
    opener: Opener = open_engine,
    starter: Starter | None = None,
    sweep: bool = True,
) -> FastAPI:
    """Return the application. Its lifespan opens what is not given: `engine` (left open at the end, where given) and `starter`.

    sweep: whether this process looks for accepted work that never reached Temporal. Raises InvalidInput for keys switched off on an
    address that others can reach. Startup raises what `open_engine` raises; Temporal may be down.
    """
    check_auth_setting(settings)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            try:
                opened = await stack.enter_async_context(nullcontext(engine) if engine is not None else opener(settings))
                await ensure_first_key(opened)
                services = await _open_services(stack, opened, starter)
            except Exception as error:
                app.state.failure = error  # the server logs it and goes on: whoever runs it wants it as an error
                raise
            app.state.services = services
            # The embedder is measured beside the start, so that the first recall need not do it.
            work = [services.recaller.start(), *([Sweeper(services.dispatch).run()] if sweep else [])]
            for task in [asyncio.get_running_loop().create_task(each) for each in work]:
                stack.push_async_callback(_end, task)
            yield

    app = FastAPI(
        title="Hindwise",
        version=version("hindwise"),
        description=_DESCRIPTION,
        openapi_tags=_TAGS,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        strict_content_type=False,
        redirect_slashes=False,
    )
    app.add_middleware(Shell)
    errors.install(app)
    for module in _ROUTERS:
        app.include_router(module.router)
    docs_page.install(app)
    app.openapi = lambda: _document(app)  # type: ignore[method-assign]
    return app


async def _open_services(stack: AsyncExitStack, engine: Engine, starter: Starter | None) -> Services:
    recaller = Recaller(engine)
    stack.push_async_callback(recaller.close)
    if starter is None:
        starter = TemporalStarter(engine.settings)
        starter.open()
        stack.push_async_callback(starter.close)
    dispatch = Dispatch(engine, starter)
    stack.push_async_callback(dispatch.close)

    def nobody() -> KeyRow:
        return KeyRow("no-auth", engine.settings.tenant, "keys are off", ("admin",), engine.clock.now(), None)

    return Services(
        engine=engine,
        recaller=recaller,
        dispatch=dispatch,
        keyring=Keyring(engine.ledger, engine.settings, nobody),
        rate=RateLimit(engine.settings.rate_limit_per_minute),
        locks=KeyedLocks(),
        metrics=Metrics(),
        storing=Storing(engine.settings.contacts()),
    )


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def _document(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document: keys, problems and Idempotency-Key are the same everywhere, so they are told once, here."""
    if app.openapi_schema:
        return app.openapi_schema
    document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes, tags=app.openapi_tags)
    components = document.setdefault("components", {})
    components["securitySchemes"] = {
        "bearer": {"type": "http", "scheme": "bearer"},
        "apiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    }
    schemas = components.setdefault("schemas", {})
    schemas.pop("HTTPValidationError", None)
    schemas.pop("ValidationError", None)
    schemas["Problem"] = {
        "title": "Problem",
        "description": "RFC 9457. `type` is stable; `detail` says what to change.",
        "type": "object",
        "required": ["type", "title", "status", "detail"],
        "properties": {name: {"type": "string"} for name in ("type", "title", "detail")} | {"status": {"type": "integer"}},
        "additionalProperties": True,
    }
    for path in document["paths"].values():
        for method, operation in path.items():
            _describe(method, operation)
    app.openapi_schema = document
    return document


def _describe(method: str, operation: dict[str, Any]) -> None:
    problem = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    responses = operation.setdefault("responses", {})
    if "422" in responses:
        responses["422"] = {"description": "A value is not usable", "content": problem}
    if "x-scope" not in operation:
        return
    named = operation.pop("x-raw-body", False)
    operation["description"] = f"{operation.get('description', '')}\n\nNeeds a key with the scope `{operation['x-scope']}`.".strip()
    responses["default"] = {"description": "A problem", "content": problem}
    if method == "post":
        operation.setdefault("parameters", []).append(
            {
                "name": "Idempotency-Key",
                "in": "header",
                "required": False,
                "description": "Names a run that brings no id of its own; never refused."
                if named
                else "Sent again with the same body, the first answer is given again; with another body, 422.",
                "schema": {"type": "string", "maxLength": 255},
            }
        )
