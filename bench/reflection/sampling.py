"""Halves that never change, and intervals that say how little a hundred examples prove."""

import hashlib
import math
import os
from pathlib import Path
from typing import Literal

Half = Literal["dev", "report"]


def half_of(key: str) -> Half:
    """`dev`: rules are chosen on it. `report`: only measured. By a hash of the example's id, so that nobody can choose."""
    return "dev" if hashlib.sha256(key.encode()).digest()[-1] % 2 == 0 else "report"


def interval(hits: int, total: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson); (0, 1) for no examples."""
    if not total:
        return 0.0, 1.0
    z, share = 1.96, hits / total
    middle = share + z * z / (2 * total)
    spread = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    return max(0.0, (middle - spread) / (1 + z * z / total)), min(1.0, (middle + spread) / (1 + z * z / total))


def told(hits: int, total: int) -> str:
    """`31/40 0.78 [0.62, 0.88]`."""
    low, high = interval(hits, total)
    return f"{hits}/{total} {hits / max(1, total):.2f} [{low:.2f}, {high:.2f}]"


def eval_file(name: str) -> Path:
    """A file of the evaluation data: in HINDWISE_EVAL_DATA, by default `../shared/data` beside the repository."""
    default = Path(__file__).resolve().parents[3] / "shared" / "data"
    return Path(os.environ.get("HINDWISE_EVAL_DATA", default)) / name
