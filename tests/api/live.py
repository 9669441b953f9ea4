"""The real server on a free port, in a thread of its own, with a Temporal that is not there."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from api.serve import serve
from hindwise.settings import Settings


@dataclass(frozen=True)
class Live:
    """Where it listens, and its first key."""

    url: str
    key: str


@contextmanager
def live_server(data: Path) -> Iterator[Live]:
    """Serve until the block ends."""
    with socket.create_server(("127.0.0.1", 0)) as unused:
        nobody = unused.getsockname()[1]
    listening = socket.create_server(("127.0.0.1", 0), backlog=128)
    settings = Settings(  # type: ignore[call-arg]
        _env_file=None, data=data, embed="none", temporal_address=f"127.0.0.1:{nobody}", rate_limit_per_minute=1_000_000
    )
    started = threading.Event()
    stops: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def main() -> None:
        ready, stop = asyncio.Event(), asyncio.Event()
        stops.append((asyncio.get_running_loop(), stop))
        serving = asyncio.create_task(serve(settings, ready=ready, stop=stop, sockets=[listening]))
        waiting = asyncio.create_task(ready.wait())
        await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
        started.set()
        waiting.cancel()
        await serving

    thread = threading.Thread(target=lambda: asyncio.run(main()), name="live-api")
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    thread.start()
    try:
        assert started.wait(60)
        yield Live(url, (data / "api_key").read_text().strip())
    finally:
        [(loop, stop)] = stops
        loop.call_soon_threadsafe(stop.set)
        thread.join(30)
        assert not thread.is_alive()
