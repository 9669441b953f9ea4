"""How a step becomes an activity: bound to the engine, named by contract, heartbeating, its errors translated."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities.errors import failure_of
from hindwise.engine import Engine
from workflows.contracts import ACTIVITIES

Step = Callable[[Engine, Any], Awaitable[Any]]
Activity = Callable[[Any], Awaitable[Any]]


def as_activity(name: str, work: Step, engine: Engine) -> Activity:
    """Return `work` as the activity `name` of the contracts."""
    given, result = ACTIVITIES[name]

    async def run(message: Any) -> Any:
        async with _heartbeats():
            try:
                return await work(engine, message)
            except ApplicationError:
                raise
            except Exception as error:
                # Without its cause: the message of an unknown exception may quote a turn.
                raise failure_of(error, name) from None

    run.__name__ = run.__qualname__ = name
    run.__doc__ = work.__doc__
    run.__annotations__ = {"message": given, "return": result}
    return activity.defn(name=name)(run)


@asynccontextmanager
async def _heartbeats() -> AsyncIterator[None]:
    """Heartbeat from entry to exit where the workflow wants it, so that a dead worker is noticed.

    The first one comes after a quarter of the time allowed: a short step needs none.
    """
    timeout = activity.info().heartbeat_timeout
    if not timeout:
        yield
        return
    beating = asyncio.create_task(_beat(timeout.total_seconds() / 4))
    try:
        yield
    finally:
        beating.cancel()


async def _beat(every_s: float) -> None:
    # Pause first: nearly every step ends before, and then costs no call.
    while True:
        await asyncio.sleep(every_s)
        activity.heartbeat()
