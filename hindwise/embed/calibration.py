"""How alike do unrelated texts look to an embedder? Cosines of one model start at 0.7, of another at 0.1: only the distance from this
level, in standard deviations, says that two texts belong together.

Measured between questions and passages of the background set, all pairs of different sentences, in each language for itself: across
languages the level is another one again.
"""

from collections.abc import Awaitable, Callable, Sequence

import numpy as np
import numpy.typing as npt

from hindwise.embed.background import BACKGROUND
from hindwise.embed.base import Calibration, Vector

E5_SMALL = Calibration(
    mean=0.7911,
    std=0.0493,
    by_language={"en": Calibration(mean=0.7470, std=0.0260), "zh": Calibration(mean=0.8351, std=0.0178)},
)
"""The local model's level, shipped because measuring it takes seconds at each start. A test measures it again."""

Ask = Callable[[Sequence[str]], Awaitable[list[Vector | None]]]

_SMALLEST_STD = 1e-3
"""Keeps a division by it harmless where all texts look alike."""


async def measure(passages: Ask, questions: Ask | None = None) -> Calibration:
    """Embed the background set and return mean and deviation of the cosines of unrelated pairs.

    `questions`: None for an embedder that does not tell questions from passages; then each sentence is embedded once.
    Raises what the embedder raises.
    """
    cosines = {language: await _unrelated(sentences, passages, questions) for language, sentences in BACKGROUND.items()}
    by_language = {language: _level(values) for language, values in cosines.items()}
    pooled = _level(np.concatenate(list(cosines.values())))
    return Calibration(mean=pooled.mean, std=pooled.std, by_language=by_language)


async def _unrelated(sentences: Sequence[str], passages: Ask, questions: Ask | None) -> npt.NDArray[np.float32]:
    told = _stack(await passages(sentences))
    asked = told if questions is None else _stack(await questions(sentences))
    cosines: npt.NDArray[np.float32] = (asked @ told.T)[~np.eye(len(sentences), dtype=bool)]
    return cosines


def _stack(vectors: list[Vector | None]) -> npt.NDArray[np.float32]:
    return np.stack([vector for vector in vectors if vector is not None])


def _level(cosines: npt.NDArray[np.float32]) -> Calibration:
    return Calibration(mean=float(cosines.mean()), std=max(float(cosines.std()), _SMALLEST_STD))
