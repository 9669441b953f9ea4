"""Temporal's core may still call into an interpreter that is ending: let it come to rest after the last test."""

import gc
import time
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def _come_to_rest() -> Iterator[None]:
    yield
    gc.collect()
    time.sleep(0.5)
