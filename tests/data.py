"""Where the evaluation data lies. Tests that read it skip visibly where it is absent; nothing of it is copied here."""

import os
from pathlib import Path

import pytest

_DEFAULT = Path(__file__).resolve().parents[2] / "shared" / "data"


def eval_data(name: str) -> Path:
    """Return the path of an evaluation file. Skips the test where the data is not there."""
    path = Path(os.environ.get("HINDWISE_EVAL_DATA", _DEFAULT)) / name
    if not path.exists():
        pytest.skip(f"{name}: no evaluation data; set HINDWISE_EVAL_DATA to the folder that holds it")
    return path
