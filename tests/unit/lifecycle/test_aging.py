"""How a memory ages."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindwise.lifecycle.aging import AgingRules, decay, due_dates, is_archivable, is_expired
from tests.build import NOON, make_memory

RULES = AgingRules()
DAY = timedelta(days=1)


def test_a_lesson_counts_half_after_ninety_days_and_an_event_after_thirty():
    assert decay(make_memory("x", kind="lesson"), RULES, NOON + 90 * DAY) == pytest.approx(0.5)
    assert decay(make_memory("x", kind="event"), RULES, NOON + 30 * DAY) == pytest.approx(0.5)


@pytest.mark.parametrize("kind", ["fact", "preference", "instruction"])
def test_what_is_true_until_superseded_does_not_fade(kind):
    assert decay(make_memory("x", kind=kind), RULES, NOON + 3000 * DAY) == 1.0


@given(st.integers(0, 4000), st.integers(0, 4000), st.integers(0, 12))
def test_decay_falls_with_age_and_never_rises_above_one(one, other, helpful):
    memory = make_memory("x", kind="lesson", helpful=helpful)
    young, old = sorted((one, other))
    assert 0.0 <= decay(memory, RULES, NOON + old * DAY) <= decay(memory, RULES, NOON + young * DAY) <= 1.0


@given(st.integers(1, 4000), st.integers(0, 11))
def test_confirmed_use_slows_fading(days, helpful):
    less = make_memory("x", kind="lesson", helpful=helpful)
    more = make_memory("x", kind="lesson", helpful=helpful + 1)
    assert decay(more, RULES, NOON + days * DAY) >= decay(less, RULES, NOON + days * DAY)


def test_a_clock_that_runs_behind_does_not_make_a_memory_stronger():
    assert decay(make_memory("x", kind="lesson"), RULES, NOON - 5 * DAY) == 1.0


def test_mere_recall_does_not_keep_a_memory_young():
    recalled = make_memory("x", kind="lesson", last_recalled_at=NOON + 80 * DAY)
    assert decay(recalled, RULES, NOON + 90 * DAY) == pytest.approx(0.5)


def test_due_dates_by_kind():
    assert due_dates(make_memory("x", kind="event"), RULES).expires_at == NOON + 30 * DAY
    assert due_dates(make_memory("x", kind="fact"), RULES).expires_at == NOON + 365 * DAY
    assert due_dates(make_memory("x", kind="lesson"), RULES).expires_at is None
    assert due_dates(make_memory("x", kind="fact", pinned=True), RULES).expires_at is None
    assert due_dates(make_memory("x", kind="fact", confirmed_by="anna"), RULES).review_at is None


def test_pinned_and_confirmed_memories_do_not_expire():
    late = {"expires_at": NOON - DAY}
    assert is_expired(make_memory("x", **late), NOON)
    assert not is_expired(make_memory("x", pinned=True, **late), NOON)
    assert not is_expired(make_memory("x", confirmed_by="anna", **late), NOON)


def test_what_was_not_recalled_for_half_a_year_is_archived():
    memory = make_memory("x", kind="lesson")
    assert not is_archivable(memory, RULES, NOON + 179 * DAY)
    assert is_archivable(memory, RULES, NOON + 180 * DAY)
    assert not is_archivable(memory.model_copy(update={"last_recalled_at": NOON + DAY}), RULES, NOON + 180 * DAY)
