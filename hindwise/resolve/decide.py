"""What becomes of a draft: agree, supersede, late, retract, or add beside what is there (DESIGN section 7).

Further classes (refine, scope-split, contradict) join here; the ledger only carries out what this returns.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from hindwise.model.memory import LIVE, Draft, Memory, Status
from hindwise.resolve.slots import same_value, slot_key

Action = Literal["add", "agree", "supersede", "late", "retract", "complementary"]

_CLOCKS_APART = timedelta(minutes=10)
"""So far the clocks of machines may differ. What was written later than that after now was written by a clock that was wrong then."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One decision.

    `target`: the memory agreed with or closed, or the head beside which it is added.
    `successor`: for a late one, the version that follows it.
    """

    action: Action
    reason: str
    target: str = ""
    successor: str = ""
    version: int = 1


def decide(
    draft: Draft, valid_from: datetime, slot: Sequence[Memory], alike: Sequence[Memory], *, sure: bool = True, now: datetime | None = None
) -> Plan:
    """Decide about one draft.

    valid_from: since when the draft holds in the world. now: lets a head be told that was written by a clock which was set back since.
    sure: False for a draft that awaits a person; it is kept beside an active head and never closes it.
    slot: every version kept in the draft's slot, any status; empty where it has none.
    alike: live items without a slot that have the same duplicate key.
    An older fact that arrives late never closes a newer one.
    """
    if draft.agrees_with:
        known = next((m for m in (*slot, *alike) if m.id == draft.agrees_with and m.status in LIVE), None)
        # Its words are the known item's: where that was closed or erased meanwhile they must not come back.
        return Plan("agree", "the reflector confirms it", target=known.id) if known else Plan("complementary", "what it confirms is closed")
    if slot_key(draft) is None:
        return Plan("agree", "the same was known", target=alike[0].id) if alike else Plan("add", "new")
    return _in_slot(draft, valid_from, slot, sure, now)


def _in_slot(draft: Draft, valid_from: datetime, slot: Sequence[Memory], sure: bool, now: datetime | None) -> Plan:
    version = max((m.version for m in slot), default=0) + 1
    head = next((m for m in slot if m.head), None)
    if not sure and head is not None and head.status is Status.ACTIVE and (draft.retracts or not same_value(draft, head)):
        return _unsure(draft, slot, head, version)
    if draft.retracts:
        return _retract(draft, head, version)
    if head is None:
        return Plan("add", "new in its slot", version=version)
    if same_value(draft, head):
        return Plan("agree", "the same value was known", target=head.id)
    if valid_from < _holds_from(head, now):
        return _late(draft, valid_from, slot, head, version)
    return Plan("supersede", f"changed: {brief_words(head)} -> {brief_words(draft)}", target=head.id, version=version)


def _holds_from(head: Memory, now: datetime | None) -> datetime:
    """From when on words overtake a head: since it began or was last said, but for what a clock says that was set back since."""
    latest = now + _CLOCKS_APART if now is not None else datetime.max.replace(tzinfo=UTC)
    if head.recorded_at > latest:
        return datetime.min.replace(tzinfo=UTC)
    return head.said_at if head.said_at and head.said_at <= latest else head.valid_from


def decide_in_quarantine(draft: Draft, slot: Sequence[Memory], alike: Sequence[Memory]) -> Plan:
    """Decide about a draft that may not be told: it agrees with its like, or is kept beside all else. It closes and takes back nothing."""
    if twin := next((m for m in (*slot, *alike) if m.status in {*LIVE, Status.QUARANTINED} and _is_twin(draft, m)), None):
        return Plan("agree", "the same was said before", target=twin.id)
    if draft.retracts or draft.agrees_with:
        return Plan("complementary", "words that are not believed take nothing back and confirm nothing")
    return Plan("add", "kept in quarantine", version=max((m.version for m in slot), default=0) + 1)


def _is_twin(draft: Draft, known: Memory) -> bool:
    return slot_key(draft) is None or same_value(draft, known)


def _unsure(draft: Draft, slot: Sequence[Memory], head: Memory, version: int) -> Plan:
    if draft.retracts and not draft.value:
        return Plan("complementary", f"not sure enough to take back: {brief_words(head)}")
    if twin := next((m for m in slot if m.status is Status.PENDING and same_value(draft, m)), None):
        return Plan("agree", "the same awaits a person", target=twin.id)
    return Plan("add", f"not sure enough to replace: {brief_words(head)}", target=head.id, version=version)


def _retract(draft: Draft, head: Memory | None, version: int) -> Plan:
    if head is None:
        return (
            Plan("add", "takes back what was not known", version=version) if draft.value else Plan("complementary", "nothing to take back")
        )
    return Plan("retract", f"taken back, it was never true: {brief_words(head)}", target=head.id, version=version)


def _late(draft: Draft, valid_from: datetime, slot: Sequence[Memory], head: Memory, version: int) -> Plan:
    kept = [m for m in slot if m.status in {Status.SUPERSEDED, *LIVE}]
    if twin := next((m for m in kept if same_value(draft, m) and m.valid_from <= valid_from), None):
        return Plan("agree", "an earlier value that was known", target=twin.id)
    later = min((m for m in kept if m.valid_from > valid_from), key=lambda m: (m.valid_from, m.version), default=head)
    return Plan("late", f"older than what is known: {brief_words(later)}", successor=later.id, version=version)


def brief_words(words: Draft | Memory) -> str:
    """How a memory is named in reasons: its value or conclusion, at most 60 characters. Erasure looks for exactly this."""
    text = words.value or words.conclusion
    return text if len(text) <= 60 else text[:59] + "…"
