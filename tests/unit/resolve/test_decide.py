"""How a draft meets what is known."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindwise.model.memory import Status
from hindwise.resolve.decide import decide
from hindwise.resolve.slots import same_value, slot_key
from tests.build import NOON, make_draft, make_memory

DAY = timedelta(days=1)


def head(value, **fields):
    return make_memory(value, head=True, **fields)


@pytest.mark.parametrize(("old", "new"), [("window seats", "aisle seats"), ("靠窗", "靠过道")])
def test_a_later_value_supersedes_the_head(old, new):
    known = head(old)
    plan = decide(make_draft(new), NOON + DAY, [known], [])
    assert (plan.action, plan.target, plan.version) == ("supersede", known.id, 2)
    assert old in plan.reason
    assert new in plan.reason


@pytest.mark.parametrize(("old", "new"), [("5 days", "five days"), ("五天", "5 天"), ("Window Seats", "window seats")])
def test_the_same_value_in_other_words_agrees(old, new):
    assert decide(make_draft(new), NOON + DAY, [head(old)], []).action == "agree"


@pytest.mark.parametrize(("old", "new"), [("5 days", "6 days"), ("room 101", "room 102"), ("喜欢咖啡", "不喜欢咖啡")])
def test_numbers_and_negation_never_merge(old, new):
    assert not same_value(make_draft(new), head(old))


@pytest.mark.parametrize(
    ("old", "new", "value"),
    [
        ("Prefers window seats near row 9", "Prefers window seats near row 20", "window"),
        ("喜欢靠窗的座位", "喜欢靠窗的座位，第20排", "靠窗"),
    ],
)
def test_a_number_outside_the_value_is_not_lost(old, new, value):
    known = make_memory(old, value=value, head=True)
    plan = decide(make_draft(new, value=value), NOON + DAY, [known], [])
    assert plan.action == "supersede"


def test_an_older_fact_that_arrives_late_never_closes_a_newer_one():
    plan = decide(make_draft("aisle seats"), NOON - DAY, [head("window seats")], [])
    assert (plan.action, plan.successor) == ("late", "m1")


def test_a_late_fact_lands_before_the_version_that_followed_it():
    first = make_memory("A", id="m1", status=Status.SUPERSEDED, valid_from=NOON, version=1)
    second = make_memory("B", id="m2", head=True, valid_from=NOON + 10 * DAY, version=2)
    assert decide(make_draft("C"), NOON + 5 * DAY, [first, second], []).successor == "m2"
    assert decide(make_draft("C"), NOON - 5 * DAY, [first, second], []).successor == "m1"


def test_a_retraction_closes_the_head_and_says_that_it_was_never_true():
    plan = decide(make_draft("vegetarian", value="", retracts=True), NOON + DAY, [head("vegetarian")], [])
    assert (plan.action, plan.target) == ("retract", "m1")
    assert "never true" in plan.reason


@pytest.mark.parametrize("draft", [make_draft("vegan"), make_draft("vegetarian", value="", retracts=True), make_draft("纯素")])
def test_a_draft_that_awaits_a_person_never_closes_an_active_head(draft):
    plan = decide(draft, NOON + DAY, [head("vegetarian")], [], sure=False)
    assert plan.action in {"add", "complementary"}
    assert "not sure enough" in plan.reason


def test_an_empty_slot_takes_the_draft():
    assert decide(make_draft("window"), NOON, [], []).action == "add"


def test_another_scope_is_another_slot():
    assert slot_key(make_draft("aisle", scope="business trips")) != slot_key(make_draft("aisle"))


def test_a_standing_order_meets_the_preference_it_replaces():
    assert slot_key(make_draft("aisle", kind="instruction")) == slot_key(make_draft("window", kind="preference"))
    assert slot_key(make_draft("aisle", kind="fact")) != slot_key(make_draft("window", kind="preference"))


def test_lessons_have_no_slot_and_meet_their_like():
    known = make_memory("When X, do Y", kind="lesson")
    assert slot_key(known) is None
    assert decide(make_draft("When X, do Y", kind="lesson"), NOON, [], [known]).action == "agree"
    assert decide(make_draft("When X, do Z", kind="lesson"), NOON, [], []).action == "add"


def said_again(memory, at):
    return memory.model_copy(update={"said_at": max(at, memory.said_at or memory.valid_from)})


@given(st.lists(st.tuples(st.integers(0, 20), st.sampled_from(["a", "b", "c"])), min_size=1, max_size=12))
def test_whatever_the_order_of_arrival_the_newest_value_ends_as_head(facts):
    """Facts with distinct times, told in any order: the head is the one that is valid last."""
    distinct = list({day: (day, value) for day, value in facts}.values())
    kept = []
    for number, (day, value) in enumerate(distinct):
        plan = decide(make_draft(value), NOON + day * DAY, kept, [])
        assert plan.action in {"add", "agree", "supersede", "late"}
        if plan.action == "agree":
            kept = [said_again(m, NOON + day * DAY) if m.id == plan.target else m for m in kept]
            continue
        kept = [m.model_copy(update={"head": False, "status": Status.SUPERSEDED}) if m.id == plan.target else m for m in kept]
        status = Status.SUPERSEDED if plan.action == "late" else Status.ACTIVE
        kept.append(make_memory(value, id=f"m{number}", head=status is Status.ACTIVE, status=status, valid_from=NOON + day * DAY))
    heads = [m for m in kept if m.head]
    assert len(heads) == 1
    assert heads[0].value == max(distinct)[1]


@pytest.mark.parametrize(("old", "new"), [("window seats", "aisle seats"), ("靠窗", "靠过道")])
def test_what_a_clock_wrote_that_was_set_back_since_is_overtaken(old, new):
    ahead = NOON + 400 * DAY
    known = head(old, valid_from=ahead, said_at=ahead, recorded_at=ahead)
    assert decide(make_draft(new), NOON, [known], [], now=NOON).action == "supersede"
    apart = head(old, valid_from=NOON + timedelta(seconds=5), recorded_at=NOON + timedelta(seconds=5))
    assert decide(make_draft(new), NOON, [apart], [], now=NOON).action == "late", "machines are never quite of one time"


@pytest.mark.parametrize(("old", "new"), [("window seats", "aisle seats"), ("靠窗", "靠过道")])
def test_what_was_only_said_again_under_such_a_clock_is_overtaken_too(old, new):
    known = head(old, valid_from=NOON - DAY, recorded_at=NOON - DAY, said_at=NOON + 400 * DAY)
    assert decide(make_draft(new), NOON, [known], [], now=NOON).action == "supersede"
    announced = head(old, valid_from=NOON + 30 * DAY, recorded_at=NOON - DAY, said_at=NOON + 40 * DAY)
    assert decide(make_draft(new), NOON, [announced], [], now=NOON).action == "late", "what begins later was told by a clock that is right"
