"""The clock of tests stands until it is moved."""

from datetime import UTC, datetime, timedelta

from hindwise.testing import FixedClock


def test_the_clock_stands_until_it_is_moved():
    clock = FixedClock()
    assert clock.now() == clock.now() == datetime(2026, 5, 1, 9, tzinfo=UTC)
    assert clock.advance(days=2) == clock.now() == datetime(2026, 5, 3, 9, tzinfo=UTC)
    assert clock.advance(timedelta(seconds=-1)) == datetime(2026, 5, 3, 8, 59, 59, tzinfo=UTC)
