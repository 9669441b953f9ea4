"""By what is a memory weighed and chosen? By its numbers, not by its words: only what is told is read whole. Pure."""

from datetime import datetime
from typing import NamedTuple, Protocol

from hindwise.lifecycle.aging import Aging
from hindwise.model.memory import Kind, Status
from hindwise.model.turn import Origin


class Outlined(Aging, Protocol):
    """What scoring and choosing ask for; an `Outline` is one, and so is a whole `Memory`."""

    @property
    def id(self) -> str:
        """As of `Memory`."""

    @property
    def status(self) -> Status:
        """As of `Memory`."""

    @property
    def origin(self) -> Origin:
        """As of `Memory`."""

    @property
    def importance(self) -> int:
        """As of `Memory`."""

    @property
    def hits(self) -> int:
        """As of `Memory`."""


class Outline(NamedTuple):
    """A memory without its words; fields as of `Memory`."""

    id: str
    kind: Kind
    status: Status
    origin: Origin
    importance: int
    recorded_at: datetime
    last_recalled_at: datetime | None
    expires_at: datetime | None
    hits: int
    helpful: int
    pinned: bool
    confirmed_by: str
