"""The interface of an embedder."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Calibration:
    """Mean and standard deviation of cosines between unrelated texts, measured on the embedder's background set."""

    mean: float
    std: float


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
