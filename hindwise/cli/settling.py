"""How does a process that serves for days collect garbage? Not through what it imported and opened, and not every few milliseconds."""

import contextlib
import gc
from collections.abc import Iterator

_YOUNG, _MIDDLE, _OLD = 10_000, 20, 20
"""Python's own 700 makes the collector look every few milliseconds of work, for cycles that hardly anything of ours leaves behind."""


def settle() -> None:
    """Take what a role imported and opened out of the garbage collector's rounds: it stays to the end, and walking over it again and
    again takes a tenth of the processor time. What comes later is collected as ever.
    """
    if gc.get_freeze_count():
        return  # a worker that came back after an outage
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, _MIDDLE, _OLD)


@contextlib.contextmanager
def loading() -> Iterator[None]:
    """While a role's modules are read the collector stays away: all of them are kept, and it takes a twelfth of the start."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
