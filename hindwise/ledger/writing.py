"""Who changes memories in a transaction, when, and what of it must the index learn?"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from hindwise.ledger import memory_changes as changes
from hindwise.ledger import outbox, spaces
from hindwise.model.memory import Memory, Status


@dataclass(slots=True)
class Writing:
    """One writer's changes in one transaction of the caller's, whose spaces are locked. In the end `mark` tells the index of them."""

    conn: Connection
    actor: str
    now: datetime
    _touched: dict[int, set[str]] = field(default_factory=dict)

    def add(self, memory: Memory, space_no: int, why: str) -> None:
        """Keep a new memory."""
        changes.insert_memory(self.conn, space_no, memory, actor=self.actor, why=why)
        self.touch(space_no, memory.id)

    def change(self, memory: Memory, space_no: int, action: str, why: str, **values: Any) -> None:
        """Change lifecycle columns, with an event."""
        changes.change(self.conn, memory, actor=self.actor, action=action, why=why, at=self.now, **values)
        self.touch(space_no, memory.id)

    def close(self, memory: Memory, space_no: int, status: Status, why: str, *, superseded_by: str, valid_to: datetime) -> None:
        """It holds no longer."""
        closed = {"status": status, "head": False, "valid_to": valid_to, "closed_at": self.now}
        self.change(memory, space_no, str(status), why, **closed, close_reason=why[:500], superseded_by=superseded_by)

    def link(self, from_id: str, to_id: str, kind: str, why: str) -> None:
        """Tie two memories."""
        changes.link(self.conn, from_id, to_id, kind, why, self.now)

    def touch(self, space_no: int, memory_id: str) -> None:
        """The index must learn of it."""
        self._touched.setdefault(space_no, set()).add(memory_id)

    def mark(self) -> None:
        """Put all that was touched into the outbox."""
        for space_no, ids in self._touched.items():
            outbox.mark_dirty(self.conn, space_no, sorted(ids), spaces.bump(self.conn, space_no), self.now)
