"""Which recalls were overtaken by an erasure: answered before it, still to be logged after it. Of them nothing is kept."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection

from hindwise.ledger import erasures, spaces
from hindwise.model.space import user_space


class Answered(NamedTuple):
    """A row of the log, and the number of its user's space when it was answered; 0 where there was none."""

    row: dict[str, Any]
    space_no: int


def standing(conn: Connection, secret: bytes, answered: Sequence[Answered]) -> list[dict[str, Any]]:
    """Return the rows that may be logged, and hold off erasures of their users until the transaction ends.

    Numbers of spaces are never given twice, so another one tells of an erasure. Whose user had no space then is logged unless the user
    was erased at that time: nothing was told from one, so little is lost where clocks differ.
    """
    kept = [one.row for one in answered if not one.row["user_id"]]
    by_tenant: dict[str, list[Answered]] = {}
    for one in answered:
        if one.row["user_id"]:
            by_tenant.setdefault(one.row["tenant_id"], []).append(one)
    for tenant, theirs in sorted(by_tenant.items()):
        now = spaces.hold(conn, tenant, sorted({user_space(one.row["user_id"]) for one in theirs}))
        kept += [one.row for one in theirs if one.space_no and now.get(user_space(one.row["user_id"])) == one.space_no]
        if unknown := [one.row for one in theirs if not one.space_no]:
            hashes = {row["user_id"]: erasures.hash_of(secret, tenant, row["user_id"]) for row in unknown}
            erased = erasures.lately(conn, list(hashes.values()), min(row["at"] for row in unknown))
            kept += [row for row in unknown if hashes[row["user_id"]] not in erased]
    return kept
