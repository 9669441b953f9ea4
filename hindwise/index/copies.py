"""Every index that may hold something of a memory: what is erased must be gone from all of them, and from their logs."""

from collections.abc import Mapping

from hindwise.index.base import Index, LoggedIndex
from hindwise.index.live import LiveIndex
from hindwise.ledger import generations
from hindwise.ledger.engine import Ledger


async def copies(ledger: Ledger, index: Index) -> Mapping[str, Index]:
    """Return them by the name that a receipt gives them: live, being built, kept from before. They are closed by whoever holds `index`.

    Raises IndexUnavailable where one cannot be opened, LedgerUnavailable.
    """
    if not isinstance(index, LiveIndex):
        return {"index": index}
    return {f"{row.kind} {row.no}": await index.opened(row) for row in await ledger.read(generations.kept)}


async def empty_logs(found: Mapping[str, Index]) -> str:
    """Cut the logs that indexes keep beside their files; return the name of one that a reader at work prevented, "" for none.

    Raises IndexUnavailable.
    """
    for name, index in found.items():
        if isinstance(index, LoggedIndex) and not await index.empty_log():
            return name
    return ""
