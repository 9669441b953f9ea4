"""How much is read for one page of a list: no more than it takes, however many rows are of one instant."""

from datetime import UTC, datetime, timedelta

import pytest

from api.paging import decode, page
from hindwise.ledger.newest_first import Place

START = datetime(2026, 5, 1, tzinfo=UTC)


def read_whole(rows: list[Place], limit: int) -> list[int]:
    """Read all pages one after the other; return how many rows each question asked for."""
    newest_first = sorted(sorted(rows, key=lambda row: row.id), key=lambda row: row.at, reverse=True)
    asked: list[int] = []

    def fetch(after: Place | None, most: int) -> list[Place]:
        asked.append(most)
        return newest_first[newest_first.index(after) + 1 if after else 0 :][:most]

    told, following = page(fetch, lambda row: row, None, limit)
    while following:
        some, following = page(fetch, lambda row: row, decode(following), limit)
        told += some
    assert told == newest_first
    return asked


def test_each_page_of_rows_of_different_instants_is_one_question() -> None:
    rows = [Place(START + timedelta(seconds=n), f"id-{n:02}") for n in range(40)]
    assert read_whole(rows, 10) == [11, 11, 11, 11]


@pytest.mark.parametrize("limit", [1, 7, 40])
def test_so_is_each_page_of_rows_of_one_instant(limit: int) -> None:
    rows = [Place(START, f"id-{n:02}") for n in range(40)]
    assert read_whole(rows, limit) == [limit + 1] * -(-len(rows) // limit)
