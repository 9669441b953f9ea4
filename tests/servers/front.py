"""A small front before several APIs, in the place of compose's proxy: connections go round robin, and past an API that does not listen."""

import asyncio
import contextlib
import itertools
import threading
from collections.abc import Sequence

_DIAL_S = 2.0
_LEAVE_ALONE_S = 1.0
"""An API that did not listen is not tried for so long, unless no other is left."""
_CHUNK = 64 * 1024


class Front:
    """Passes bytes between a loopback port and the APIs' ports, on a thread of its own. A broken connection is broken on both sides."""

    def __init__(self, port: int, apis: Sequence[int]) -> None:
        self.port, self.apis = port, list(apis)
        self._turn = itertools.count()
        self._gone_until: dict[int, float] = {}
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._listening = threading.Event()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=[self._serve()], name="front", daemon=True)

    @property
    def url(self) -> str:
        """Where callers come in."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> "Front":
        """Listen."""
        self._thread.start()
        if not self._listening.wait(10):
            raise RuntimeError(f"the front does not listen on {self.port}")
        return self

    def close(self) -> None:
        """End all connections."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)
        self._loop.close()

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._pass, "127.0.0.1", self.port, limit=_CHUNK)
        self._listening.set()
        await self._stop.wait()
        server.close()
        ours = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in ours:
            task.cancel()
        await asyncio.gather(*ours, return_exceptions=True)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Cancelled at the end: a task of asyncio's servers must not say so.
        with contextlib.closing(writer), contextlib.suppress(OSError, asyncio.CancelledError):
            behind = await self._dial()
            if behind is None:
                return
            far_reader, far_writer = behind
            with contextlib.closing(far_writer):
                sides = [asyncio.ensure_future(_copy(reader, far_writer)), asyncio.ensure_future(_copy(far_reader, writer))]
                try:
                    await asyncio.wait(sides, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for side in sides:
                        side.cancel()

    async def _dial(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        now = self._loop.time()
        first = next(self._turn)
        order = [self.apis[(first + number) % len(self.apis)] for number in range(len(self.apis))]
        for port in sorted(order, key=lambda port: self._gone_until.get(port, 0) > now):
            with contextlib.suppress(OSError, TimeoutError):
                async with asyncio.timeout(_DIAL_S):
                    return await asyncio.open_connection("127.0.0.1", port, limit=_CHUNK)
            self._gone_until[port] = self._loop.time() + _LEAVE_ALONE_S
        return None


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while chunk := await source.read(_CHUNK):
            target.write(chunk)
            await target.drain()
