"""How a workflow id is made: from our own ids and keyed hashes, never from a caller's string."""


def session_workflow(handle: str) -> str:
    """Id of a session's workflow; `handle` is the keyed hash of (tenant, session id)."""
    return f"session/{handle}"


def reflection_workflow(reflection_id: str) -> str:
    """Id of a reflection's workflow."""
    return f"reflect/{reflection_id}"


UPKEEP_SCHEDULE = "upkeep"
"""Id of the schedule; each pass gets its time appended."""
