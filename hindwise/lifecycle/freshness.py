"""The coarse copy of decay that upkeep stores for filters. Recall never uses it: it computes the exact value."""

from typing import Final

BANDS: Final = (1.0, 0.75, 0.5, 0.25, 0.1)
"""A decay in (0.75, 1] is stored as 1, one in (0.5, 0.75] as 0.75, and so on; 0.1 and less as 0.1."""


def band_of(decay: float) -> float:
    """Return the band of an exact decay (0..1): the smallest one that is not below it, so that what is new stays at 1."""
    return min((band for band in BANDS if band >= decay), default=1.0)
