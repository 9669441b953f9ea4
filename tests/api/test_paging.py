"""How much is read for one page of a list: no more than it takes, and more only where many rows are of one instant."""

from datetime import UTC, datetime, timedelta

import pytest

from api.paging import decode, page

START = datetime(2026, 5, 1, tzinfo=UTC)
Row = tuple[datetime, str]


def read_whole(rows: list[Row], limit: int) -> tuple[list[Row], list[int]]:
    """All pages one after the other, and how many rows each question asked for."""
    newest_first = sorted(sorted(rows, key=lambda row: row[1]), key=lambda row: row[0], reverse=True)
    asked: list[int] = []

    def fetch(before: datetime | None, most: int) -> list[Row]:
        asked.append(most)
        return [row for row in newest_first if before is None or row[0] < before][:most]

    told, following = page(fetch, lambda row: row, None, limit)
    while following:
        some, following = page(fetch, lambda row: row, decode(following), limit)
        told += some
    assert told == newest_first
    return told, asked


def test_each_page_of_rows_of_different_instants_is_one_question() -> None:
    rows = [(START + timedelta(seconds=n), f"id-{n:02}") for n in range(40)]
    assert read_whole(rows, 10)[1] == [11, 12, 12, 12]


@pytest.mark.parametrize("limit", [1, 7, 40])
def test_rows_of_one_instant_are_each_told_once(limit: int) -> None:
    read_whole([(START, f"id-{n:02}") for n in range(40)], limit)
