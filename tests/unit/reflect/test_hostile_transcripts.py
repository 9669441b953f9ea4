"""Any transcript that may be stored can be looked back at: no crash, no runaway."""

import time

import pytest

from hindwise.reflect.rules import reflect_by_rules
from hindwise.reflect.rules.outcome import read_outcome
from hindwise.safety.masking import mask_json
from tests.build import make_call, make_episode, make_outcome, make_turn


@pytest.mark.parametrize(
    "piece", ["“", "I like tea. ", "我喜欢喝茶。", ". ", " ", "always ", "[", '{"a":', "Error: ", "以后", "still the same ", "a", "1", "… "]
)
def test_repetition_is_read_in_bounded_time(piece: str) -> None:
    """CPU time with much room; a quadratic pattern would take minutes."""
    text = piece * (131_072 // len(piece))
    turns = (
        make_turn(text, seq=1),
        make_turn(text, role="tool", name="x", seq=2),
        make_turn(text, role="assistant", seq=3),
        make_turn(text, seq=4),
    )
    before = time.process_time()
    reflect_by_rules(make_episode(turns=turns, outcome=make_outcome("failure", note=text[:8_000])))
    read_outcome(turns)
    assert time.process_time() - before < 30


def test_thousands_of_calls_are_read_in_bounded_time() -> None:
    turns = [make_turn("Please book it all for me")]
    for n in range(2_000):
        turns.append(make_turn("", role="assistant", seq=2 * n + 2, tool_calls=(make_call("book", n=n % 50),)))
        turns.append(make_turn("Error: no seat" if n % 3 else "ok", role="tool", name="book", seq=2 * n + 3))
    before = time.process_time()
    assert reflect_by_rules(make_episode(turns=tuple(turns), outcome=make_outcome("failure"))).drafts
    assert time.process_time() - before < 30


def test_deeply_nested_json_is_masked_too() -> None:
    value: object = "sk-abc123def456"
    for _ in range(300):
        value = {"a": [value]}
    assert "sk-abc" not in str(mask_json(value))
