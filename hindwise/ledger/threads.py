"""Threads that work for an event loop. To hand a call over and to take its answer back costs a third of what an executor takes for it,
and most questions to a ledger are shorter than that.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")


class _Call(NamedTuple):
    loop: asyncio.AbstractEventLoop
    answer: "asyncio.Future[Any]"
    work: Callable[..., Any]
    given: tuple[Any, ...]


class Threads:
    """At most `most` threads, each started when all others are at work. Calls are taken in the order in which they come."""

    def __init__(self, most: int, name: str) -> None:
        self._most, self._name = most, name
        self._calls: SimpleQueue[_Call | None] = SimpleQueue()
        self._threads: list[Thread] = []
        self._unanswered = 0
        self._closed = False

    def run(self, work: Callable[..., T], *given: Any) -> "asyncio.Future[T]":
        """Call `work(*given)` on a thread; on the event loop. Who no longer awaits the future stops nothing: the call is made all the same.

        Raises RuntimeError after `close`.
        """
        if self._closed:
            raise RuntimeError("no new calls after these threads were closed")
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        self._unanswered += 1
        if len(self._threads) < min(self._most, self._unanswered):
            # A daemon, so that a process that ends without `close` is not held up by a thread that waits for calls.
            thread = Thread(target=self._work, name=f"{self._name}_{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()
        self._calls.put(_Call(loop, answer, work, given))
        return answer

    def close(self) -> None:
        """Wait until all calls are done and the threads have ended. Blocks; idempotent."""
        self._closed = True
        for _ in self._threads:
            self._calls.put(None)
        for thread in self._threads:
            thread.join()
        self._threads.clear()

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            loop, answer, work, given = call
            result, error = None, None
            try:
                result = work(*given)
            except BaseException as caught:  # whoever awaits it is told
                error = caught
            with suppress(RuntimeError):  # the loop has ended meanwhile: nobody awaits it
                loop.call_soon_threadsafe(self._told, answer, result, error)
            # Nothing is held on to while the next call is awaited.
            del call, loop, answer, work, given, result, error

    def _told(self, answer: "asyncio.Future[Any]", result: Any, error: BaseException | None) -> None:
        self._unanswered -= 1
        if answer.done():
            return  # nobody awaits it any more
        if error is None:
            answer.set_result(result)
        else:
            answer.set_exception(RuntimeError("a call ran out of values") if isinstance(error, StopIteration) else error)
