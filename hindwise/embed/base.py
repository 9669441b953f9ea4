"""The interface of an embedder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Calibration:
    """Mean and standard deviation of cosines between unrelated texts, measured on the embedder's background set.

    `by_language`: the same for each language alone ("en", "zh"). They differ by more than related and unrelated texts do (e5-small:
    0.75 in English, 0.84 in Chinese), so judge a cosine by `of(language)` wherever the language is known.
    """

    mean: float
    std: float
    by_language: Mapping[str, "Calibration"] = field(default_factory=dict)

    def of(self, language: str) -> "Calibration":
        """The level of one language; the level of all where it was not measured."""
        return self.by_language.get(language, self)


class Embedder(Protocol):
    """Turns texts into unit vectors. `model`: names the vector space, also in the ledger; `dim`: 0 for `none`."""

    @property
    def model(self) -> str: ...

    @property
    def dim(self) -> int: ...

    @property
    def calibration(self) -> Calibration:
        """Known after `start`."""
        ...

    async def start(self) -> None:
        """Load or probe, and measure the calibration. Raises ModelUnavailable or ModelRefused with what to set."""
        ...

    async def passages(self, texts: Sequence[str]) -> list[Vector | None]:
        """Return one float32 [dim] of length 1 per text that will be searched for; None per text with embedder `none`.

        Input is cleaned (NUL, lone surrogates) and cut to the model's length. Raises ModelUnavailable, ModelRefused.
        """
        ...

    async def query(self, text: str) -> Vector | None:
        """Return the vector of a question, float32 [dim] of length 1; None with embedder `none`. Cached."""
        ...

    async def close(self) -> None:
        """Free threads and connections. Idempotent."""
        ...
