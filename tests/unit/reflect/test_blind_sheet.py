"""The blind sheet: its lessons come from other runs than their openings, and its answers are scored as it says."""

from pathlib import Path

import pytest

from bench.reflection.blind_score import Key, Row, chance_of, is_concrete, score
from bench.reflection.usefulness import FOLDER

ROWS = tuple(
    Row(lesson=f"L{n:02}", opening=letter, source=f"run-{n}-0", opening_of=f"run-{n}-1", lesson_words=words, opening_words=begun)
    for n, letter, words, begun in (
        (1, "B", "When asked to cancel, check that cancel_reservation is allowed first", "I need to cancel my flight"),
        (2, "A", "When asked about bags, also call add_baggage", "How many suitcases may I take?"),
    )
)
KEY = Key(rows=ROWS, lessons=9, qualified=4, tasks=3)


@pytest.mark.parametrize(
    ("words", "concrete"),
    [
        ("Check the cancellation rules for the fare before calling cancel_reservation.", True),
        ("Look up the reservation and refuse to cancel it unless the customer is insured.", True),
        ("Be careful when you cancel.", False),
        ("Be more careful and pay attention next time with this customer.", False),
        ("The agent should do better in such a case.", False),
        ("", False),
    ],
)
def test_an_answer_counts_only_where_it_names_something_to_do(words: str, concrete: bool) -> None:
    assert is_concrete(words, ROWS[0]) is concrete


def test_pairs_are_counted_and_what_is_missing_is_wrong() -> None:
    said = {"answers": [{"lesson": "l01", "opening": " b ", "do_differently": "Check the rules before you cancel the reservation."}]}
    result = score(KEY, said, reader="a test")
    assert (result["pairs"], result["right"], result["concrete"], result["both"]) == (2, 1, 1, 1)
    assert [row["right"] for row in result["rows"]] == [True, False]


def test_a_random_pairing_is_as_likely_as_counting_says() -> None:
    assert chance_of(3, 3) == pytest.approx(1 / 6)
    assert chance_of(3, 1) == pytest.approx(4 / 6)
    assert chance_of(20, 14) < 1e-9


def test_words_in_common_alone_pair_what_shares_rare_words() -> None:
    assert KEY.by_words() >= 1


def test_no_lesson_of_the_sheet_comes_from_the_run_that_its_opening_begins() -> None:
    key = Key.model_validate_json((FOLDER / "key.json").read_text(encoding="utf-8"))
    assert len(key.rows) == len({row.opening for row in key.rows}) == 20
    assert all(row.source != row.opening_of and row.source.split("-")[1] == row.opening_of.split("-")[1] for row in key.rows)


def test_the_sheet_does_not_tell_its_key() -> None:
    text = Path(FOLDER / "sheet.md").read_text(encoding="utf-8")
    key = Key.model_validate_json((FOLDER / "key.json").read_text(encoding="utf-8"))
    assert not any(name in text for row in key.rows for name in (row.source, row.opening_of))
    assert [row.opening for row in key.rows] != sorted(row.opening for row in key.rows)
