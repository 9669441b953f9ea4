"""What is told of what was found."""

import random

from hindwise.model.memory import Kind
from hindwise.model.turn import Origin
from hindwise.recall.select import select
from tests.unit.recall.values import names, scored


def test_the_best_come_first_and_no_more_than_asked_for() -> None:
    assert names(select([scored(f"m{n}", n / 100) for n in range(20)], 5)) == ["m19", "m18", "m17", "m16", "m15"]


def test_one_slot_tells_one_value() -> None:
    items = [scored("new", 0.9, slot="s"), scored("old", 0.8, slot="s"), scored("other", 0.1)]
    assert names(select(items, 8)) == ["new", "other"]


def test_what_was_said_already_gives_way_to_something_else() -> None:
    items = [
        scored("first", 0.60, words="cancel flight refund fare"),
        scored("echo", 0.59, words="cancel flight refund fare"),
        scored("else", 0.50, words="bags gold member"),
    ]
    assert names(select(items, 2)) == ["first", "else"]


def test_of_one_page_or_tool_two_items_are_told() -> None:
    items = [scored(f"w{n}", 0.9, origin=Origin.WEB) for n in range(5)] + [scored("t", 0.2, origin=Origin.TOOL), scored("u", 0.1)]
    chosen = select(items, 8)
    assert sum(item.memory.origin is Origin.WEB for item in chosen) == 2
    assert {"t", "u"} <= set(names(chosen))


def test_standing_items_take_three_of_eight_places_and_their_places_are_kept() -> None:
    relevant = [scored(f"r{n}", 0.9) for n in range(10)]
    standing = [scored(f"s{n}", 0.2, relevant=False, kind=Kind.INSTRUCTION, importance=n + 1) for n in range(6)]
    chosen = select(relevant + standing, 8)
    assert len(chosen) == 8
    assert sorted(name for name in names(chosen) if name.startswith("s")) == ["s3", "s4", "s5"], "the most important"


def test_a_standing_order_whose_scope_is_asked_about_comes_before_others() -> None:
    items = [scored(f"s{n}", 0.3, relevant=False, importance=9) for n in range(3)]
    items.append(scored("scoped", 0.2, relevant=False, scope=1.0, importance=2))
    assert "scoped" in names(select(items, 8))


def test_standing_items_alone_do_not_fill_a_brief() -> None:
    assert len(select([scored(f"s{n}", 0.3, relevant=False) for n in range(9)], 8)) == 3


def test_the_order_does_not_depend_on_the_order_of_arrival() -> None:
    items = [scored(f"m{n}", 0.5) for n in range(12)] + [scored(f"s{n}", 0.5, relevant=False) for n in range(4)]
    expected = names(select(items, 10))
    for seed in range(20):
        shuffled = items[:]
        random.Random(seed).shuffle(shuffled)
        assert names(select(shuffled, 10)) == expected
