"""Threads for an event loop: answers and errors come back, calls go in order, who gives up stops nothing, all is done in the end."""

import asyncio
import threading
import time

import pytest

from hindwise.ledger.threads import Threads


@pytest.fixture
def threads():
    made = Threads(3, "test")
    yield made
    made.close()


async def test_an_answer_and_an_error_come_back(threads: Threads) -> None:
    assert await threads.run(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        await threads.run(divmod, 7, 0)
    with pytest.raises(RuntimeError, match="ran out of values"):
        await threads.run(next, iter(()))


async def test_calls_one_after_the_other_need_one_thread_and_calls_at_once_no_more_than_allowed(threads: Threads) -> None:
    assert len({await threads.run(threading.get_ident) for _ in range(20)}) == 1

    def slowly() -> int:
        time.sleep(0.02)
        return threading.get_ident()

    assert len(set(await asyncio.gather(*(threads.run(slowly) for _ in range(12))))) == 3


async def test_one_thread_takes_calls_in_their_order() -> None:
    one, seen = Threads(1, "test"), []
    await asyncio.gather(*(one.run(seen.append, number) for number in range(50)))
    one.close()
    assert seen == list(range(50))


async def test_who_gives_up_stops_nothing_and_the_next_call_is_answered(threads: Threads) -> None:
    begun, go_on, done = threading.Event(), threading.Event(), []

    def work() -> None:
        begun.set()
        go_on.wait(10)
        done.append(True)

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await threads.run(work)
    assert begun.is_set()
    go_on.set()
    assert await threads.run(str, 1) == "1"
    threads.close()
    assert done == [True]


async def test_closing_waits_for_what_was_asked_and_takes_nothing_more(threads: Threads) -> None:
    seen = []

    def slowly(number: int) -> None:
        time.sleep(0.01)
        seen.append(number)

    asked = [threads.run(slowly, number) for number in range(9)]
    await asyncio.to_thread(threads.close)
    await asyncio.gather(*asked)
    assert sorted(seen) == list(range(9))
    with pytest.raises(RuntimeError, match="closed"):
        threads.run(str)
    threads.close()


def test_a_loop_that_has_ended_does_not_end_the_thread(threads: Threads) -> None:
    free = threading.Event()

    async def leave() -> None:
        threads.run(free.wait, 10)

    asyncio.run(leave())
    free.set()

    async def ask() -> str:
        return await threads.run(str, 2)

    assert asyncio.run(ask()) == "2"
