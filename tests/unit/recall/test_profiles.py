"""The score is the sum of its parts, and a person can check it."""

from datetime import timedelta

import pytest

from hindwise.lifecycle.aging import AgingRules
from hindwise.model.brief import Profile
from hindwise.model.memory import Kind, Status
from hindwise.recall import profiles
from tests.unit.recall.values import NOW, memory


def parts_of(item, relevance=0.8):
    return profiles.score(
        Profile.BALANCED, item, AgingRules(), NOW, lexical=3.0, cosine=0.9, fused=1.2, relevance=relevance, standing=False
    )


def test_the_parts_add_up() -> None:
    parts = parts_of(memory(importance=6, hits=5))
    assert parts.score == pytest.approx(0.5 * 0.8 + 0.3 * 0.6 + 0.2 * 0.5)
    assert (parts.relevance, parts.importance, parts.decay, parts.hits) == (0.8, 0.6, 1.0, 0.5)


def test_an_old_lesson_weighs_less_and_an_old_preference_does_not() -> None:
    old = NOW - timedelta(days=90)
    assert parts_of(memory(recorded_at=old)).decay == pytest.approx(0.5)
    assert parts_of(memory(kind=Kind.PREFERENCE, recorded_at=old)).decay == 1.0


def test_what_awaits_a_person_counts_half_in_the_preselection_too() -> None:
    assert parts_of(memory(status=Status.PENDING)).score == pytest.approx(parts_of(memory()).score / 2)
    assert profiles.at_most(0.8, 6, 2, pending=True) == pytest.approx(profiles.at_most(0.8, 6, 2) / 2)


def test_no_score_exceeds_what_the_preselection_expects_of_it() -> None:
    for hits in (0, 3, 50):
        for days in (0, 40):
            item = memory(importance=9, hits=hits, recorded_at=NOW - timedelta(days=days))
            assert parts_of(item).score <= profiles.at_most(0.8, 9, hits) + 1e-6
