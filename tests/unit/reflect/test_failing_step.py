"""The step at which a failed run went wrong: the decision, not where it shows; English and Chinese; none where there is no sign."""

import pytest

from bench.reflection import failing_step as bench
from hindwise.model.memory import Kind
from hindwise.model.turn import Turn
from hindwise.reflect.rules import reflect_by_rules
from hindwise.reflect.rules.failing import failing_step
from hindwise.reflect.rules.findings import read
from tests.build import make_call, make_episode, make_outcome, make_turn
from tests.data import eval_data


def _talk(*said: tuple[str, str, str]) -> tuple[Turn, ...]:
    """Turns of (role, speaker, words); a tool's speaker is its name."""
    return tuple(
        make_turn(words, role=role, seq=seq, **({"name": who} if role == "tool" else {"participant": who}))
        for seq, (role, who, words) in enumerate(said, 1)
    )


def _failed(turns: tuple[Turn, ...], note: str = ""):
    return read(make_episode(turns=turns, outcome=make_outcome("failure", note=note)))


@pytest.mark.parametrize(
    ("turns", "seq", "told"),
    [
        (
            _talk(
                ("user", "", "Which vendor earns the least for its rent?"),
                ("assistant", "Planner", "Reader, please load the table."),
                ("assistant", "Reader", "```python\nprint(load('vendors.csv'))\n```"),
                ("tool", "terminal", "exitcode: 1 (execution failed)\nCode output: Traceback (most recent call last):\n"
                 "  File \"a.py\", line 1\nNameError: name 'load' is not defined\n"),
                ("assistant", "Planner", "Then the answer is the bakery."),
            ),
            3,
            "turn 3 (Reader): what it ran failed (NameError: name 'load' is not defined)",
        ),
        (
            _talk(
                ("user", "", "哪家商户的收入租金比最低？"),
                ("assistant", "规划员", "请读取员加载表格。"),
                ("assistant", "读取员", "没有找到文件，假设收入为一万元来计算。"),
                ("assistant", "规划员", "那么答案是面包店。"),
            ),
            3,
            "最可能出错的是第3步（读取员）：未核实就作出假设（“假设”）",
        ),
    ],
)  # fmt: skip
def test_among_agents_the_act_is_named_and_not_where_its_failure_shows(turns, seq, told) -> None:
    run = _failed(turns)
    found = failing_step(run)
    assert found is not None
    assert found.turn.seq == seq
    assert found.told(run) == told


def test_the_call_that_the_verdict_names_comes_before_an_error() -> None:
    turns = (
        make_turn("Please cancel my order", seq=1),
        make_turn("", role="assistant", seq=2, tool_calls=(make_call("cancel_order", id=7),)),
        make_turn("cancelled", role="tool", name="cancel_order", seq=3),
        make_turn("", role="assistant", seq=4, tool_calls=(make_call("send_coupon", to="x"),)),
        make_turn("Error: no coupon left", role="tool", name="send_coupon", seq=5),
    )
    found = failing_step(_failed(turns, "extra: cancel_order"))
    assert found is not None
    assert (found.turn.seq, found.sure) == (2, True)
    assert failing_step(_failed(turns)).turn.seq == 4


def test_the_retrospective_names_the_step() -> None:
    turns = (
        make_turn("Please book a room in Lisbon", seq=1),
        make_turn("", role="assistant", seq=2, tool_calls=(make_call("book_room", night=3),)),
        make_turn("Error: no room left", role="tool", name="book_room", seq=3),
    )
    answer = reflect_by_rules(make_episode(turns=turns, outcome=make_outcome("failure")))
    (event,) = [d for d in answer.drafts if d.kind is Kind.EVENT]
    assert event.retrospective.what_failed_and_why == ("book_room: no room left; turn 2 (book_room): its call failed and was not put right")


def test_a_conversation_without_any_sign_names_no_step() -> None:
    turns = (make_turn("What is the capital of Peru?", seq=1), make_turn("It is Quito.", role="assistant", seq=2))
    assert failing_step(_failed(turns)) is None
    assert failing_step(read(make_episode(turns=turns, outcome=make_outcome("success")))) is None


def test_the_step_is_named_more_often_than_the_last_or_the_first_error_in_marked_runs() -> None:
    """Floors below what was measured (0.70 on the report half); the figures stand in bench/reflection/REPORT.md."""
    eval_data("who_and_when.jsonl")
    near = {(f.part, f.method): f.near / f.runs for f in bench.figures(bench.runs())}
    for part in ("dev half", "report half"):
        assert near[part, "rule reflector"] >= 0.6
        assert near[part, "rule reflector"] > max(near[part, "last step"], near[part, "first error"])
