"""How many memories of a space hold a word? Weaviate keeps such figures but tells none of them, so each process counts for itself.

The counts are read once per space, then kept up to date by asking, beside each question, for what was written since. Without them the
words that half of a space holds could not be left out, and scores would differ from those of the embedded index. Pure.
"""

from collections import Counter, OrderedDict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from hindwise.index.scoring import COMMON_SHARE, SMALL_SPACE, idf
from hindwise.index.space_image import K1, B

OVERLAP_US = 1_000_000
"""How far the clocks of two writers of one space may differ. They take turns, so more would have to be a broken clock."""
_MANY = 40
_BYTES_PER_ENTRY = 120
"""What one word, or one memory, takes in a dictionary of counts, roughly."""


class Written(NamedTuple):
    """One object as it comes from the server. `memory_id` "" = the marker, `rev`: microseconds, when it was written."""

    memory_id: str
    lex: str
    rev: int


@dataclass(slots=True)
class SpaceWords:
    """The counts of one space. `upto`: the newest write in it; `marker`: when something was last taken out."""

    docs: int = 0
    tokens: int = 0
    df: Counter[str] = field(default_factory=Counter)
    upto: int = 0
    marker: int = 0
    _recent: deque[int] = field(default_factory=deque)
    """When the newest were written, each within the overlap of the last."""
    _seen: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, written: Iterable[Written]) -> "SpaceWords":
        """Count all objects of a space."""
        words = cls()
        words.learn(sorted(written, key=lambda one: one.rev))
        return words

    def learn(self, written: Sequence[Written]) -> bool:
        """Add what was written since, oldest first. False: something was taken out or replaced, and all has to be counted anew."""
        whole = True
        for one in written:
            self.upto = max(self.upto, one.rev)
            if not one.memory_id:
                if one.rev > self.marker:
                    whole, self.marker = False, one.rev
                continue
            content = hash(one.lex)
            known = self._seen.get(one.memory_id)
            if known is None:
                self._seen[one.memory_id] = content
                self._count(one.lex.split())
                self._recent.append(one.rev)
            elif known != content:
                whole = False
        while self._recent and self._recent[0] <= self.upto - OVERLAP_US:
            self._recent.popleft()
        return whole

    def _count(self, tokens: list[str]) -> None:
        self.docs += 1
        self.tokens += len(tokens)
        self.df.update(set(tokens))

    @property
    def since(self) -> int:
        """From when on to ask: a little back, since two writers' clocks differ; not where that would bring a whole batch again."""
        return self.upto - OVERLAP_US if len(self._recent) <= _MANY else self.upto

    @property
    def nbytes(self) -> int:
        """Bytes held, roughly."""
        return (len(self.df) + self.docs) * _BYTES_PER_ENTRY


class Weights:
    """A question's terms in one space: what to search for, and what each is worth."""

    def __init__(self, words: SpaceWords, terms: Sequence[str]) -> None:
        distinct = list(dict.fromkeys(terms))
        self.idf = {term: idf(words.docs, words.df[term]) for term in distinct}
        self._total = sum(self.idf.values())
        known = [term for term in distinct if words.df[term]]
        common = COMMON_SHARE * words.docs
        rare = known if words.docs < SMALL_SPACE else [term for term in known if words.df[term] <= common]
        self.searched: tuple[str, ...] = tuple(rare or known)
        """Those that are known; the common ones only where nothing else is known."""
        self._mean = words.tokens / words.docs if words.docs and words.tokens else 1.0

    def bm25(self, lex: Sequence[str]) -> float:
        """The score of a document with these tokens, rounded so that equal ones are equal."""
        norm = K1 * (1 - B + B * len(lex) / self._mean)
        score = 0.0
        for term in self.searched:
            if tf := lex.count(term):
                score += self.idf[term] * tf * (K1 + 1) / (tf + norm)
        return round(score, 6)

    def coverage(self, lex: Sequence[str]) -> float:
        """The share of the question's weight that a document with these tokens holds, 0..1."""
        if not self._total:
            return 0.0
        held = set(lex)
        return round(sum(weight for term, weight in self.idf.items() if term in held) / self._total, 6)


class WordsCache:
    """The counts of the spaces that were asked about last, at most `nbytes` of them."""

    def __init__(self, nbytes: int) -> None:
        self._most = nbytes
        self._held: OrderedDict[str, SpaceWords] = OrderedDict()
        self._sizes: dict[str, int] = {}

    def get(self, tenant: str) -> SpaceWords | None:
        """What is known of a space."""
        words = self._held.get(tenant)
        if words is not None:
            self._held.move_to_end(tenant)
        return words

    def put(self, tenant: str, words: SpaceWords) -> None:
        """Keep the counts, and forget those that were asked for longest ago where it becomes too much."""
        self._held[tenant] = words
        self._held.move_to_end(tenant)
        self._sizes[tenant] = words.nbytes
        while len(self._held) > 1 and sum(self._sizes.values()) > self._most:
            self.forget(next(iter(self._held)))

    def forget(self, tenant: str) -> None:
        """Count anew the next time."""
        self._held.pop(tenant, None)
        self._sizes.pop(tenant, None)

    def clear(self) -> None:
        """Forget all."""
        self._held.clear()
        self._sizes.clear()
