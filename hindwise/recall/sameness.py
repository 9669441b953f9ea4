"""Do two generations answer alike? The same questions to both, compared by their first five finds."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hindwise.embed.base import Embedder
from hindwise.errors import IndexUnavailable, ModelRefused, ModelUnavailable, NotFound
from hindwise.index.base import Filters, Index
from hindwise.index.live import LiveIndex
from hindwise.index.projection import index_space
from hindwise.ledger import embeddings, generations, rebuild
from hindwise.ledger.engine import Ledger
from hindwise.ledger.rebuild import Asked
from hindwise.recall.candidates import cosine_of
from hindwise.recall.fusion import fuse
from hindwise.text.tokens import tokens

FIRST: Final = 5
_TIE: Final = 0.02
"""Fused scores that differ by less are a tie: two indexes may sum in another order."""
_ANSWER_S: Final = 15.0
_TRIES: Final = 3


@dataclass(frozen=True, slots=True)
class Compared:
    """Questions asked of both. `same`: with the same first five; `overlap`: mean share in common; `alike`: they should be the same.

    `why`: where nothing could be compared.
    """

    asked: int = 0
    same: int = 0
    overlap: float = 0.0
    alike: bool = False
    why: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Asks both. Nothing leaves this installation, but for questions to a configured embedder."""

    ledger: Ledger
    index: LiveIndex
    embedder: Embedder

    async def compare(self, number: int, each: int) -> Compared:
        """Ask the live generation and the new one the same questions: `each` that were asked lately, as many made of memories.

        A live index or embedder that is away is an answer, not an error. Raises NotFound, LedgerUnavailable.
        """
        rows = await self.ledger.read(generations.kept)
        new, old = next((one for one in rows if one.no == number), None), generations.live_of(rows)
        if new is None:
            raise NotFound(f"generation {number} is not kept")
        if old is None or old.no == number:
            return Compared(why="nothing served before")
        alike = old.spec == new.spec and not old.holes
        comparable = (old.model, old.dim) == (new.model, new.dim)
        asked = await self.ledger.read(lambda conn: rebuild.questions(conn, each))
        same, overlap, told = 0, 0.0, 0
        try:
            before, after = await self.index.opened(old), await self.index.opened(new)
            whole: dict[int, bool] = {}
            for question in asked:
                if question.space_no not in whole:
                    whole[question.space_no] = await self._is_whole(before, question)
                if not whole[question.space_no]:
                    continue  # a lost index that is being filled again is no measure
                share = None
                for _ in range(_TRIES):
                    share = await self._share(before, after, question, vectors=comparable)
                    if share in (None, 1.0):
                        break  # else something may have been written between the two questions
                if share is None:
                    continue
                told += 1
                same, overlap = same + (share == 1.0), overlap + share
        except (IndexUnavailable, ModelUnavailable, ModelRefused, TimeoutError) as error:
            return Compared(why=f"the index that serves, or the embedder, did not answer ({type(error).__name__})")
        return Compared(told, same, round(overlap / told, 4) if told else 1.0, alike)

    async def _share(self, before: Index, after: Index, question: Asked, *, vectors: bool) -> float | None:
        """What both have in common; None where neither finds anything."""
        first, second = await self._first(before, question, vectors=vectors), await self._first(after, question, vectors=True)
        return in_common(first, second) if first or second else None

    async def _is_whole(self, index: Index, asked: Asked) -> bool:
        """Whether an index holds all of the question's space."""
        async with asyncio.timeout(_ANSWER_S):
            held = await index.ids(index_space(asked.tenant_id, asked.space))
        wanted = await self.ledger.read(lambda conn: rebuild.wanted(conn, asked.space_no))
        return wanted.live - wanted.waiting <= held

    async def _first(self, index: Index, asked: Asked, *, vectors: bool) -> list[tuple[str, float]]:
        """(id, fused score) of the finds, best first; only such as every index must know by now."""
        vector = await self.embedder.query(asked.text) if vectors and self.embedder.dim else None
        async with asyncio.timeout(_ANSWER_S):
            found = await index.candidates(index_space(asked.tenant_id, asked.space), tokens(asked.text), vector, Filters())
        hashes = await self.ledger.read(lambda conn: rebuild.settled(conn, asked.space_no, [one.memory_id for one in found]))
        ids = [one.memory_id for one in found if one.memory_id in hashes]
        cosines: list[float | None] = [None] * len(ids)
        if vector is not None:
            # By the ledger's vectors for both: a server may still hold such as an earlier version wrote, not rounded.
            question, model, known = vector, self.embedder.model, [hashes[memory_id] for memory_id in ids]
            vectors_of = await self.ledger.read(lambda conn: embeddings.load(conn, [asked.space_no], model, known))
            cosines = [cosine_of(vectors_of.get((asked.space_no, text_hash)), question) for text_hash in known]
        scores = fuse([one.lexical for one in found if one.memory_id in hashes], cosines)
        return sorted(zip(ids, scores, strict=True), key=lambda scored: (-scored[1], scored[0]))


def in_common(before: Sequence[tuple[str, float]], after: Sequence[tuple[str, float]]) -> float:
    """The share of the first five that both name; what ties with the fifth counts as named."""
    most = min(FIRST, max(len(before), len(after)))
    if not most:
        return 1.0
    named = {memory_id for memory_id, _ in after[:most]}
    edge = before[min(most, len(before)) - 1][1] - _TIE if before else 0.0
    return len(named & {memory_id for memory_id, score in before if score >= edge}) / most
