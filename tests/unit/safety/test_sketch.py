"""What another user's episode may show: the shape of the work, none of its words."""

import json

import pytest

from hindwise.model.turn import ToolCall
from hindwise.reflect.base import Known
from hindwise.reflect.rules import reflect_by_rules
from hindwise.safety.sketch import for_reader, sketch
from tests.build import make_call, make_episode, make_outcome, make_turn

SECRET = "Marisol Ferreira"


def _episode(**fields: object):  # type: ignore[no-untyped-def]
    turns = (
        make_turn(f"I am {SECRET}, change my train", seq=1, turn_id=f"{SECRET}-1", participant=SECRET),
        make_turn(
            f"Yes, {SECRET}",
            role="assistant",
            seq=2,
            tool_calls=(ToolCall(id=SECRET, name="change_train", arguments={"name": SECRET, "deep": {SECRET: SECRET}, "count": 3}),),
        ),
        make_turn(f"Error: no train for {SECRET}", role="tool", seq=3, name="change_train", tool_call_id=SECRET),
        make_turn(f"booked for {SECRET}", role="tool", seq=4, name="change_train"),
        make_turn("", role="assistant", seq=5, tool_calls=(ToolCall(name="note", arguments=f"not json {SECRET}"),)),
    )
    given = {
        "turns": turns,
        "goal": f"change the train of {SECRET}",
        "user_id": SECRET,
        "agent_id": "travel",
        "session_id": f"s-{SECRET}",
        "inputs": {"customer": SECRET},
        "outcome": make_outcome("failure", score=0.2, note=f"wrong for {SECRET}", artifacts=(SECRET,)),
    }
    return make_episode(f"run-{SECRET}", **{**given, **fields})


def test_no_word_and_no_value_of_the_other_user_is_left() -> None:
    """Looked for in the whole of it."""
    assert SECRET in _episode().model_dump_json()
    assert SECRET not in sketch(_episode()).model_dump_json()


def test_the_shape_is_left() -> None:
    """Who acted, which tools with which argument names, what worked, and the verdict."""
    drawn = sketch(_episode())
    assert [turn.role for turn in drawn.turns] == ["user", "assistant", "tool", "tool", "assistant"]
    assert [turn.content for turn in drawn.turns] == ["", "", "ERROR", "ok", ""]
    assert drawn.turns[1].tool_calls[0].name == "change_train"
    assert drawn.turns[1].tool_calls[0].arguments == {"name": "", "deep": "", "count": ""}
    assert drawn.turns[4].tool_calls[0].arguments == {}
    assert (drawn.outcome.status, drawn.outcome.score, drawn.agent_id) == ("failure", 0.2, "travel")
    assert drawn.id == _episode().id


@pytest.mark.parametrize(
    ("text", "told"), [("错误：没有这趟车", "ERROR"), ("已改签", "ok"), ('{"error": "none left"}', "ERROR"), ("", "ok")]
)
def test_errors_are_told_from_answers_in_both_languages(text: str, told: str) -> None:
    """By the same reading as the rules use."""
    drawn = sketch(_episode(turns=(make_turn(text, role="tool", seq=1, name="t"),)))
    assert drawn.turns[0].content == told


def test_the_owner_reads_everything() -> None:
    """And nobody else."""
    episode = _episode()
    assert for_reader(episode, SECRET) == episode
    assert for_reader(episode, "another") == sketch(episode)


def test_rules_contrast_with_a_sketch_and_quote_nothing_of_it() -> None:
    """The other way to do it is still seen in the shape."""
    worked = _episode(outcome=make_outcome("success"))
    own = make_episode(
        "mine",
        user_id="u2",
        agent_id="travel",
        goal="change a train",
        outcome=make_outcome("failure"),
        turns=(
            make_turn("change my train", seq=1),
            make_turn("", role="assistant", seq=2, tool_calls=(make_call("change_train", name="x"),)),
            make_turn("Error: payment required", role="tool", seq=3, name="change_train"),
        ),
    )
    answer = reflect_by_rules(own, Known(earlier=(sketch(worked),)))
    assert answer.drafts
    assert SECRET not in json.dumps([draft.model_dump(mode="json") for draft in answer.drafts])
