"""The messages of an erasure: receipts, handles and counts. Whom it is about stands in the ledger alone."""

from workflows.message import Message


class EraseInput(Message):
    """Starts the erasure of a user; `erasure_id`: its receipt in the ledger, which alone knows whom it is about."""

    erasure_id: str
    tenant_hash: str = ""
    space_hash: str = ""
    queue_prefix: str = "hindwise"
    search_attributes: bool = True
    """False where the namespace does not have them registered."""
    after_session: str = ""
    after_reflection: str = ""
    cancelled: int = 0
    """How far an earlier run came in stopping what runs for the user."""


class EraseStep(Message):
    """Activities that need only the receipt: erase_begin, erase_wipe, erase_check."""

    erasure_id: str


class EraseOpenInput(Message):
    """Activity `erase_open`: name a page of what runs for the user, above these."""

    erasure_id: str
    after_session: str = ""
    after_reflection: str = ""


class EraseOpenResult(Message):
    """Handles of sessions and ids of reflections that may have an open workflow, in order; `more`: ask again with the last ones."""

    sessions: tuple[str, ...] = ()
    reflections: tuple[str, ...] = ()
    more: bool = False


class EraseResult(Message):
    """What is gone so far: rows of the ledger, objects of all indexes. `shared_lessons_kept`: they stand on no other user's task."""

    rows: int = 0
    objects: int = 0
    shared_lessons_kept: int = 0


class EraseParkInput(Message):
    """Activity `erase_park`: the receipt shows why the erasure cannot go on at present. `cause`: failure type; `step`: where."""

    erasure_id: str
    step: str
    cause: str
    detail: str = ""
    """From `hindwise/errors.py`, which never quotes a caller."""


class EraseReport(Message):
    """What an erasure returns, for people who look at it in Temporal; the ledger holds the receipt."""

    status: str
    """completed, or unknown where there is no such receipt."""
    rows: int = 0
    objects: int = 0
    shared_lessons_kept: int = 0
    cancelled: int = 0
    """Open workflows of the user that were asked to stop."""
