"""The wire: what workflows ask for is what activities offer, and nothing in it can carry a caller's words."""

import typing
from collections.abc import Iterator
from functools import partial

import pytest

from activities import STEPS
from activities.reflect import reflect
from workflows import policies
from workflows.contracts import ACTIVITIES, Message, SessionInput, SessionState
from workflows.plugin import PASSED_THROUGH, WORKFLOWS, sandbox

OFFERED = {**STEPS, "reflect": reflect}


def test_workflows_and_activities_name_the_same_set() -> None:
    """A step that one side does not know would wait for ever."""
    assert set(OFFERED) == set(ACTIVITIES)


@pytest.mark.parametrize("name", sorted(ACTIVITIES))
def test_both_sides_mean_the_same_types(name: str) -> None:
    """Input and result as in the contracts."""
    work = OFFERED[name]
    hints = typing.get_type_hints(work.func if isinstance(work, partial) else work)
    assert (hints["message"], hints["return"]) == ACTIVITIES[name]


def test_every_activity_has_a_queue() -> None:
    """And only reflect has two: rules do not wait behind a model."""
    queues = [policies.SESSION_ACTIVITIES, policies.STORE_ACTIVITIES, policies.LLM_ACTIVITIES, policies.UPKEEP_ACTIVITIES]
    queues.append(policies.REINDEX_ACTIVITIES)
    assert frozenset().union(*queues) == set(ACTIVITIES)
    assert [name for name in ACTIVITIES if sum(name in queue for queue in queues) > 1] == ["reflect"]


def _messages(of: type[Message] = Message) -> Iterator[type[Message]]:
    for message in of.__subclasses__():
        if message.__module__.startswith("workflows."):
            yield message
        yield from _messages(message)


def test_new_fields_have_defaults_and_unknown_ones_are_passed_over() -> None:
    """An older worker reads a newer history, and the oldest state can be loaded."""
    oldest = (
        '{"turn_count":3,"last_seq":3,"closed_seq":0,"episodes":0,"last_turn_at":"2026-01-05T10:00:00Z","seen_updates":["a"],"later":1}'
    )
    state = SessionState.model_validate_json(oldest)
    assert (state.turn_count, state.to_start, state.closing) == (3, (), False)
    assert SessionInput(handle="h", tenant_hash="t", space_hash="s").state == SessionState()


def test_no_message_has_room_for_words_of_a_caller() -> None:
    """Strings on the wire are ids and hashes of ours, codes and our own sentences; a new text field has to be weighed here."""
    known = {
        "handle", "tenant_hash", "space_hash", "queue_prefix", "update_id", "reflection_id", "skip_code", "reflector", "outcome",
        "erasure_id", "after_session", "after_reflection", "sessions", "reflections",
        "fallback_from", "fallback_cause", "due_note", "status", "step", "cause", "detail", "seen_updates", "to_start", "reflection_ids",
        "changed", "failed", "began",
    }  # fmt: skip
    found = {name for message in _messages() for name, field in message.model_fields.items() if "str" in str(field.annotation)}
    assert found == known


def test_the_sandbox_passes_through_what_is_named_and_no_workflow() -> None:
    """Passing a workflow's module through would switch off the guards against clocks and random numbers in it."""
    passed = sandbox().restrictions.passthrough_modules
    assert set(PASSED_THROUGH) <= passed
    assert "workflows" not in passed
    assert not {cls.__module__ for cls in WORKFLOWS} & passed
    assert {name for name in passed if name.startswith(("workflows", "hindwise", "activities", "api"))} == set(PASSED_THROUGH)
