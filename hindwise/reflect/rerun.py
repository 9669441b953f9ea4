"""Two looks back over one episode, side by side: what the new one adds, says otherwise, and drops."""

from collections.abc import Sequence
from dataclasses import dataclass

from hindwise.ledger.resolution import Placement
from hindwise.model.memory import Draft, Kind, Memory
from hindwise.resolve.slots import duplicate_key, same_value, slot_key


@dataclass(frozen=True, slots=True)
class Compared:
    """`changed`: the memory as it stands and the draft in its place. `same`: how many say the same."""

    added: tuple[Draft, ...]
    changed: tuple[tuple[Memory, Draft], ...]
    dropped: tuple[Memory, ...]
    same: int


def compare(old: Sequence[Memory], new: Sequence[Placement]) -> Compared:
    """Pair what stands in one slot, and otherwise what has the same words; the event of the task is one, however it is worded.

    What a person vouched for is never dropped.
    """
    left = list(old)
    added: list[Draft] = []
    changed: list[tuple[Memory, Draft]] = []
    same = 0
    for placement in sorted(new, key=lambda placed: not any(_says_the_same(memory, placed) for memory in old)):
        draft = placement.draft
        if (twin := next((memory for memory in left if _says_the_same(memory, placement)), None)) is not None:
            same += 1
        elif (twin := next((memory for memory in left if _stands_there(memory, placement)), None)) is not None:
            changed.append((twin, draft))
        else:
            added.append(draft)
        if twin is not None:
            left.remove(twin)
    return Compared(tuple(added), tuple(changed), tuple(memory for memory in left if not memory.confirmed_by), same)


def _says_the_same(memory: Memory, placement: Placement) -> bool:
    draft = placement.draft
    if memory.space != placement.space or memory.kind is not draft.kind:
        return False
    key = slot_key(draft)
    return duplicate_key(draft) == duplicate_key(memory) if key is None else key == slot_key(memory) and same_value(draft, memory)


def _stands_there(memory: Memory, placement: Placement) -> bool:
    draft, key = placement.draft, slot_key(placement.draft)
    if memory.space != placement.space:
        return False
    return key == slot_key(memory) if key is not None else memory.kind is draft.kind is Kind.EVENT
