"""The side effects that workflows ask for, one file per step. Each is idempotent: ids derive, and what is stored is found again."""

from collections.abc import Mapping
from functools import partial

from activities.archive import archive
from activities.capture import capture
from activities.close_idle import close_idle
from activities.compare_index import compare_index
from activities.credit import credit
from activities.decay import decay
from activities.erase_begin import erase_begin
from activities.erase_check import erase_check
from activities.erase_open import erase_open
from activities.erase_park import erase_park
from activities.erase_wipe import erase_wipe
from activities.expire import expire
from activities.finish import finish
from activities.gather import gather
from activities.ground import ground
from activities.index import index
from activities.park import park
from activities.purge_turns import purge_turns
from activities.reflect import reflect
from activities.reindex import (
    reindex_begin,
    reindex_check,
    reindex_compare,
    reindex_drop,
    reindex_fill,
    reindex_park,
    reindex_settle,
    reindex_switch,
)
from activities.resolve import resolve
from activities.reverify import reverify
from activities.step import Activity, Step, as_activity
from activities.sweep_outbox import sweep_outbox
from hindwise.engine import Engine
from hindwise.reflect.base import Reflector

STEPS: Mapping[str, Step] = {
    "capture": capture,
    "close_idle": close_idle,
    "gather": gather,
    "ground": ground,
    "resolve": resolve,
    "index": index,
    "credit": credit,
    "finish": finish,
    "park": park,
    "erase_begin": erase_begin,
    "erase_open": erase_open,
    "erase_wipe": erase_wipe,
    "erase_check": erase_check,
    "erase_park": erase_park,
    "decay": decay,
    "expire": expire,
    "archive": archive,
    "reverify": reverify,
    "sweep_outbox": sweep_outbox,
    "purge_turns": purge_turns,
    "compare_index": compare_index,
    "reindex_begin": reindex_begin,
    "reindex_fill": reindex_fill,
    "reindex_check": reindex_check,
    "reindex_compare": reindex_compare,
    "reindex_switch": reindex_switch,
    "reindex_settle": reindex_settle,
    "reindex_park": reindex_park,
    "reindex_drop": reindex_drop,
}
"""By the name in the contracts; `reflect` joins them, bound to its reflectors."""


def all_activities(engine: Engine, reflectors: Mapping[str, Reflector]) -> list[Activity]:
    """Return every activity, bound to the engine and to the reflectors by name (rules, llm)."""
    steps: dict[str, Step] = {**STEPS, "reflect": partial(reflect, reflectors=reflectors)}
    return [as_activity(name, work, engine) for name, work in steps.items()]
