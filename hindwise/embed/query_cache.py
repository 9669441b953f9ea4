"""Remembers the vectors of the latest questions: an agent asks the same thing before each step of a task."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from hashlib import blake2b

from hindwise.embed.base import Vector

MAX_QUERIES = 4_096
"""About 6 MB at 384 numbers."""


class QueryCache:
    """Text → vector, the least recently asked given up first. Holds hashes, not questions. For one event loop."""

    def __init__(self, max_queries: int = MAX_QUERIES) -> None:
        self._max = max_queries
        self._vectors: OrderedDict[bytes, Vector] = OrderedDict()

    async def get(self, text: str, ask: Callable[[str], Awaitable[Vector]]) -> Vector:
        """Return the vector of `text`, asking where it is not known; an error is not remembered. The array is read-only."""
        key = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        known = self._vectors.get(key)
        if known is None:
            known = await ask(text)
            known.flags.writeable = False
            self._vectors[key] = known
            if len(self._vectors) > self._max:
                self._vectors.popitem(last=False)
        else:
            self._vectors.move_to_end(key)
        return known
