"""No vectors: words alone find memories. For machines without the local model and without an endpoint."""

from collections.abc import Sequence

from hindwise.embed.base import Calibration, Vector


class NoEmbedder:
    """Implements `Embedder` with None for every vector."""

    model = "none"
    dim = 0
    calibration = Calibration(mean=0.0, std=1.0)
    """Never used: there is no cosine to calibrate."""

    async def start(self) -> None:
        """Nothing to load."""

    async def passages(self, texts: Sequence[str]) -> list[Vector | None]:
        """Return None per text."""
        return [None for _ in texts]

    async def query(self, text: str) -> Vector | None:
        """Return None."""
        return None

    async def close(self) -> None:
        """Nothing to free."""
