"""The coarse copy of decay: never below the exact value, and 1 while new."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindwise.lifecycle.freshness import BANDS, band_of


@pytest.mark.parametrize(
    ("decay", "band"), [(1.0, 1.0), (0.76, 1.0), (0.75, 0.75), (0.51, 0.75), (0.5, 0.5), (0.26, 0.5), (0.11, 0.25), (0.1, 0.1), (0.0, 0.1)]
)
def test_a_decay_has_its_band(decay: float, band: float) -> None:
    """The smallest band that is not below it."""
    assert band_of(decay) == band


@given(st.floats(0, 1), st.floats(0, 1))
def test_bands_never_rise_as_decay_falls(one: float, other: float) -> None:
    """Order is kept, and every band is one of the five."""
    low, high = sorted((one, other))
    assert band_of(low) <= band_of(high)
    assert {band_of(low), band_of(high)} <= set(BANDS)
    assert band_of(high) >= high
