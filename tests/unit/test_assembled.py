"""A model made of values that are known to be right is as one that was validated, and a change of a copy stays with the copy."""

from datetime import UTC, datetime

from hindwise.model.assembled import assembled
from hindwise.model.memory import Kind, Memory, Retrospective

GIVEN = Memory(
    id="one",
    tenant_id="default",
    space="user:ann",
    kind=Kind.FACT,
    conclusion="Ann lives in Lyon 安住在里昂",
    valid_from=datetime(2026, 1, 1, tzinfo=UTC),
    recorded_at=datetime(2026, 1, 1, tzinfo=UTC),
)


def test_equals_a_validated_one() -> None:
    made = assembled(Memory, dict(GIVEN))
    assert made == GIVEN
    assert made.model_dump() == GIVEN.model_dump()
    assert made.model_fields_set == set(Memory.model_fields)


def test_a_changed_copy_changes_no_other() -> None:
    first, second = assembled(Memory, dict(GIVEN)), assembled(Memory, dict(GIVEN))
    changed = first.model_copy(update={"conclusion": "Ann lives in Paris 安住在巴黎", "unheard_of": 1})
    assert (changed.conclusion, first.conclusion) == ("Ann lives in Paris 安住在巴黎", GIVEN.conclusion)
    assert "unheard_of" in changed.model_fields_set
    assert first.model_fields_set == second.model_fields_set == set(Memory.model_fields)
    assert assembled(Retrospective, dict(Retrospective())).model_fields_set == set(Retrospective.model_fields)
