"""How a workflow id is made: from our own ids and keyed hashes, never from a caller's string."""

DEFAULT_PREFIX = "hindwise"
"""Of the task queues. Under it ids are bare; another installation in the same namespace, which has another prefix, has it in its ids."""


def session_workflow(handle: str) -> str:
    """Id of a session's workflow; `handle` is the keyed hash of (tenant, session id), so installations do not meet in it."""
    return f"session/{handle}"


def reflection_workflow(reflection_id: str, queue_prefix: str = DEFAULT_PREFIX) -> str:
    """Id of a reflection's workflow."""
    return f"{_mine(queue_prefix)}reflect/{reflection_id}"


def erase_workflow(erasure_id: str, queue_prefix: str = DEFAULT_PREFIX) -> str:
    """Id of an erasure's workflow."""
    return f"{_mine(queue_prefix)}erase/{erasure_id}"


def upkeep_schedule(queue_prefix: str = DEFAULT_PREFIX) -> str:
    """Id of the schedule of upkeep; each pass gets its time appended."""
    return f"{_mine(queue_prefix)}upkeep"


def reindex_workflow(generation: int, queue_prefix: str = DEFAULT_PREFIX) -> str:
    """Id of the build of one generation of the index."""
    return f"{_mine(queue_prefix)}reindex/{generation}"


def _mine(queue_prefix: str) -> str:
    return "" if queue_prefix == DEFAULT_PREFIX else f"{queue_prefix}/"
