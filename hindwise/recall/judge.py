"""Which of the found memories answer the question, and how well? Gate, fusion, score. Pure: the time is passed in."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from hindwise.lifecycle.aging import AgingRules, is_expired
from hindwise.model.brief import RecallQuery
from hindwise.model.memory import Kind, Memory
from hindwise.recall import profiles
from hindwise.recall.candidates import Found
from hindwise.recall.fusion import fuse
from hindwise.recall.queries import memory_of
from hindwise.recall.question import Question
from hindwise.recall.relevance import Level, coverage, meaning, rarity, relevance, same_task
from hindwise.recall.select import Scored
from hindwise.recall.yardstick import Shape, shape_of
from hindwise.text.tokens import tokens

_RAW = frozenset({Kind.EVENT, Kind.SNIPPET})
_OWN_MERIT = 1.3
"""Events and snippets that nobody asked for must clear the gate by so much."""
_SHARE_OF_BEST = 0.45
"""Of the best relevance: what lies lower is a tail that only costs the reader's attention."""
_SPARE = 10
"""Scored beyond the limit, for what slots, caps and likeness will refuse."""
_RANK_SHARE = 0.5
"""How far the fused rank moves an item's relevance towards that of its rank."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What may be told, unordered; and the best relevance there was, told or not."""

    items: list[Scored]
    best: float
    seen: int
    """How many memories fitted the kinds and topics."""


@dataclass(frozen=True, slots=True)
class Judge:
    """One question and the rules by which memories are held against it. `levels`: None without vectors."""

    query: RecallQuery
    question: Question
    levels: Mapping[Shape, Level] | None
    gate: float
    rules: AgingRules
    now: datetime

    def judge(self, found: Sequence[Found], standing: Sequence[Found]) -> Judged:
        """Gate, fuse and score. A memory that is both found and standing counts as found where it passes the gate."""
        known = {item.row.id: item for item in (*standing, *found)}
        stands = {item.row.id for item in standing}
        pool = [item for item in sorted(known.values(), key=lambda item: item.row.id) if self._wanted(item)]
        relevances = self._relevances(pool)
        fused = _fused(pool)
        ranked = _ranked(pool, relevances, fused)
        best = max(relevances.values(), default=0.0)
        relevant = [item for item in pool if relevances[item.row.id] >= max(self._gate_of(item), _SHARE_OF_BEST * best)]
        passed = {item.row.id for item in relevant}
        told = self._most_promising(relevant, ranked) + [item for item in pool if item.row.id in stands - passed]
        items = [self._scored(item, ranked[item.row.id], fused[item.row.id], relevant=item.row.id in passed) for item in told]
        return Judged([item for item in items if not is_expired(item.memory, self.now)], best, len(pool))

    def _most_promising(self, items: Sequence[Found], ranked: Mapping[str, float]) -> list[Found]:
        """Some more than are wanted, by the most that each can score: building a model costs more than sorting."""
        keep = self.query.limit + _SPARE
        return sorted(items, key=lambda item: (-profiles.at_most(ranked[item.row.id], item.row.importance, item.row.hits), item.row.id))[
            :keep
        ]

    def _wanted(self, item: Found) -> bool:
        if self.query.kinds and item.row.kind not in self.query.kinds:
            return False
        return not self.query.topics or not set(self.query.topics).isdisjoint(item.row.words["topics"])

    def _gate_of(self, item: Found) -> float:
        unasked = not self.query.kinds and item.row.kind in _RAW
        return self.gate * _OWN_MERIT if unasked else self.gate

    def _relevances(self, pool: Sequence[Found]) -> dict[str, float]:
        weights = rarity(item.words for item in pool)
        asked = self.question.tokens
        asked_set = frozenset(asked)
        found: dict[str, float] = {}
        for item in pool:
            words = coverage(asked, item.words, weights)
            # Short questions cover themselves; only a long one needs to be recognised by the task it holds.
            if item.row.words["generalized_query"] and not asked_set.isdisjoint(item.words):
                words = max(words, same_task(asked_set, _task_tokens(item.row.words["generalized_query"]), weights))
            near = None
            if item.cosine is not None and self.levels is not None:
                shape = shape_of(item.row.words["language"], item.row.kind)
                near = meaning(item.cosine, self.levels[shape], foreign=shape[0] != self.question.language)
            found[item.row.id] = relevance(words, near)
        return found

    def _scored(self, item: Found, relevant_by: float, fused: float, *, relevant: bool) -> Scored:
        memory = memory_of(item.row)
        standing = not relevant
        parts = profiles.score(
            self.query.profile,
            memory,
            self.rules,
            self.now,
            lexical=item.lexical,
            cosine=item.cosine,
            fused=fused,
            relevance=relevant_by,
            standing=standing,
        )
        return Scored(memory, parts, item.words, relevant, item.row.slot_key, self._scope_match(memory))

    def _scope_match(self, memory: Memory) -> float:
        if not memory.scope:
            return 0.5
        return 1.0 if not set(tokens(memory.scope)).isdisjoint(self.question.tokens) else 0.0


@lru_cache(maxsize=2_048)
def _task_tokens(task: str) -> tuple[str, ...]:
    """Tasks are few, and asked about again and again."""
    return tuple(dict.fromkeys(tokens(task)))


def _by_space(pool: Iterable[Found]) -> dict[int, list[Found]]:
    spaces: dict[int, list[Found]] = {}
    for item in pool:
        spaces.setdefault(item.row.space_no, []).append(item)
    return spaces


def _fused(pool: Sequence[Found]) -> dict[str, float]:
    """Fused scores, one space at a time: statistics of two spaces do not mix."""
    found: dict[str, float] = {}
    for items in _by_space(pool).values():
        scores = fuse([item.lexical for item in items], [item.cosine for item in items])
        found.update(zip((item.row.id for item in items), scores, strict=True))
    return found


def _ranked(pool: Sequence[Found], relevances: Mapping[str, float], fused: Mapping[str, float]) -> dict[str, float]:
    """Relevance moved half-way to what its fused rank within its space would earn.

    Fusion orders one space best (words and meaning add up), relevance is comparable across spaces: the levels are the one's, the
    order leans on the other's.
    """
    found: dict[str, float] = {}
    for items in _by_space(pool).values():
        levels = sorted((relevances[item.row.id] for item in items), reverse=True)
        order = sorted((item.row.id for item in items), key=lambda memory_id: (-fused[memory_id], memory_id))
        for memory_id, level in zip(order, levels, strict=True):
            found[memory_id] = (1 - _RANK_SHARE) * relevances[memory_id] + _RANK_SHARE * level
    return found
