"""The environment's verdict names calls and arguments, and never a value."""

import json
from typing import Any

from examples.airline.vendor import calls_named
from examples.airline.verdict import verdict_note


def transcript(*calls: tuple[str, dict[str, Any], str]) -> list[dict[str, Any]]:
    """Messages with one call each: (name, arguments, the tool's answer)."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "please"}]
    for number, (name, arguments, answer) in enumerate(calls):
        call = {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "name": name, "tool_call_id": f"c{number}", "content": answer})
    return messages


def action(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def test_a_call_that_was_never_made_is_missing() -> None:
    assert verdict_note(transcript(), [action("cancel_reservation", reservation_id="ABC123")]) == "missing: cancel_reservation"


def test_a_call_that_nobody_expected_is_extra() -> None:
    assert verdict_note(transcript(("cancel_reservation", {"reservation_id": "ABC123"}, "{}")), []) == "extra: cancel_reservation"


def test_a_call_with_another_value_names_the_argument_alone() -> None:
    made = transcript(("update_reservation_flights", {"reservation_id": "ABC123", "cabin": "business"}, "{}"))
    note = verdict_note(made, [action("update_reservation_flights", reservation_id="ABC123", cabin="economy")])
    assert note == "other arguments: update_reservation_flights(cabin)"


def test_calls_that_read_or_hand_over_are_no_part_of_the_verdict() -> None:
    made = transcript(("get_user_details", {"user_id": "u"}, "{}"), ("transfer_to_human_agents", {"summary": "s"}, "ok"))
    assert verdict_note(made, [action("get_reservation_details", reservation_id="X"), action("calculate", expression="1")]) == ""


def test_a_call_that_ended_in_an_error_was_not_made() -> None:
    made = transcript(("book_reservation", {"user_id": "u"}, "Error: not enough seats"))
    assert verdict_note(made, [action("book_reservation", user_id="u")]) == "missing: book_reservation"


def test_answers_find_their_calls_when_ids_repeat() -> None:
    made = transcript(("book_reservation", {"user_id": "u"}, "Error: no"), ("cancel_reservation", {"reservation_id": "R"}, "{}"))
    for message in made:
        if "tool_call_id" in message:
            message["tool_call_id"] = "same"
        for call in message.get("tool_calls", ()):
            call["id"] = "same"
    assert verdict_note(made, []) == "extra: cancel_reservation"


def test_of_several_wrong_calls_the_most_alike_are_paired() -> None:
    made = transcript(("send_certificate", {"user_id": "a", "amount": 1}, "{}"), ("send_certificate", {"user_id": "b", "amount": 2}, "{}"))
    note = verdict_note(made, [action("send_certificate", user_id="b", amount=3)])
    assert note == "extra: send_certificate; other arguments: send_certificate(amount)"


def test_the_calls_of_a_verdict_are_read_back_each_once() -> None:
    note = "missing: cancel_reservation, book_reservation; extra: send_certificate; other arguments: book_reservation(user_id, cabin)"
    assert calls_named(note) == ["cancel_reservation", "book_reservation", "send_certificate"]
    assert calls_named("") == []
