"""How many memories of a space hold a word? Weaviate keeps such figures but tells none of them, so each process counts for itself.

The words are read once per space, then kept up to date by asking, beside each question, for what was written since. Without them the
words that half of a space holds could not be left out, and scores would differ from those of the embedded index. And since a find's
words are known here, the server sends ids alone, which is what costs least. Pure.
"""

from collections import Counter, OrderedDict, deque
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from sys import intern
from typing import NamedTuple

from hindwise.index.scoring import COMMON_SHARE, SMALL_SPACE, idf
from hindwise.index.space_image import K1, B

OVERLAP_US = 1_000_000
"""How far the clocks of two writers of one space may differ. They take turns, so more would have to be a broken clock."""
_MANY = 40
_BYTES_PER_ENTRY = 120
"""What an entry of a dictionary takes, with its key, roughly."""


class Written(NamedTuple):
    """One object as it comes from the server. `key`: its id as a number; `memory_id`: "" = the marker; `rev`: when, in microseconds."""

    key: int
    memory_id: str
    lex: str
    rev: int


class Document(NamedTuple):
    """What is kept of a memory, so that a find needs to bring nothing but its id."""

    memory_id: str
    tokens: tuple[str, ...]


@dataclass(slots=True)
class SpaceWords:
    """The words of one space. `upto`: the newest write in it; `marker`: when something was last taken out."""

    tokens: int = 0
    df: Counter[str] = field(default_factory=Counter)
    documents: dict[int, Document] = field(default_factory=dict)
    upto: int = 0
    marker: int = 0
    looked_at: float = 0.0
    """When this process last asked what was written since, on the monotonic clock."""
    _recent: deque[int] = field(default_factory=deque)
    """When the newest were written, each within the overlap of the last."""

    @classmethod
    def of(cls, written: Iterable[Written]) -> "SpaceWords":
        """Count all objects of a space."""
        words = cls()
        words.learn(sorted(written, key=lambda one: one.rev))
        return words

    def learn(self, written: Sequence[Written]) -> bool:
        """Add what was written since, oldest first. False: something was taken out, and all has to be counted anew."""
        whole = True
        for one in written:
            self.upto = max(self.upto, one.rev)
            if one.memory_id:
                self._replace(one)
            elif one.rev > self.marker:
                whole, self.marker = False, one.rev
        while self._recent and self._recent[0] <= self.upto - OVERLAP_US:
            self._recent.popleft()
        return whole

    def _replace(self, one: Written) -> None:
        # Each word is kept once, however many memories hold it.
        tokens = tuple(map(intern, one.lex.split()))
        known = self.documents.get(one.key)
        if known is not None and known.tokens == tokens:
            return
        if known is not None:
            self.tokens -= len(known.tokens)
            self.df.subtract(set(known.tokens))
        self.documents[one.key] = Document(one.memory_id, tokens)
        self.tokens += len(tokens)
        self.df.update(set(tokens))
        self._recent.append(one.rev)

    @property
    def docs(self) -> int:
        """How many memories."""
        return len(self.documents)

    @property
    def since(self) -> int:
        """From when on to ask: a little back, since two writers' clocks differ; not where that would bring a whole batch again."""
        return self.upto - OVERLAP_US if len(self._recent) <= _MANY else self.upto

    @property
    def nbytes(self) -> int:
        """Bytes held, roughly."""
        return (len(self.df) + 2 * self.docs) * _BYTES_PER_ENTRY + 8 * self.tokens


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
        self._terms, self._searched_for = frozenset(distinct), frozenset(self.searched)
        self._mean = words.tokens / words.docs if words.docs and words.tokens else 1.0
        self._covered: dict[Set[str], float] = {}
        self._scores: dict[int, float] = {}

    def bm25(self, key: int, document: Document) -> float:
        """The score of a find, rounded so that equal ones are equal. Remembered: some are scored before that is wanted."""
        if (known := self._scores.get(key)) is not None:
            return known
        tokens = document.tokens
        norm = K1 * (1 - B + B * len(tokens) / self._mean)
        score = 0.0
        for term in self._searched_for.intersection(tokens):
            tf = tokens.count(term)
            score += self.idf[term] * tf * (K1 + 1) / (tf + norm)
        told = self._scores[key] = round(score, 6)
        return told

    def coverage(self, document: Document) -> float:
        """The share of the question's weight that a document's terms have, 0..1."""
        held = self._terms.intersection(document.tokens)
        # Many documents hold the same few terms.
        if (covered := self._covered.get(held)) is None:
            share = sum([self.idf[term] for term in held]) / self._total if held and self._total else 0.0
            covered = self._covered[held] = round(share, 6)
        return covered


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
