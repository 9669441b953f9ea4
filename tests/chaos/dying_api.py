"""An API that kills itself at one point, as kill -9 would: just before or just after it tells Temporal what the ledger accepted.

    python -m tests.chaos.dying_api --port N --at send_turns:before

Only the starter is wrapped; everything else is the product's own. Nothing of this is in the product.
"""

import argparse
import asyncio
import os
import signal
from collections.abc import Callable
from typing import Any

import uvicorn

from api.app import create_app
from api.temporal import TemporalStarter
from hindwise.settings import Settings

POINTS = [f"{call}:{moment}" for call in ("send_turns", "send_completion", "start_reflection") for moment in ("before", "after")]


def die_at(starter: TemporalStarter, point: str) -> None:
    """Wrap the call of `point` so that the process ends there."""
    name, _, moment = point.partition(":")
    call: Callable[..., Any] = getattr(starter, name)

    async def deadly(*arguments: Any) -> None:
        if moment == "after":
            await call(*arguments)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(starter, name, deadly)


async def _serve(port: int, point: str) -> None:
    settings = Settings(_env_file=None)  # type: ignore[call-arg]
    starter = TemporalStarter(settings)
    die_at(starter, point)
    starter.open()
    app = create_app(settings, starter=starter, sweep=False)
    await uvicorn.Server(uvicorn.Config(app, port=port, log_level="warning")).serve()


def main() -> None:
    """Serve until the point is reached."""
    parser = argparse.ArgumentParser()
    parser.add_argument("role", choices=["api"])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--at", choices=POINTS, required=True)
    chosen = parser.parse_args()
    asyncio.run(_serve(chosen.port, chosen.at))


if __name__ == "__main__":
    main()
