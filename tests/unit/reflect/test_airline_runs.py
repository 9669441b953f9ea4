"""What rules make of 100 real runs, and the verdict that half of them come with."""

import pytest

from bench.reflection.airline import figures, reflect_all, runs
from examples.airline.verdict import verdict_note
from hindwise.reflect.verdict import verdict_of
from tests.data import eval_data


def _message(name: str, arguments: str, answer: str = "ok") -> list[dict]:
    call = {"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "name": name, "content": answer, "tool_call_id": "c"},
    ]


def test_the_verdict_names_calls_and_arguments_but_no_value() -> None:
    messages = [
        *_message("get_user_details", '{"user_id": "u"}'),
        *_message("update_reservation_flights", '{"reservation_id": "R1", "payment_id": "gift_1"}'),
        *_message("book_reservation", '{"user_id": "u"}'),
        *_message("cancel_reservation", '{"reservation_id": "R2"}', "Error: no such reservation"),
    ]
    expected = [
        {"name": "update_reservation_flights", "arguments": {"reservation_id": "R1", "payment_id": "card_2"}},
        {"name": "cancel_reservation", "arguments": {"reservation_id": "R2"}},
        {"name": "search_direct_flight", "arguments": {}},
    ]
    note = verdict_note(messages, expected)
    assert note == "missing: cancel_reservation; extra: book_reservation; other arguments: update_reservation_flights(payment_id)"
    assert verdict_of(note).other == (("update_reservation_flights", ("payment_id",)),)


def test_equal_calls_leave_no_note() -> None:
    assert (
        verdict_note(
            _message("cancel_reservation", '{"reservation_id": "R"}'),
            [{"name": "cancel_reservation", "arguments": {"reservation_id": "R"}}],
        )
        == ""
    )


@pytest.mark.eval_data
def test_lessons_from_real_runs_are_grounded_specific_and_name_nobody() -> None:
    told = figures(list(reflect_all(runs(eval_data("tau_airline.jsonl")))))
    assert told["runs"] == 100
    assert told["drafts that pass every validator"] == 1
    assert told["drafts whose quotes are found"] == 1
    assert told["lessons with personal data"] == 0
    assert told["generic lines (same text in more than 3 runs)"] <= 0.05
    assert told["failed runs with a specific lesson (with verdict)"] == 1
    assert told["failed runs with a specific lesson"] >= 0.7
    assert told["failed runs with cause not visible"] <= 0.35
