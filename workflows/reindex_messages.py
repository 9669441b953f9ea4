"""The messages of a reindex: numbers of generations, counts and causes."""

from workflows.message import Message


class ReindexInput(Message):
    """Starts the build of one generation of the index. `drain_s`: how long the one before still gets every change after the switch."""

    generation: int
    queue_prefix: str = "hindwise"
    search_attributes: bool = True
    drain_s: float = 30.0


class GenerationInput(Message):
    """Activities that need only the generation: reindex_begin, reindex_compare, reindex_settle, reindex_drop."""

    generation: int


class ReindexBegun(Message):
    """`gone`: given up; `serves`: switched already. `total`: memories to write."""

    gone: bool = False
    serves: bool = False
    total: int = 0


class FillInput(Message):
    """Activity `reindex_fill`: write on from where the ledger says it came. `again`: from the beginning."""

    generation: int
    again: bool = False


class FillResult(Message):
    """`end`: everything is written; `gone`: given up. `done` of `total` memories so far."""

    gone: bool = False
    end: bool = False
    done: int = 0
    total: int = 0


class CheckInput(Message):
    """Activity `reindex_check`: hold spaces above `cursor` against the ledger, id by id."""

    generation: int
    cursor: int = 0


class CheckResult(Message):
    """`missing`: memories that the new index lacks; `removed`: what it held too much, taken out."""

    spaces: int = 0
    memories: int = 0
    missing: int = 0
    removed: int = 0
    cursor: int = 0
    end: bool = True


class CompareResult(Message):
    """Questions asked of both. `same`: with the same first five; `alike`: made alike, so they should all be; `told`: could be asked."""

    asked: int = 0
    same: int = 0
    overlap: float = 0.0
    alike: bool = False
    told: bool = True


class SwitchInput(Message):
    """Activity `reindex_switch`: let it serve. The counts are kept beside it."""

    generation: int
    checked: CheckResult = CheckResult()
    compared: CompareResult = CompareResult()


class SwitchResult(Message):
    """`gone`: it was given up, nothing was switched."""

    gone: bool = False


class ReindexParkInput(Message):
    """Activity `reindex_park`: the ledger shows that a person is needed."""

    generation: int
    cause: str
    detail: str = ""


class ReindexReport(Message):
    """What a build returns. status: switched or abandoned."""

    status: str
    generation: int
    memories: int = 0
    removed: int = 0
    asked: int = 0
    same: int = 0
    overlap: float = 0.0
