"""Entities: the particular things a text names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindwise.text.entities import MAX_ENTITIES, entities


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Cancel reservation XEHM4B for Mia Li", {"xehm4b", "mia li"}),
        ("The flight on 2026-05-01 costs $1,200", {"2026-05-01", "$1,200"}),
        ("Mail omar@example.com about https://example.com/a?b=1", {"omar@example.com", "https://example.com/a?b=1"}),
        ("call get_user_details for user_3668", {"get_user_details", "user_3668"}),
        ("用户李娜的订单 #12345 在2026年5月1日", {"李娜", "#12345", "2026年5月1日"}),
        ("张伟先生喜欢《三体》", {"张伟先生", "三体"}),
        ("nothing particular here", set()),
        ("", set()),
    ],
)
def test_ids_dates_amounts_addresses_and_names_are_found(text, expected):
    assert set(entities(text)) == expected


def test_entities_come_in_order_once_and_bounded():
    text = "B22 A11 B22 " + " ".join(f"X{i}Y" for i in range(100))
    assert entities(text)[:2] == ("b22", "a11")
    assert len(entities(text)) == MAX_ENTITIES


@given(st.text(st.characters(exclude_categories=()), max_size=200))
def test_any_text_gives_the_same_short_entities(text):
    found = entities(text)
    assert found == entities(text)
    assert len(found) == len(set(found)) <= MAX_ENTITIES
    assert all(0 < len(name) <= 80 for name in found)
