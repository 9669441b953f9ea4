"""What is told of one deadline meets in one slot, so that the day told last holds; two things never meet. English and Chinese."""

import time

import pytest

from hindwise.model.memory import Draft, Kind
from hindwise.reflect.rules.deadlines import deadline_of
from hindwise.reflect.rules.statements import classify_statement, kind_of
from hindwise.resolve.slots import same_value, slot_key


def _told(said: str) -> tuple[Draft, str | None]:
    draft = classify_statement(said)
    return draft, slot_key(draft)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The report is due Friday.", "The report is due Monday now."),
        ("Remember that the report is due on Friday", "Actually, the report deadline has been moved to Monday."),
        ("The deadline for the grant proposal is May 31.", "The deadline for the grant proposal is now June 5."),
        ("My thesis is due on June 5.", "My thesis is due on 12 June instead."),
        ("Our sales report is due Friday at noon", "The sales report is due Friday at 5 pm."),
        ("报告周五交。", "报告改到周一交。"),
        ("请记住报告周五交", "报告的截止日期改到下周一了。"),
        ("论文的截止日期是6月5日。", "论文推迟到6月12日提交。"),
        ("标书截止时间是周五。", "对了，标书截止时间改成下周一。"),
        ("财务报告周五要交。", "财务报告改成周一交了。"),
        ("合同年底到期。", "合同明年底到期。"),
        ("The report is due Friday.", "报告改到周一交。"),
        ("报告周五交。", "The report is due Monday now."),
    ],
)
def test_the_day_told_last_closes_the_one_before(before: str, after: str) -> None:
    (old, key), (new, other) = _told(before), _told(after)
    assert old.kind == new.kind == Kind.FACT
    assert key == other
    assert old.scope == new.scope == ""
    assert not same_value(old, new)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The report is due Friday.", "Remember: the report is due on Friday"),
        ("报告周五交。", "报告的截止日期是周五。"),
        ("The report is due Friday.", "报告周五交。"),
    ],
)
def test_the_same_day_in_other_words_agrees(one: str, other: str) -> None:
    (first, key), (second, its) = _told(one), _told(other)
    assert key == its and same_value(first, second)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The sales report is due Friday.", "The budget report is due Monday now."),
        ("The report is due Friday.", "The quarterly report is due Monday now."),
        ("The report is due Friday.", "The report for Bern is due Monday."),
        ("The deadline for the tax return is May 31.", "The deadline for the visa is June 5."),
        ("周报周五交。", "月报改到周一交。"),
        ("报告周五交。", "财务报告改到周一交。"),
        ("论文周五交。", "论文的提纲周一交。"),
    ],
)
def test_two_things_that_are_due_both_stay(one: str, other: str) -> None:
    assert _told(one)[1] != _told(other)[1]


@pytest.mark.parametrize(
    "said",
    [
        "The report is due Friday, the slides on Monday.",
        "The report and the slides are due Friday.",
        "The report is not due Friday.",
        "Is the report due Friday?",
        "The report was due Friday.",
        "The rent is due every Friday.",
        "The money is due to Bob.",
        "The delay is due to Friday's storm.",
        "The meeting is on Friday.",
        "It is due Friday.",
        "The first is due Friday.",
        "The other one is due Friday.",
        "我们周五交。",
        "大家的周五交。",
        "今天的作业周五交。",
        "可以周五交。",
        "报告不用周五交。",
        "报告周五没交。",
        "报告周五交吗？",
        "报告和幻灯片周五交。",
        "把报告周五交给我。",
        "会议改到周一。",
        "房租每月5号交。",
        "报告的截止日期是什么时候",
    ],
)
def test_what_tells_more_or_something_else_has_no_deadline(said: str) -> None:
    assert deadline_of(said) is None


def test_a_day_is_no_order_and_is_remembered_only_where_that_is_asked_for() -> None:
    assert [kind_of(said) for said in ("Remember that the report is due Friday.", "请记住报告周五交。")] == [Kind.FACT, Kind.FACT]
    assert [kind_of(said) for said in ("The report is due Monday now.", "报告改到周一交。")] == [None, None]


@pytest.mark.parametrize("piece", ["the ", "the a ", "a-", "due ", "报告", "改到", "周五", " ", "remember ", "1月"])
def test_repetition_is_read_in_bounded_time(piece: str) -> None:
    before = time.process_time()
    for lead in ("", "the ", "the deadline for ", "报告"):
        for n in range(150, 200):
            deadline_of((lead + piece * 100)[:n])
    assert time.process_time() - before < 2
