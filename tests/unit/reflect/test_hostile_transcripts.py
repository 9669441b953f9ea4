"""Any transcript that may be stored can be looked back at: no crash, no runaway."""

import time
from collections.abc import Callable

import pytest

from hindwise.errors import AnswerUnusable
from hindwise.reflect import cues
from hindwise.reflect.llm.json_object import parse_object
from hindwise.reflect.rules import reflect_by_rules
from hindwise.reflect.rules.outcome import read_outcome
from hindwise.reflect.rules.statements import statements_of
from hindwise.reflect.rules.wording import general_error, whole
from hindwise.reflect.rules.worth import is_running
from hindwise.safety.masking import mask_json
from hindwise.safety.personal import find_personal, without_personal
from hindwise.safety.poison import poison_in
from hindwise.text.generalise import generalise
from hindwise.text.task_key import without_briefs
from tests.build import make_call, make_episode, make_outcome, make_turn

_PIECES = [
    *("“", "I like tea. ", "我喜欢喝茶。", ". ", " ", "always ", "[", '{"a":', "Error: ", "以后", "still the same ", "a", "1", "… "),
    *("\u3000", "１", "０", "中 ", "中\n", "，", ",", "1,", "to ", "> a\n"),
]


@pytest.mark.parametrize("piece", _PIECES)
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


@pytest.mark.parametrize("piece", ["to ", "is to ", "to a ", "and ", ",", ", ", "’", "…", "1,", "，", "一"])
def test_a_long_error_is_told_in_bounded_time(piece: str) -> None:
    """Also one whose end decides that what was read so far was no ending: a row of signs splits in as many ways as it is long."""
    before = time.process_time()
    for text in (piece * 8_000, f"No seat{piece * 8_000}x", "No seat is left here today" + (piece * 26)[:60] + "x" * 7_000):
        general_error(text[:8_000], (), "en", trusted=True)
        whole(text, 90)
    assert time.process_time() - before < 2


def test_a_long_error_ends_with_a_whole_word() -> None:
    ids = " ".join(f"order #W{n:07}" for n in range(1_000))
    assert general_error(f"cannot ship {ids}", (), "en") == general_error(f"cannot ship {ids[:200]}", (), "en")
    assert general_error("the seat is taken " + "very " * 200 + "early", (), "en") == general_error(
        "the seat is taken " + "very " * 40, (), "en"
    )


@pytest.mark.parametrize(
    "read",
    [
        lambda: find_personal("Tell Abc that abc is well", names=(f"abc{'-' * 250}!",)),
        lambda: cues.is_standing(f"{'一' * 20_000}以上"),
        lambda: without_personal(f"Tell them{chr(0x3000) * 20_000}x"),
        lambda: poison_in(f"中{'1,' * 30_000}"),
        lambda: [generalise(f"a {piece * 10_000}x") for piece in (" ", ",", "1", "１", "1,", "一二")],
        lambda: [generalise(piece * 10_000) for piece in ("1", "1,", "a-", "-")],
        lambda: without_briefs(f"Book it{' ' * 60_000}###STOP"),
        lambda: is_running(f"of 3 / {'1' * 60_000}"),
        lambda: [list(statements_of(f"请订{piece * 30_000}x，我对花生过敏。")) for piece in "1吧 "],
    ],
    ids=["user-id", "standing", "blanks", "planted", "task", "named", "simulated", "share", "asked"],
)
def test_one_long_row_of_signs_is_read_in_bounded_time(read: Callable[[], object]) -> None:
    before = time.process_time()
    read()
    assert time.process_time() - before < 2


def test_an_answer_of_many_brackets_is_refused_in_bounded_time() -> None:
    before = time.process_time()
    for answer in ("<" * 40_000, "x<think>" * 5_000, "</" * 20_000, "<think>" * 8_000 + "</think", "{" + "“" * 20_000 + "x"):
        with pytest.raises(AnswerUnusable):
            parse_object(answer)
    assert time.process_time() - before < 2


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
