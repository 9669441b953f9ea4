"""One worker process that serves the application until it is told to stop."""

import asyncio
import contextlib
import socket
from collections.abc import Iterator, Sequence

import uvicorn

from api.app import create_app
from api.wire import Wire
from hindwise.settings import Settings

_GRACE_S = 5
_KEEP_ALIVE_S = 30
_BACKLOG = 1024


class _Server(uvicorn.Server):
    """Leaves signals to whoever runs it, and tells when it listens."""

    def __init__(self, config: uvicorn.Config, ready: asyncio.Event | None) -> None:
        super().__init__(config)
        self._ready = ready

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Install nothing."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then tell."""
        await super().startup(sockets)
        if self._ready is not None and not self.should_exit:
            self._ready.set()


async def serve(
    settings: Settings,
    *,
    ready: asyncio.Event | None = None,
    stop: asyncio.Event | None = None,
    sockets: Sequence[socket.socket] | None = None,
) -> None:
    """Serve until `stop` is set (or for ever). `ready` is set once requests are answered. `sockets`: listening ones, else host and port.

    Raises what opening the engine raises, and OSError when the port is taken.
    """
    listening = list(sockets) if sockets else [_listen(settings.host, settings.port)]
    app = create_app(settings)
    config = uvicorn.Config(
        app,
        loop="none",
        http=Wire,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=_GRACE_S,
        backlog=_BACKLOG,
    )
    server = _Server(config, ready)
    watch = asyncio.get_running_loop().create_task(_until(stop, server)) if stop is not None else None
    try:
        await server.serve(sockets=listening)
    except SystemExit as error:  # how uvicorn says that the start failed
        raise getattr(app.state, "failure", None) or RuntimeError("the API did not start: the log says why") from error
    finally:
        if watch is not None:
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)
        for listener in listening:
            listener.close()


async def _until(stop: asyncio.Event, server: uvicorn.Server) -> None:
    await stop.wait()
    server.should_exit = True


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=_BACKLOG)
