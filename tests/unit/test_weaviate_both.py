"""Two questions to Weaviate, side by side: whichever fails, the other is ended, and no error is left that nobody looked at."""

import asyncio
import gc
from typing import Any

import pytest

from hindwise.index.weaviate_search import _both


class Away(Exception):
    """What a question ends with here."""


async def _after(seconds: float, result: str, ended: list[str], *, fails: bool = False) -> str:
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        ended.append(f"{result} cancelled")
        raise
    if fails:
        raise Away(result)
    ended.append(result)
    return result


@pytest.fixture
def unseen() -> list[dict[str, Any]]:
    """What the event loop complained of."""
    return []


def run(pair: Any, unseen: list[dict[str, Any]]) -> Any:
    """What `pair` gives, or its error, after it was looked at whether anything still runs: `asyncio.run` would end it by itself."""

    async def asked() -> Any:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: unseen.append(context))
        result, failed = None, ""
        try:
            result = await pair()
        except (Away, TimeoutError) as error:
            failed = f"{type(error).__name__} {error}"
        for _ in range(3):
            await asyncio.sleep(0)
        gc.collect()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left, left
        return result, failed

    return asyncio.run(asked())


@pytest.mark.parametrize(("longer", "shorter"), [(0.02, 0.0), (0.0, 0.02), (0.0, 0.0)])
def test_both_answers_in_their_order(longer: float, shorter: float, unseen: list[dict[str, Any]]) -> None:
    ended: list[str] = []
    assert run(lambda: _both(_after(longer, "meaning", ended), _after(shorter, "words", ended)), unseen) == (("meaning", "words"), "")
    assert sorted(ended) == ["meaning", "words"]
    assert not unseen


def test_they_run_side_by_side(unseen: list[dict[str, Any]]) -> None:
    async def pair() -> tuple[str, str]:
        met = asyncio.Barrier(2)

        async def ask(result: str) -> str:
            async with asyncio.timeout(5):
                await met.wait()
            return result

        return await _both(ask("meaning"), ask("words"))

    assert run(pair, unseen) == (("meaning", "words"), "")


@pytest.mark.parametrize(
    ("longer", "shorter", "told"),
    [
        ((0.0, True), (0.5, False), "meaning"),
        ((0.02, False), (0.0, True), "words"),
        ((0.02, True), (0.0, True), "meaning"),
        ((0.0, True), (0.02, True), "meaning"),
    ],
)
def test_a_failure_is_told_and_ends_the_other(
    longer: tuple[float, bool], shorter: tuple[float, bool], told: str, unseen: list[dict[str, Any]]
) -> None:
    ended: list[str] = []
    asked = _after(longer[0], "meaning", ended, fails=longer[1]), _after(shorter[0], "words", ended, fails=shorter[1])
    assert run(lambda: _both(*asked), unseen) == (None, f"Away {told}")
    assert "words" not in ended
    assert not unseen


def test_who_no_longer_waits_ends_both(unseen: list[dict[str, Any]]) -> None:
    ended: list[str] = []

    async def pair() -> None:
        async with asyncio.timeout(0.02):
            await _both(_after(5, "meaning", ended), _after(5, "words", ended))

    assert run(pair, unseen)[1].startswith("TimeoutError")
    assert sorted(ended) == ["meaning cancelled", "words cancelled"]
    assert not unseen
