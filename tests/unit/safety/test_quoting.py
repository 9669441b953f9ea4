"""A shared lesson repeats no run of its user's words; short phrases that name a task stay."""

import pytest

from hindwise.safety.quoting import unquoted, without_quotes
from tests.build import make_draft, make_evidence

SAID = [
    "I'm having some issues with money and need to downgrade all my flights, it's not possible for me to pay.",
    "I'd like to book a flight from New York to Seattle on May 20th for my daughter",
    "请帮我提交北京出差的交通费报销单，我这个月的工资还没有发下来所以很着急",
]


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ("having some issues with money and need to downgrade all my flights", "issues money need downgrade flights"),
        ("book a flight from New York to Seattle on May 20th", "book flight New York Seattle May 20th"),
        ("downgrade all flights; it's not possible for me", "downgrade all flights; it's not possible for me"),
        ("When asked to book a flight, first check the payment", "When asked to book a flight, first check the payment"),
        ("提交北京出差的交通费报销单", "提交北京出差交通费报销单"),
        ("当需要报销时，应先核对发票抬头", "当需要报销时，应先核对发票抬头"),
        ("", ""),
    ],
)
def test_function_words_of_a_quote_go_and_its_subject_stays(told: str, kept: str) -> None:
    assert without_quotes([told], SAID) == [kept]


@pytest.mark.parametrize(
    "told",
    [
        "alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima",
        "这个月工资没发下来着急北京出差交通费报销单提交完成",
    ],
)
def test_a_run_without_function_words_is_cut(told: str) -> None:
    (kept,) = without_quotes([told], [told])
    assert 0 < len(kept) <= len(told) / 2 + 4
    assert without_quotes([kept], [told]) == [kept]


def test_negations_survive_because_their_loss_would_turn_the_meaning() -> None:
    said = "you must not cancel the flight before the refund of the old one was booked"
    assert without_quotes([said], [said]) == ["not cancel flight before refund old one booked"]


def test_every_field_of_a_draft_is_read_and_its_evidence_is_left() -> None:
    evidence = make_evidence("e1", SAID[1])
    draft = make_draft(
        "When asked to book, check the payment",
        kind="lesson",
        generalized_query=SAID[0],
        applies_when=SAID[1],
        retrospective={"goal": SAID[1], "next_time": "check the payment first"},
        evidence=(evidence,),
    )
    clean = unquoted(draft, SAID)
    assert clean.conclusion == draft.conclusion
    assert clean.retrospective.next_time == "check the payment first"
    assert clean.retrospective.goal == clean.applies_when != SAID[1]
    assert "having some issues" not in clean.generalized_query
    assert clean.evidence == (evidence,)


def test_what_nobody_said_is_unchanged() -> None:
    draft = make_draft("When asked to book, check the payment", kind="lesson", generalized_query=SAID[0])
    assert unquoted(draft, []) == draft
    assert unquoted(draft, ["something else entirely"]) == draft


def test_a_long_transcript_is_read_once() -> None:
    """Megabytes of talk cost no more than reading them: 200,000 words, well under the time of a step."""
    said = ["word " * 100_000, "wort " * 100_000, SAID[1]]
    assert without_quotes([SAID[1]], said) != [SAID[1]]
