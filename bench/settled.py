"""Collect garbage as the API and the worker do once they serve, in a bench that stands in for them: also for what it is held against."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from hindwise.cli.settling import settle


@contextmanager
def settled() -> Iterator[None]:
    """Within it what was filled and opened before is passed over, and the collector comes as often as in a role."""
    before = gc.get_threshold()
    settle()
    try:
        yield
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)
