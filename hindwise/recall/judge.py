"""Which of the found memories answer the question, and how well? Gate, fusion, score. Pure: the time is passed in.

In two steps, because weighing a memory costs more than sorting it out: `sift` says which ones may be told, `score` weighs these. Both
work on bare rows: only what is told is built.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, islice
from typing import NamedTuple

from hindwise.lifecycle.aging import AgingRules, is_expired
from hindwise.model.brief import RecallQuery
from hindwise.model.memory import Kind
from hindwise.recall import profiles
from hindwise.recall.candidates import Found
from hindwise.recall.fusion import fuse
from hindwise.recall.outline import Outline
from hindwise.recall.question import Question
from hindwise.recall.relevance import Level, Rarity, coverage, meaning, relevance, same_task
from hindwise.recall.rows import outline_of
from hindwise.recall.select import BORN_OUTSIDE, MAX_OF_ONE_ORIGIN, Scored
from hindwise.recall.yardstick import Shape, shape_of
from hindwise.text.remembered import remembered
from hindwise.text.telling import telling_tokens
from hindwise.text.tokens import tokens

_RAW = frozenset({Kind.EVENT, Kind.SNIPPET})
_OWN_MERIT = 1.3
"""Events and snippets that nobody asked for must clear the gate by so much."""
_SHARE_OF_BEST = 0.45
"""Of the best relevance: what lies lower is a tail that only costs the reader's attention."""
_SPARE = 6
"""Weighed beyond the limit, for what slots, caps and likeness will refuse; measured together with the number of rows (`choosing`)."""
_RANK_SHARE = 0.5
"""How far the fused rank moves an item's relevance towards that of its rank."""


class Hopeful(NamedTuple):
    """A find that may be told. `relevance`: moved towards its rank; `relevant`: passed the gate, else it only stands."""

    found: Found
    words: Set[str]
    relevance: float
    fused: float
    relevant: bool


@dataclass(frozen=True, slots=True)
class Sifted:
    """What is worth weighing; and the best relevance there was, told or not."""

    hopeful: list[Hopeful]
    best: float
    seen: int
    """How many memories fitted the kinds and topics."""
    relevant: int
    """How many passed the gate."""


@dataclass(frozen=True, slots=True)
class Judge:
    """One question and the rules by which memories are held against it. `levels`: None without vectors."""

    query: RecallQuery
    question: Question
    levels: Mapping[Shape, Level] | None
    gate: float
    rules: AgingRules
    now: datetime

    def sift(self, found: Sequence[Found], standing: Sequence[Found]) -> Sifted:
        """Gate and fuse. A memory that is both found and standing counts as found where it passes the gate."""
        known = {item.row.id: item for item in chain(standing, found)}
        stands = {item.row.id for item in standing}
        pool = [known[memory_id] for memory_id in sorted(known)]
        if self.query.kinds or self.query.topics:
            pool = [item for item in pool if self._wanted(item)]
        words = [frozenset(item.row.lex.split()) for item in pool]
        relevances = self._relevances(pool, words)
        ranked, fused = _ranked(pool, relevances)
        best = max(relevances, default=0.0)
        weighed = zip(pool, words, ranked, fused, self._passing(pool, relevances, best), strict=True)
        hopeful = [Hopeful(*values) for values in weighed if values[-1] or values[0].row.id in stands]
        relevant = [item for item in hopeful if item.relevant]
        told = self._most_promising(relevant)
        told += [item for item in hopeful if not item.relevant]
        return Sifted(told, best, len(pool), len(relevant))

    def score(self, sifted: Sifted) -> list[Scored]:
        """Weigh what was sifted, unordered, without what has expired."""
        outlined = ((item, outline_of(item.found.row)) for item in sifted.hopeful)
        return [self._scored(item, outline) for item, outline in outlined if not is_expired(outline, self.now)]

    def _passing(self, pool: Sequence[Found], relevances: Sequence[float], best: float) -> list[bool]:
        least = _SHARE_OF_BEST * best
        raw_gate = self.gate if self.query.kinds else self.gate * _OWN_MERIT
        return [
            value >= least and value >= (raw_gate if item.row.kind in _RAW else self.gate)
            for item, value in zip(pool, relevances, strict=True)
        ]

    def _most_promising(self, items: list[Hopeful]) -> list[Hopeful]:
        """Some more than are wanted, by the most that each can score: reading one whole costs more than sorting."""
        keep = self.query.limit + _SPARE
        if len(items) <= keep:
            return items
        # They come in order of id, which decides between equal ones.
        items = sorted(items, key=_at_most, reverse=True)
        return list(islice(_without_crowds(items), keep))

    def _wanted(self, item: Found) -> bool:
        if self.query.kinds and item.row.kind not in self.query.kinds:
            return False
        return not self.query.topics or not set(self.query.topics).isdisjoint(item.row.topics)

    def _relevances(self, pool: Sequence[Found], words: Sequence[Set[str]]) -> list[float]:
        asked = self.question.tokens
        asked_set = frozenset(asked)
        held = [asked_set & of_one for of_one in words]
        weights = Rarity(_Counts(words, asked_set, held), len(pool))
        total = sum([weights[word] for word in asked])
        # Many hold the same few words of the question.
        covers = {shared: coverage(asked, shared, weights, total) for shared in set(held)}
        found = []
        for item, shared, near in zip(pool, held, self._meanings(pool), strict=True):
            covered = covers[shared]
            # Short questions cover themselves; only a long one needs to be recognised by the task it holds.
            if shared and (task := item.row.task):
                covered = max(covered, same_task(asked_set, _task_tokens(task), weights))
            found.append(relevance(covered, near))
        return found

    def _meanings(self, pool: Sequence[Found]) -> list[float | None]:
        levels, own = self.levels, self.question.language
        if levels is None:
            return [None] * len(pool)
        found: list[float | None] = []
        by_sort: dict[tuple[str, str], tuple[Level, bool]] = {}
        for row, _, cosine in pool:
            if cosine is None:
                found.append(None)
                continue
            sort = (row.language, row.kind)
            if (known := by_sort.get(sort)) is None:
                shape = shape_of(*sort)
                known = by_sort[sort] = (levels[shape], shape[0] != own)
            found.append(meaning(cosine, known[0], foreign=known[1]))
        return found

    def _scored(self, item: Hopeful, outline: Outline) -> Scored:
        row = item.found.row
        parts = profiles.score(
            self.query.profile,
            outline,
            self.rules,
            self.now,
            lexical=item.found.lexical,
            cosine=item.found.cosine,
            fused=item.fused,
            relevance=item.relevance,
            standing=not item.relevant,
        )
        scope_match = 0.0 if item.relevant else self._scope_match(row.scope)
        return Scored(outline, parts, item.words, item.relevant, row.slot_key, scope_match)

    def _scope_match(self, scope: str) -> float:
        if not scope:
            return 0.5
        return 1.0 if not set(tokens(scope)).isdisjoint(self.question.tokens) else 0.0


def _at_most(item: Hopeful) -> float:
    row = item.found.row
    return profiles.at_most(item.relevance, row.importance, row.hits, pending=row.status == "pending")


def _without_crowds(items: Iterable[Hopeful]) -> Iterator[Hopeful]:
    """Without more of one origin outside than may be worth weighing: few of them are told, and they must not crowd out the others."""
    born = dict.fromkeys(BORN_OUTSIDE, 0)
    for item in items:
        if (origin := item.found.row.origin) in born:
            born[origin] += 1
            if born[origin] > MAX_OF_ONE_ORIGIN + _SPARE // 2:
                continue
        yield item


class _Counts:
    """How many of the pool hold a word. Words of the question are counted from what was found of them, others by counting all."""

    def __init__(self, words: Sequence[Set[str]], asked: Set[str], held: Sequence[Set[str]]) -> None:
        self._words, self._asked = words, asked
        self._of_asked = Counter(chain.from_iterable(held))
        self._all: Counter[str] | None = None

    def __call__(self, word: str) -> int:
        if word in self._asked:
            return self._of_asked[word]
        if self._all is None:
            self._all = Counter(chain.from_iterable(self._words))
        return self._all[word]


@remembered(2_048)
def _task_tokens(task: str) -> tuple[str, ...]:
    """Tasks are few, and asked about again and again."""
    return tuple(dict.fromkeys(telling_tokens(task)))


def _ranked(pool: Sequence[Found], relevances: Sequence[float]) -> tuple[list[float], list[float]]:
    """Relevances moved half-way to what each one's fused rank within its space would earn; and the fused scores.

    Fusion orders one space best (words and meaning add up), relevance is comparable across spaces: the levels are the one's, the
    order leans on the other's. One space at a time: statistics of two spaces do not mix.
    """
    ranked, fused = list(relevances), [0.0] * len(pool)
    spaces: dict[int, list[int]] = {}
    for at, item in enumerate(pool):
        spaces.setdefault(item.row.space_no, []).append(at)
    for places in spaces.values():
        scores = fuse([pool[at].lexical for at in places], [pool[at].cosine for at in places])
        for at, score in zip(places, scores, strict=True):
            fused[at] = score
        levels = sorted((relevances[at] for at in places), reverse=True)
        # Places come in order of id, which decides between equal ones.
        for at, level in zip(sorted(places, key=fused.__getitem__, reverse=True), levels, strict=True):
            ranked[at] = (1 - _RANK_SHARE) * relevances[at] + _RANK_SHARE * level
    return ranked, fused
