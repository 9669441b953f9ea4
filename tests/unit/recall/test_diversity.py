"""The choice that compares only where it may matter is the choice that compares everything."""

from hypothesis import given
from hypothesis import strategies as st

from hindwise.recall.select import Scored, select
from tests.unit.recall.values import names, scored

WORDS = st.sets(st.sampled_from(["refund", "flight", "seat", "hotel", "退款", "机票", "座位", "酒店"]), min_size=1)


def _likeness(one: Scored, other: Scored) -> float:
    shared = len(one.words & other.words)
    return shared / (len(one.words) + len(other.words) - shared)


def _naive(items: list[Scored], limit: int) -> set[str]:
    waiting = sorted(items, key=lambda item: (-item.parts.score, item.memory.id))
    taken: list[Scored] = []
    while waiting and len(taken) < limit:
        alike = {item.memory.id: max((_likeness(item, other) for other in taken), default=0.0) for item in waiting}
        best = max(waiting, key=lambda item: (1 - 0.3) * item.parts.score - 0.3 * alike[item.memory.id])
        waiting.remove(best)
        taken.append(best)
    return set(names(taken))


@given(st.lists(st.tuples(st.integers(0, 20), WORDS), max_size=14), st.integers(1, 8))
def test_the_choice_is_the_greedy_one(drawn: list[tuple[int, set[str]]], limit: int) -> None:
    items = [scored(f"m{at}", number / 20, " ".join(sorted(words))) for at, (number, words) in enumerate(drawn)]
    assert set(names(select(items, limit))) == _naive(items, limit)
