"""How near does a question come to texts that have nothing to do with it? Measured once per process, because models differ widely.

A short question lies near to everything, a Chinese one nearer to Chinese texts, one in the shape of a lesson nearer to lessons. So the
level is the question's own: its mean cosine with a background in the language and the shape of what it is compared with.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from hindwise.embed.background import BACKGROUND
from hindwise.embed.base import Embedder, Vector
from hindwise.recall.relevance import Level

Shape = tuple[str, Literal["lesson", "statement"]]
"""(language, shape)."""

_EVERY = 6
"""Every sixth statement of the embedder's background: ten per language place the mean as well as all sixty (within 0.004)."""

_LEAST_STATEMENT, _LEAST_LESSON = 0.8, 0.6
"""Shares of the embedder's general deviation below which a spread of so few texts is not believed. Lessons are alike in shape."""

_LESSONS = {
    "en": (
        "When the ferry is late, call the harbour office before rebooking, because timetables are old\nisland trips\nbook a ferry",
        "When egg whites do not rise, clean the bowl with vinegar, because a trace of fat stops them\nmaking meringue\nbake a cake",
        "When a violin string breaks, replace the whole set, because a new one sounds sharper\nbefore concerts\nprepare an instrument",
        "When the goalkeeper is injured, change the formation at once, because the bench has no second one\nduring a match\ncoach a team",
        "When tomatoes turn yellow, water them less often, because wet roots take up no iron\nbalcony plants\ncare for plants",
        "When the trail is closed, take the valley path, because the ridge is icy until May\nspring hikes\nplan a hike",
        "When a novel has two narrators, name them in the headings, because readers mix them up\nlong novels\nedit a manuscript",
        "When the barn roof leaks, dry the hay first, because damp hay heats up by itself\nafter a storm\nrepair a roof",
    ),
    "zh": (
        "当渡轮晚点时，应先打电话给码头再改签，因为网上的时刻表旧了一天\n去海岛\n预订渡轮",
        "当蛋白打不发时，应用醋擦净盆，因为一点油脂就会消泡\n做蛋白霜\n烤蛋糕",
        "当小提琴断弦时，应整套更换，因为单根新弦音色偏亮\n演出之前\n准备乐器",
        "当守门员受伤时，应立即改变阵型，因为替补席没有第二门将\n比赛进行中\n指挥足球队",
        "当西红柿叶子发黄时，应减少浇水，因为烂根吸收不了铁\n阳台种菜\n照料植物",
        "当登山步道封闭时，应改走山谷小路，因为山脊到五月都结冰\n春季登山\n计划登山",
        "当小说有两个叙述者时，应在标题写明是谁，因为读者会弄混\n长篇小说\n编辑书稿",
        "当谷仓屋顶漏雨时，应先晾干草料，因为湿草会自燃\n暴雨之后\n修理屋顶",
    ),
}

_Matrix = npt.NDArray[np.float32]


class Yardstick:
    """Knows the background as vectors. One per process and embedder; safe to ask from many recalls at once."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._lock = asyncio.Lock()
        self._backgrounds: dict[Shape, tuple[Vector, float]] | None = None

    @property
    def ready(self) -> bool:
        """Whether nothing is left to measure."""
        return self._backgrounds is not None or not self._embedder.dim

    async def start(self) -> None:
        """Embed the background, some 36 short texts, once. Raises ModelUnavailable, ModelRefused."""
        async with self._lock:
            if self._backgrounds is None and self._embedder.dim:
                self._backgrounds = await _measure(self._embedder)

    def levels(self, question: Vector) -> Mapping[Shape, Level]:
        """Return the question's level per language and shape; by the embedder's general calibration before `start`."""
        if self._backgrounds is None:
            general = self._embedder.calibration
            return {shape: Level(general.of(shape[0]).mean, general.of(shape[0]).std) for shape in _shapes()}
        return {shape: Level(float(mean @ question), spread) for shape, (mean, spread) in self._backgrounds.items()}


def shape_of(language: str, kind: str) -> Shape:
    """Return which background a memory is compared with."""
    return ("zh" if language == "zh" else "en", "lesson" if kind == "lesson" else "statement")


def _shapes() -> list[Shape]:
    return [shape_of(language, kind) for language in BACKGROUND for kind in ("lesson", "fact")]


async def _measure(embedder: Embedder) -> dict[Shape, tuple[Vector, float]]:
    found: dict[Shape, tuple[Vector, float]] = {}
    for language, sentences in BACKGROUND.items():
        usual = embedder.calibration.of(language).std
        found[language, "statement"] = _summary(await embedder.passages(sentences[::_EVERY]), least=_LEAST_STATEMENT * usual)
        found[language, "lesson"] = _summary(await embedder.passages(_LESSONS[language]), least=_LEAST_LESSON * usual)
    return found


def _summary(vectors: Sequence[Vector | None], *, least: float) -> tuple[Vector, float]:
    """Mean vector (the mean of cosines is the cosine with it), and the spread of unrelated pairs around each one's own mean."""
    matrix: _Matrix = np.stack([vector for vector in vectors if vector is not None])
    cosines = matrix @ matrix.T
    apart = ~np.eye(len(matrix), dtype=bool)
    own = cosines.sum(axis=1, keepdims=True, where=apart) / (len(matrix) - 1)
    spread = float((cosines - own)[apart].std())
    mean: Vector = matrix.mean(axis=0, dtype=np.float32)
    return mean, max(spread, least, 1e-3)
