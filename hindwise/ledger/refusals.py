"""What was refused: told for one reflection, with every attempt, and counted by rule over all of them.

The counts are written in the transaction that keeps the refusal, once, so a step that is repeated counts nothing twice, and without
waiting for any other (`tallies`). An erasure takes drafts away and leaves the counts: they say which rule, and nothing of whom.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, Row, bindparam, func, select

from hindwise.ledger import tallies
from hindwise.ledger.schema import drafts, refusals
from hindwise.model.reflection import Rejected
from hindwise.model.refusal import Refused
from hindwise.safety.contacts import NO_CONTACTS, Contacts
from hindwise.safety.masking import mask

FORM = "form"
"""Rule of an answer that has not the agreed form, and is refused as a whole."""
OWNER = "owner"
"""Rule of a draft that nobody would own; found where drafts are settled, not where they are judged."""

_ATTEMPTS = (
    select(drafts.c.attempt, drafts.c.written_by, drafts.c.unusable, drafts.c.grounded)
    .where(drafts.c.reflection_id == bindparam("reflection"))
    .order_by(drafts.c.attempt)
)


def count(conn: Connection, rules: Iterable[str]) -> None:
    """Add one for each name."""
    for rule, number in Counter(rules).items():
        tallies.add(conn, refusals, rule, {"number": number})


def counted(conn: Connection) -> dict[str, int]:
    """How often each rule refused, since the ledger began."""
    query = select(refusals.c.rule, func.sum(refusals.c.number)).group_by(refusals.c.rule)
    return {rule: int(number) for rule, number in conn.execute(query)}


def of_reflection(conn: Connection, row: Row[Any], contacts: Contacts = NO_CONTACTS) -> list[Refused]:
    """Return all that was refused in one reflection, in order: answers before a re-ask too, then what had no owner.

    row: the bare row of the reflection; contacts: what is masked of drafts that were stored before the setting.
    """
    told: list[Refused] = []
    for attempt in conn.execute(_ATTEMPTS, {"reflection": row.id}):
        by = {"attempt": attempt.attempt, "written_by": attempt.written_by, "contacts": contacts}
        if attempt.unusable:
            told.append(Refused(attempt=attempt.attempt, written_by=attempt.written_by, rule=FORM, reason=attempt.unusable))
        told += [as_told(Rejected(**item), **by) for item in (attempt.grounded or {}).get("rejected", [])]
    ownerless = (Rejected(**item) for item in row.rejected if item["rule"] == OWNER)
    return told + [as_told(item, attempt=0, written_by=row.written_by, contacts=contacts) for item in ownerless]


def as_told(item: Rejected, *, attempt: int, written_by: str, contacts: Contacts = NO_CONTACTS) -> Refused:
    """Return a rejected draft as people are told of it: its kind and conclusion, with secrets and `contacts` masked."""
    draft = item.draft
    return Refused(
        attempt=attempt,
        written_by=written_by,
        rule=item.rule,
        reason=mask(item.reason, contacts).text,
        kind=draft.kind,
        conclusion=mask(draft.conclusion, contacts).text,
    )
