"""What did a reflector answer, and what did the validators say of it? Each answer is kept once and whole, judged once, counted by rule."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, null, select, update

from hindwise.errors import NotFound
from hindwise.ledger import refusals
from hindwise.ledger.databases import insert_new
from hindwise.ledger.direct import Direct
from hindwise.ledger.schema import drafts
from hindwise.model.memory import Draft
from hindwise.model.reflection import Answer, Complaint, Rejected

_IN_ORDER = select(drafts).where(drafts.c.reflection_id == bindparam("reflection")).order_by(drafts.c.attempt)
_JUDGED = Direct(
    select(drafts.c.grounded).where(drafts.c.reflection_id == bindparam("reflection"), drafts.c.attempt == bindparam("number"))
)
_ALL, _ONE = Direct(_IN_ORDER), Direct(_IN_ORDER.where(drafts.c.attempt == bindparam("number")))
_NOTHING_ELSE: Mapping[str, list[Any]] = {"rejected": [], "complaints": []}
_GROUNDED = Direct(
    update(drafts)
    .where(drafts.c.reflection_id == bindparam("reflection"), drafts.c.attempt == bindparam("number"), drafts.c.grounded.is_(null()))
    .values(grounded=bindparam("told", type_=drafts.c.grounded.type))
)
_WITHOUT_SECRETS = (
    update(drafts)
    .where(drafts.c.reflection_id == bindparam("reflection"), drafts.c.attempt == bindparam("number"))
    .values(answer=bindparam("told", type_=drafts.c.answer.type))
)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One answer of one reflector, as it was stored. `grounded`: None until the validators ran."""

    number: int
    reflector: str
    written_by: str
    answer: Answer
    unusable: str
    grounded: dict[str, Any] | None


def store(conn: Connection, reflection_id: str, attempt: Attempt, now: datetime) -> bool:
    """Keep an answer whole, once; a repeated step finds the first, and is told False."""
    row = {
        "reflection_id": reflection_id,
        "attempt": attempt.number,
        "reflector": attempt.reflector,
        "written_by": attempt.written_by,
        "answer": attempt.answer.model_dump(mode="json"),
        "unusable": attempt.unusable[:500],
        **({} if attempt.grounded is None else {"grounded": attempt.grounded}),
        "recorded_at": now,
    }
    is_new = bool(insert_new(conn, drafts, [row]).rowcount)
    if is_new and attempt.unusable:
        refusals.count(conn, [refusals.FORM])
    return is_new


def all_of(conn: Connection, reflection_id: str) -> list[Attempt]:
    """Return the stored answers in order."""
    return [_attempt(row) for row in _ALL.rows(conn, {"reflection": reflection_id})]


def get(conn: Connection, reflection_id: str, number: int) -> Attempt:
    """Return one stored answer. Raises NotFound."""
    row = _ONE.first(conn, {"reflection": reflection_id, "number": number})
    if row is None:
        raise NotFound(f"reflection {reflection_id} has no attempt {number}")
    return _attempt(row)


def judged(conn: Connection, reflection_id: str, number: int) -> dict[str, Any] | None:
    """Return what the validators said of a stored answer; None where they did not yet, or where there is no such answer."""
    found = _JUDGED.first(conn, {"reflection": reflection_id, "number": number})
    return found.grounded if found else None


def _attempt(row: Row[Any]) -> Attempt:
    return Attempt(row.attempt, row.reflector, row.written_by, Answer(**row.answer), row.unusable, row.grounded)


def grounded_whole(answer: Answer) -> dict[str, Any]:
    """What is kept of an answer of which everything was accepted."""
    return {"accepted": [[ordinal, draft.model_dump(mode="json")] for ordinal, draft in enumerate(answer.drafts)], **_NOTHING_ELSE}


def store_grounded(
    conn: Connection,
    reflection_id: str,
    attempt: int,
    *,
    accepted: Sequence[tuple[int, Draft]],
    rejected: Sequence[Rejected],
    complaints: Sequence[Complaint],
    without_secrets: Answer | None = None,
) -> None:
    """Keep what the validators said of an answer, once, and count it by rule; what was kept before stays.

    without_secrets: the answer as it is to be kept from now on, where something of it had to be masked.
    """
    grounded = {
        "accepted": [[ordinal, draft.model_dump(mode="json")] for ordinal, draft in accepted],
        "rejected": [item.model_dump(mode="json") for item in rejected],
        "complaints": [item.model_dump(mode="json") for item in complaints],
    }
    if not _GROUNDED.run(conn, {"reflection": reflection_id, "number": attempt, "told": grounded}):
        return
    if without_secrets is not None:
        told = without_secrets.model_dump(mode="json")
        conn.execute(_WITHOUT_SECRETS, {"reflection": reflection_id, "number": attempt, "told": told})
    refusals.count(conn, [*(item.rule for item in rejected), *(item.rule for item in complaints if item.ordinal is None)])
